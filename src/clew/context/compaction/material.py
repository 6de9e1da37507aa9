"""What a summary may be made of: the lines that messages and an earlier summary offer, and what each is worth."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from clew.context.compaction.actions import VALUE_MAX_CHARS, actions
from clew.context.compaction.instructions import instruction_in, key_words
from clew.context.compaction.probes import Probe, details_of
from clew.context.compaction.sentences import SENTENCE_MAX_CHARS, Sentence, argument_values, said, sentences
from clew.context.compaction.summary import SECTIONS, Line, Summary
from clew.context.compaction.view import Entry
from clew.tokens import count

# What a line is worth besides the details it carries, in tokens that a reader would give for it.
WORTH: Final = {"instructions": 1_000, "decisions": 30, "topics": 30, "open_questions": 20, "facts": 4, "actions": 4}
# What an earlier summary has said already gives way to what is new, topics and facts before decisions.
WORTH_BEFORE: Final = {"instructions": 1_000, "decisions": 24, "topics": 16, "open_questions": 6, "facts": 2}
# A message that asks for more than this is a document: the rest counts for its details only.
HEADLINES_PER_MESSAGE_MAX: Final = 4

_SETTLED: Final = re.compile(
    r"\b(?:successfully|has been|have been|was (?:\w+ )?(?:updated|changed|fixed|created|removed|added)|booked"
    r"|cancell?ed|confirmed|decided|agreed|chose|resolved|completed|turns out|the (?:cause|problem|bug|issue|fix) "
    r"(?:is|was)|I(?: have|[’']ve)|unable to|cannot|can[’']t|not possible|policy)\b",
    re.IGNORECASE,
)
_AGREED: Final = re.compile(
    r"^(?:yes|yep|yeah|ok|okay|sure|please (?:go|proceed|confirm|book|cancel|use)|let[’']s|go (?:ahead|with)|proceed"
    r"|confirm|i(?:[’']d| would) (?:like|prefer)|i(?:[’']ll| will)|no\b)",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"\b(?:need|want|wants|would like|can you|could you|please|help|why|how|what|which|issue|problem|bug|fix|change"
    r"|cancel|book|find|add|update|check|explain|write|make|fails?|should)\b",
    re.IGNORECASE,
)
_CHATTER: Final = re.compile(
    r"\b(?:thank(?:s| you)|you[’']re welcome|have a (?:great|nice|good)|feel free|let me know|anything else|no worries"
    r"|happy to help|glad|apologi[sz]e|sorry|great day)\b",
    re.IGNORECASE,
)
_WORDS_MIN: Final = 4
# "Yes, please proceed." settles nothing for a reader who does not see what came before.
_WORTH_PER_WORD: Final = 4


@dataclass(frozen=True, slots=True)
class Offer:
    """A line that could be in the summary."""

    section: str
    line: Line
    probes: frozenset[Probe]
    tokens: int
    worth: int


def offers(previous: Summary | None, replaced: Sequence[Entry]) -> list[Offer]:
    """Everything that could be said, oldest first, each text once with all the places it is from."""
    merged: dict[str, tuple[str, str, tuple[int, ...], int]] = {}
    done = actions(previous.decisions if previous else (), replaced)
    taken = {line for line in (previous.decisions if previous else ()) if line not in done.left}
    before = [offer for offer in _before(previous) if offer[1] not in taken]
    acted = [("decisions", line, WORTH["actions"]) for line in done.lines]
    for section, line, most in [*before, *_now(replaced), *acted]:
        worth = min(most, _WORTH_PER_WORD * len(key_words(line.text)))
        known = merged.get(line.text.casefold(), (section, line.text, (), worth))
        places = tuple(sorted({*known[2], *line.positions}))
        best = (section, worth) if worth > known[3] else (known[0], known[3])
        merged[line.text.casefold()] = (best[0], known[1], places, best[1])
    return [_offer(section, Line(text, positions), worth) for section, text, positions, worth in merged.values()]


def _offer(section: str, line: Line, worth: int) -> Offer:
    tokens = count(f"- {line.shown(references=True)}\n")
    return Offer(section, line, frozenset(details_of(line.text)), tokens, worth)


def _before(previous: Summary | None) -> Iterator[tuple[str, Line, int]]:
    if previous is None:
        return
    for sentence in sentences(previous.prose):
        yield "facts", Line(sentence.text), WORTH_BEFORE["facts"]
    for name, _ in SECTIONS:
        if name == "references":
            continue
        # What was open has been spoken about since; if it hasn't, it is still a topic.
        section = "topics" if name == "open_questions" else name
        for line in previous.section(name):
            yield section, line, WORTH_BEFORE[name]


def _now(replaced: Sequence[Entry]) -> Iterator[tuple[str, Line, int]]:
    newest = max((entry.position for entry in replaced if said(entry.message).strip()), default=0)
    first = _first_words(replaced)
    for entry in replaced:
        headlines = 0
        for sentence in _spoken(entry):
            if sentence == first:
                yield "topics", Line(shortened(sentence.text), (sentence.position,)), WORTH["topics"]
            for section, line, worth in _placed(sentence, is_newest=entry.position == newest):
                headlines += section in ("topics", "decisions")
                late = section != "instructions" and headlines > HEADLINES_PER_MESSAGE_MAX
                yield ("facts", line, 0) if late else (section, line, worth)


def _first_words(replaced: Sequence[Entry]) -> Sentence | None:
    """What the user began with, so that a summary says what it is about even where nobody asks for anything."""
    said_by_user = (sentence for entry in replaced if entry.message.role == "user" for sentence in _spoken(entry))
    return next((one for one in said_by_user if one.is_prose and not _is_idle(one) and not instruction_in(one)), None)


def _spoken(entry: Entry) -> Iterator[Sentence]:
    """The sentences of a message, those of long arguments with them: what a model thinks in a call is said too."""
    role = entry.message.role
    yield from sentences(said(entry.message), role, entry.position)
    for call in entry.message.tool_calls:
        for value in argument_values(call):
            if len(value) > VALUE_MAX_CHARS:
                yield from sentences(value, role, entry.position)


def _placed(sentence: Sentence, *, is_newest: bool) -> Iterator[tuple[str, Line, int]]:
    instruction = instruction_in(sentence)
    if instruction is not None:
        yield "instructions", Line(instruction, (sentence.position,)), WORTH["instructions"]
        if instruction == sentence.text:
            return
    section = _section(sentence, is_newest=is_newest)
    if section is not None:
        line = Line(shortened(sentence.text), (sentence.position,))
        yield section, line, 0 if section == "facts" and _is_idle(sentence) else WORTH[section]


def _is_idle(sentence: Sentence) -> bool:
    """Whether it is worth its details only: the assistant's remarks, thanks, and what leads in to a list."""
    text = sentence.text
    short = len(text.split()) < _WORDS_MIN
    return sentence.role != "user" or short or text.endswith(":") or _CHATTER.search(text) is not None


def _section(sentence: Sentence, *, is_newest: bool) -> str | None:
    """Where a sentence belongs; None for one that only keeps the conversation going, or is no sentence."""
    text = sentence.text
    if not sentence.is_prose and not sentence.is_list:
        return None
    enough = len(text.split()) >= _WORDS_MIN
    if not enough or _CHATTER.search(text):
        return "facts"
    if is_newest and text.endswith("?"):
        return "open_questions"
    if sentence.role == "user":
        if _AGREED.match(text):
            return "decisions"
        return "topics" if _ASKS.search(text) else "facts"
    return "decisions" if _SETTLED.search(text) and not sentence.is_list and not text.endswith("?") else "facts"


def shortened(text: str, limit: int = SENTENCE_MAX_CHARS) -> str:
    """The text, or its beginning up to the end of a word, with a mark that something is left out."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return f"{cut[: space if space > limit // 2 else len(cut)].rstrip()}…"
