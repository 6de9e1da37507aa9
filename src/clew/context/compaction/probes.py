"""Probes: the details that a summary must not lose, taken from what was said."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from clew.context.compaction.haystack import Haystack
from clew.context.compaction.instructions import instruction_in
from clew.context.compaction.names import names
from clew.context.compaction.sentences import argument_values, said, sentences
from clew.ids import ARTIFACT_ID
from clew.messages import Message

Kind = Literal["number", "date", "path", "id", "url", "name", "instruction"]

# A message with more details than this is a document, and the rest of them one reference away. Without a bound a pasted
# table would need a summary as long as itself.
PROBES_PER_MESSAGE_MAX: Final = 40
# What is longer is data and no detail that anybody would repeat.
DETAIL_MAX_CHARS: Final = 200

_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_UNITS: Final = (
    "%|percent|ms|s|sec|secs|seconds?|min|mins|minutes?|h|hrs?|hours?|days?|weeks?|months?|years?|k|m|bn|kb|mb|gb|tb|kib|"
    "mib|gib|bytes?|tokens?|usd|eur|gbp|chf|dollars?|euros?|kg|g|lbs?|km|cm|mm|miles?|px|hz|khz|mhz|ghz|million|billion|"
    "thousand|x|bar|psi|rpm|kw|kwh|mw|mg|ml|ft|°c|°f|[a-z]{3,}s"
)
# In this order: what an earlier pattern takes, a later one does not see.
_PATTERNS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("url", re.compile(r"\bhttps?://[^\s<>\"'`)\]}]+[^\s<>\"'`)\]}.,;:!?]", re.IGNORECASE)),
    ("id", re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}\b")),
    (
        "path",
        re.compile(
            r"(?<![\w/.:~-])(?:~|\.{1,2})?(?:/[\w.@+-]+){2,}/?"
            r"|(?<![\w/.@+-])(?:[\w.@+-]+/)+[\w@+-]*\.\w{1,8}\b"
            r"|(?<![\w/.-])\w[\w-]*\.(?:py|js|ts|tsx|jsx|json|ya?ml|toml|md|txt|csv|html?|css|sql|sh|rs|go|java|rb|c|h|cpp"
            r"|ipynb|log|png|jpe?g|pdf|xml|cfg|ini|lock|gz|zip)\b"
            r"|\b[A-Za-z]:\\[\w\\.-]+"
        ),
    ),
    (
        "date",
        re.compile(
            rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}/\d{{1,2}}/\d{{2,4}}\b"
            rf"|\b{_MONTH}\.?\s+{_DAY}(?:,?\s+\d{{4}})?\b|\b{_DAY}\s+(?:of\s+)?{_MONTH}\b(?:\s+\d{{4}})?"
            r"|\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b)?|\b\d{1,2}\s?[ap]\.?m\b|\bq[1-4]\b(?:\s+\d{4})?",
            re.IGNORECASE,
        ),
    ),
    (
        "id",
        re.compile(
            r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"
            r"|(?<![\w.-])\d+(?:\.\d+)+[a-z]+\d*\b"
            r"|(?<![\w.-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])(?:[A-Za-z]\w*[_-]\w[\w-]*|[A-Za-z]+\d[A-Za-z0-9]*(?:\.\d+)*"
            r"|\d+[A-Z][A-Z0-9]+"
            r"|\d[A-Z0-9]{5,}|(?=[0-9a-f]*[a-f])[0-9a-f]{7,40})(?![\w-])|#\d{2,}\b"
        ),
    ),
    (
        "number",
        re.compile(
            rf"(?<![\w.,/-])[$€£¥]\s?\d(?:[\d,]*\d)?(?:\.\d+)?(?:\s?(?:k|m|bn|million|billion|thousand)\b)?"
            rf"|(?<![\w.,/-])-?\d(?:[\d,]*\d)?(?:\.\d+)*(?:st|nd|rd|th|[\s-]?(?:{_UNITS})(?![\w])|%)?",
            re.IGNORECASE,
        ),
    ),
)
# "1." and "2)" number a list, and "273:" a line of a file: how a text is set, not what it says.
_NUMBERING: Final = re.compile(r"^[ \t]*(?:\d{1,3}[.)](?=\s)|\d{1,6}:)", re.MULTILINE)
_BARE_DIGIT: Final = re.compile(r"-?\d")
_NOT_UNITS: Final = frozenset(
    """
    is was has as this does its his yes us plus thus always perhaps versus costs holds needs takes makes runs goes gets
    seems looks comes works means says shows starts ends becomes contains includes applies arrives leaves fails passes
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Probe:
    """One detail: its kind, and the words as they were said."""

    kind: Kind
    text: str


