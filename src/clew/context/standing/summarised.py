"""A summary beside standing instructions: it must not say of one that was taken back that it still holds."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from clew.context.compaction import Line, Summary, View
from clew.context.compaction.instructions import CLAUSE_MAX_WORDS
from clew.context.instructed import same_words

_OPENING_MAX_WORDS: Final = 4


def without_told(view: View, told: Iterable[str]) -> View:
    """The view with a summary that leaves out what was told as a standing instruction.

    Those that hold have a section of their own, and those that were taken back hold no more. A summary is written once;
    this is done each time it is shown. What a model put into prose stays as it wrote it.
    """
    said = [words for words in map(same_words, told) if words]
    if view.summary is None or not said:
        return view
    shorter = _without(view.summary, said)
    return view if shorter == view.summary else replace(view, summary=shorter)


def _without(summary: Summary, said: Sequence[str]) -> Summary:
    def others(lines: Sequence[Line]) -> tuple[Line, ...]:
        return tuple(line for line in lines if same_words(line.text) not in said)

    rules = tuple(line for line in summary.instructions if not any(_repeats(line, words) for words in said))
    return replace(
        summary,
        instructions=rules,
        topics=others(summary.topics),
        decisions=others(summary.decisions),
        facts=others(summary.facts),
        open_questions=others(summary.open_questions),
    )


def _repeats(line: Line, words: str) -> bool:
    """Whether the line is the instruction: with an opening ("and please"), or as the part that a long one is cut to.

    A line that says more at its end, or less, is another rule.
    """
    text = same_words(line.text)
    if text.endswith(words):
        return re.fullmatch(rf"(?:\w+,? ){{0,{_OPENING_MAX_WORDS}}}", text.removesuffix(words)) is not None
    return len(text.split()) >= CLAUSE_MAX_WORDS and text in words
