"""Contradictions: what a tool returned against what was said, and two sources that a user sets against each other."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from clew.context.assertions.assertion import Assertion
from clew.context.assertions.referring import STATEMENT_MAX_WORDS, from_assistant, subject_of
from clew.context.assertions.values import Value, same, values
from clew.context.compaction.instructions import key_words
from clew.context.intent.between_us import is_between_us
from clew.context.speech import Sentence, Turn, mood_of, sentences

TOOL_LINES_MAX: Final = 200
TOOL_MAX_CHARS: Final = 20_000
SHARED_WORDS_SHARE: Final = 0.6

# "The number of replicas" is about replicas.
_MEASURES: Final = frozenset(
    stem for word in ("number", "count", "amount", "value", "total") for stem in key_words(word)
)
_SAYS: Final = (
    r"(?:says?|said|shows?|showed|lists?|listed|states?|stated|returned|returns|reports?|reported|gives?|reads?"
    r"|claims?|has)"
)
_TWO_SOURCES: Final = re.compile(
    rf"^(?P<one>.+? {_SAYS} .+?),? (?:but|while|whereas|and yet|yet|although|however) (?P<two>.+? {_SAYS} .+)$"
)
# "The registry says 1998, the brochure says 2001".
_SIDE_BY_SIDE: Final = re.compile(
    rf"^(?:the|our|my|his|her|their|its|your) [^,]+? {_SAYS} [^,]+, (?:the|our|my|his|her|their|its|your)"
    rf" [^,]+? {_SAYS} [^,]+$",
    re.IGNORECASE,
)
_CONFLICTS: Final = re.compile(
    r"\b(?:contradicts?|contradicting|conflicts? with|conflicting with|(?:does|do|did) not (?:match|agree with"
    r"|tally|line up)|inconsistent with|differs? from|disagrees? with|mismatch(?:es)?|at odds with"
    r"|discrepancy|(?<=\w )contrary to what)\b"
)


def sources_disagree(sentence: Sentence) -> bool:
    """Whether the sentence reports that two sources say different things."""
    if sentence.asks or "you" in sentence.plain_words[:1] or is_between_us(sentence):
        return False
    plain = sentence.plain
    if _CONFLICTS.search(plain):
        return mood_of(sentence) == "statement"
    found = _TWO_SOURCES.match(plain) or _SIDE_BY_SIDE.match(sentence.said)
    return found is not None and mood_of(sentence) == "statement"


def found_by_tool(text: str, history: Sequence[Turn]) -> Assertion | None:
    """The first value in a tool's result that differs from what was said of the same thing."""
    for line in _lines(text[:TOOL_MAX_CHARS]):
        if not values(f"- {line}"):
            continue
        for turn in reversed(history):
            if turn.role not in ("assistant", "user"):
                continue
            for statement in sentences(turn.text):
                if statement.asks or not 0 < len(statement.words) <= STATEMENT_MAX_WORDS:
                    continue
                if (made := _against(line, statement)) is not None:
                    content, old = made
                    told = from_assistant(content) if turn.role == "assistant" else content
                    return Assertion("contradiction", f"{told}.", subject_of(statement), old)
    return None


def _against(line: str, statement: Sentence) -> tuple[str, str] | None:
    said = statement.said.rstrip(" .!")
    ours, theirs = values(f"- {said}"), values(f"- {line}")
    for new in theirs:
        for old in ours:
            if new.kind == old.kind and not any(same(old.text, one.text) for one in theirs):
                if any(same(new.text, one.text) for one in ours) or not _same_topic(line, said, new, old):
                    continue
                start, end = old.start - 2, old.end - 2
                return said[:start] + new.text + said[end:], old.text
    return None


def _same_topic(line: str, said: str, new: Value, old: Value) -> bool:
    """Whether most of what the statement says beside its value is in the line too."""
    theirs = set(key_words(line)) - set(key_words(new.text))
    ours = set(key_words(said)) - set(key_words(old.text)) - _MEASURES
    return bool(ours) and len(ours & theirs) >= max(1, len(ours) * SHARED_WORDS_SHARE)


def _lines(text: str) -> Iterator[str]:
    """The lines of a result, or the objects of a JSON one, each as words."""
    parsed = _parsed(text)
    if parsed is None:
        yield from [line for line in re.split(r"\n+|(?<=[.!?])\s+", text) if line.strip()][:TOOL_LINES_MAX]
        return
    stack, count = [parsed], 0
    while stack and count < TOOL_LINES_MAX:
        top = stack.pop(0)
        inner = list(top.values()) if isinstance(top, dict) else top if isinstance(top, list) else []
        stack += [one for one in inner if isinstance(one, dict | list)]
        if isinstance(top, dict):
            plain = {key: one for key, one in top.items() if not isinstance(one, dict | list)}
            yield " ".join(f"{str(key).replace('_', ' ')} {one}" for key, one in plain.items())
            count += 1


def _parsed(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