def probes(said_by: Iterable[str | Message]) -> tuple[Probe, ...]:
    """The details in texts or messages, each once, in the order in which they were first said.

    Of messages, what user and assistant said counts and so do the arguments of calls; results of tools don't, since
    they are one reference away and most of them is never spoken of again. Texts count as the user's.
    """
    return tuple(dict.fromkeys(probe for item in said_by for probe in probes_of(item)))


def details_of(text: str) -> tuple[Probe, ...]:
    """The details of one text, all of them but instructions: whose words they were is for the caller to know."""
    return tuple(dict.fromkeys(_details(text, text)))


def probes_of(item: str | Message) -> tuple[Probe, ...]:
    """The details of one text or message; all its instructions, and so many of the others as a summary can hold."""
    text, role = (item, "user") if isinstance(item, str) else (said(item), item.role)
    values = [] if isinstance(item, str) else [value for call in item.tool_calls for value in argument_values(call)]
    asked = [instruction_in(sentence) for sentence in sentences(text, role)] if role == "user" else []
    details = dict.fromkeys(_details("\n".join([text, *values]), text))
    kept = list(details)
    if not isinstance(item, str):
        kept = kept[:PROBES_PER_MESSAGE_MAX]
    return (*(Probe("instruction", clause) for clause in asked if clause), *kept)


def kept(probe: Probe, text: str) -> bool:
    """Whether the text still has the detail: the same number and unit, the same day in any spelling, every word of a
    name, an instruction in substance."""
    return haystack(text).has(probe.kind, probe.text)


@lru_cache(maxsize=16)
def haystack(text: str) -> Haystack:
    """A text made ready to be searched many times."""
    return Haystack(text)


def _details(text: str, prose: str) -> Iterator[Probe]:
    """The details in the order of the text; names are looked for in prose only."""
    left = _NUMBERING.sub(lambda found: " " * len(found[0]), text)
    found: list[tuple[int, Probe]] = []
    for kind, pattern in _PATTERNS:
        spans: list[tuple[int, int]] = []
        for match in pattern.finditer(left):
            probe = _probe(kind, match[0])
            if probe is not None:
                found.append((match.start(), probe))
                spans.append(match.span())
        left = _blanked(left, spans)
    found += [(at, Probe("name", name)) for at, name in names(left[: len(prose)])]
    return (probe for _, probe in sorted(found, key=lambda one: one[0]))


def _probe(kind: Kind, text: str) -> Probe | None:
    if kind == "number":
        words = text.split()
        if len(words) > 1 and words[-1].lower() in _NOT_UNITS:
            text = words[0]
        text = text.strip("- ")
        if _BARE_DIGIT.fullmatch(text) or not any(char.isdigit() for char in text):
            return None
    # A summary passes an artifact on among its references, and not as something that was said.
    if len(text) > DETAIL_MAX_CHARS or ARTIFACT_ID.fullmatch(text):
        return None
    if kind == "path":
        text = text.rstrip(".")  # the end of the sentence, not of the name
    return Probe(kind, " ".join(text.split()))


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with the spans overwritten by a mark that no pattern takes, so that places stay what they are."""
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], "\0" * (end - start)]
        at = end
    return "".join([*parts, text[at:]])
