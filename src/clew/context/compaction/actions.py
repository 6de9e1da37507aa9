"""The calls of a stretch as a few lines: what was done, with which arguments, and what short answer came."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from clew.context.compaction.sentences import SENTENCE_MAX_CHARS, argument_values
from clew.context.compaction.summary import Line
from clew.context.compaction.view import Entry
from clew.ids import ARTIFACT_ID
from clew.messages import ToolCallPart

# A longer argument is a text of its own, and a longer answer is one reference away.
VALUE_MAX_CHARS: Final = 80
ANSWER_MAX_CHARS: Final = 60
# Artifacts are the references' to name, which a model that cannot read them does not see.
_NOTE: Final = re.compile(rf"\s*[(\[][^()\[\]]*{ARTIFACT_ID.pattern}[^()\[\]]*[)\]]")


@dataclass(frozen=True, slots=True)
class Actions:
    """What was done, and the lines of the earlier summary that are not part of it."""

    lines: tuple[Line, ...]
    left: frozenset[Line]


def actions(before: Sequence[Line], replaced: Sequence[Entry]) -> Actions:
    """A line for each tool, or several where it was called often; a call that was repeated is named once.

    The earlier summary's line about a tool goes on with the new calls, while it is short enough.
    """
    answers = _answers(replaced)
    done: dict[str, dict[str, list[int]]] = {}
    for entry in replaced:
        for call in entry.message.tool_calls:
            item = _item(call, answers.get((entry.position, call.id), ""))
            if item or not argument_values(call):
                done.setdefault(call.name, {}).setdefault(item, []).append(entry.position)
    lines: list[Line] = []
    left = set(before)
    for name, items in done.items():
        earlier = next((line for line in reversed(before) if _goes_on(line, name)), None)
        start: dict[str, list[int]] = {}
        if earlier is not None:
            left.discard(earlier)
            start = {earlier.text.removeprefix(f"{name}: "): list(earlier.positions)}
        lines += _lines(name, [*start.items(), *items.items()])
    return Actions(tuple(lines), frozenset(left))


def _goes_on(line: Line, name: str) -> bool:
    return line.text.startswith(f"{name}: ") and len(line.text) < SENTENCE_MAX_CHARS // 2


def _answers(replaced: Sequence[Entry]) -> dict[tuple[int, str], str]:
    """The short answers, by the position of the call's message and its id: ids alone come again."""
    asked: dict[str, int] = {}
    answers: dict[tuple[int, str], str] = {}
    for entry in replaced:
        for call in entry.message.tool_calls:
            asked[call.id] = entry.position
        for result in entry.message.tool_results:
            text = _NOTE.sub("", " ".join(result.text[: ANSWER_MAX_CHARS * 2].split()))
            if result.call_id in asked and 0 < len(text) <= ANSWER_MAX_CHARS and not ARTIFACT_ID.search(text):
                answers[asked[result.call_id], result.call_id] = text
    return answers


def _item(call: ToolCallPart, answer: str) -> str:
    values = (" ".join(value.split()) for value in argument_values(call) if len(value) <= VALUE_MAX_CHARS)
    words = ", ".join(dict.fromkeys(value for value in values if value and not ARTIFACT_ID.search(value)))
    return f"{words} → {answer}" if answer else words


def _lines(name: str, items: Iterable[tuple[str, list[int]]]) -> list[Line]:
    lines: list[Line] = []
    texts: list[str] = []
    positions: list[int] = []
    for text, places in items:
        if texts and sum(map(len, texts)) + len(text) > SENTENCE_MAX_CHARS:
            lines.append(_line(name, texts, positions))
            texts, positions = [], []
        if text:
            texts.append(text)
        positions += places
    return [*lines, _line(name, texts, positions)]


def _line(name: str, texts: Sequence[str], positions: Sequence[int]) -> Line:
    what = f": {'; '.join(texts)}" if texts else ""
    return Line(f"{name}{what}"[: SENTENCE_MAX_CHARS * 2], tuple(sorted(set(positions))))
