"""`ModelReader`: an episode read with a model, within its limits, and without one where that fails."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from clew.memory.knowledge.episodes import Sent
from clew.memory.knowledge.extract import Passage
from clew.memory.knowledge.modelled.drafting import Placed, drafted
from clew.memory.knowledge.modelled.grounding import Source
from clew.memory.knowledge.modelled.merging import merged
from clew.memory.knowledge.modelled.statements import INSTRUCTIONS, ReadStatement, ReadStatements, prompt
from clew.models.asking import Failed, TypedQuestion

if TYPE_CHECKING:
    from clew.models.asking import ModelChoice

EXTRACTION_TIMEOUT_S: Final = 30.0
# Of an episode, so much is sent at once, so many times, and so many of them at a time.
CALL_MAX_CHARS: Final = 12_000
CALLS_MAX: Final = 8
CALLS_AT_ONCE: Final = 4
# More than a dozen thousand characters can state; what a model goes on to say is not looked at.
STATEMENTS_MAX: Final = 200
_CUT: Final = re.compile(r"\n+|(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class _Read:
    """What came of one call: drafts, and why other statements became none; or why there is nothing."""

    placed: tuple[Placed, ...] = ()
    faults: tuple[str, ...] = ()
    failed: str | None = None


class ModelReader:
    """Reads episodes with a model. What it says is checked against the source, and what it can't do is done without."""

    def __init__(self, model: "ModelChoice", *, timeout_s: float = EXTRACTION_TIMEOUT_S) -> None:
        """`timeout_s` is for each call; an episode of more than 12,000 characters takes several."""
        self._question: TypedQuestion[ReadStatements] = TypedQuestion(
            model, ReadStatements, INSTRUCTIONS, where="extraction", timeout_s=timeout_s
        )

    async def read(self, sent: Sent) -> tuple[Sent, tuple[str, ...]]:
        """The episode with what the model read in it, and notes of what it could not. JSON needs no model."""
        parts = list(_parts(sent.passages))
        if not parts:
            return sent, ()
        asked, turns = parts[:CALLS_MAX], asyncio.Semaphore(CALLS_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._read(part, sent.reference_time, turns)) for part in asked]
        found = [task.result() for task in tasks]
        placed = [one for part in found for one in part.placed]
        if placed:
            drafts = await asyncio.to_thread(merged, sent.extracted.drafts, placed)
            sent = replace(sent, extracted=replace(sent.extracted, drafts=tuple(drafts)))
        return sent, tuple(_notes(found, len(parts)))

    async def _read(self, part: Sequence[Passage], reference: datetime, turns: asyncio.Semaphore) -> _Read:
        async with turns:
            answer = await self._question.ask(prompt(part, reference))
        if isinstance(answer, Failed):
            return _Read(failed=answer.why)
        # The checks of 200 statements take 0.35 s, in which others want the event loop.
        return await asyncio.to_thread(_checked, answer.statements, part, reference)


def _checked(statements: Sequence[ReadStatement], part: Sequence[Passage], reference: datetime) -> _Read:
    source = Source(part)
    placed: list[Placed] = []
    faults = ["too many"] * max(0, len(statements) - STATEMENTS_MAX)
    for one in statements[:STATEMENTS_MAX]:
        if (fault := source.fault(one)) is not None:
            faults.append(fault)
        elif made := drafted(one, source, reference):
            placed += made
        else:
            faults.append("incomplete")
    failed = None if placed else "it found no statement" if not faults else "none of its statements is in the source"
    return _Read(tuple(placed), tuple(faults), failed)


def _notes(found: Sequence[_Read], parts: int) -> Iterator[str]:
    for number, one in enumerate(found, 1):
        if one.failed is not None:
            which = f"part {number} of {parts} was" if parts > 1 else "it was"
            yield f"the model failed ({one.failed}): {which} read offline"
    if parts > len(found):
        yield f"too long for the model: {parts - len(found)} of {parts} parts were read offline"
    faults = Counter(fault for one in found for fault in one.faults)
    if faults:
        told = ", ".join(f"{count} {fault}" for fault, count in sorted(faults.items()))
        yield f"{faults.total()} of the model's statements were left out: {told}"


def _parts(passages: Sequence[Passage]) -> Iterator[list[Passage]]:
    """The passages in parts that one call can take; a long one is cut between sentences."""
    part: list[Passage] = []
    size = 0
    for passage in passages:
        for text in _cut(passage.text):
            if part and size + len(text) > CALL_MAX_CHARS:
                yield part
                part, size = [], 0
            part.append(replace(passage, text=text))
            size += len(text)
    if part:
        yield part


def _cut(text: str) -> Iterator[str]:
    while len(text) > CALL_MAX_CHARS:
        ends = [match.end() for match in _CUT.finditer(text, 0, CALL_MAX_CHARS)]
        end = ends[-1] if ends else CALL_MAX_CHARS
        yield text[:end]
        text = text[end:]
    if text.strip():
        yield text
