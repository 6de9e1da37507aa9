"""From a proposal to a view that may be committed: a summary is extracted, or asked of a model, and checked.

The request to a model continues its last real one, so that a provider reads that from its cache.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from clew.context.compaction import (
    Entry,
    Line,
    Policy,
    Proposal,
    Refused,
    Summary,
    View,
    check,
    extracted,
    probes,
    references_in,
    shown,
    summarised,
    summary_limit,
)
from clew.context.compaction.instructions import keeps_instruction
from clew.context.compaction.wanted import wanted_details
from clew.errors import ClewError, InvalidInput
from clew.limits import check_text
from clew.logs import logger
from clew.messages import to_openai

log: Final = logger("clew.context")

# In, messages in OpenAI form; out, the text of the reply. Any model can be behind it.
Complete = Callable[[list[dict[str, Any]]], Awaitable[str]]

SUMMARY_TIMEOUT_S: Final = 60.0
TIMEOUT_MAX_S: Final = 3_600.0

INSTRUCTION: Final = """\
The conversation above is getting long. Messages {first} to {last} of it will be replaced by a summary that you write \
now, so that the work can go on without them. Reply with the summary alone, under these headings, in short lines: \
Topics, Decisions, Key facts, Open questions, Standing instructions. Keep every number with its unit, every date, file \
path, id, URL and name that the work may still need, and every instruction that says always, never, must or do not, \
in its own words. Write no more than {max_tokens} tokens and call no tools. These must be in it, as they are written \
here: {details}."""
# A model is told so many of the details that it will be checked for.
DETAILS_TOLD_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Writer:
    """A model that writes summaries."""

    complete: Complete
    prefix: list[dict[str, Any]] | None = None
    """The messages of its last real request, which the request for a summary continues; else what it would be sent."""
    timeout_s: float = SUMMARY_TIMEOUT_S


async def verified_view(
    before: View,
    proposal: Proposal,
    entries: Sequence[Entry],
    policy: Policy,
    writer: Writer | None = None,
) -> View | Refused:
    """The view that may be committed, or why there is none: with the cheaper tiers alone, or with a summary."""
    if not proposal.replaced:
        return await asyncio.to_thread(check, before, proposal.view, entries, policy) or proposal.view
    if writer is None:
        return await asyncio.to_thread(extracted, before, proposal, entries, policy)
    most = summary_limit(proposal.view.summary, proposal.replaced, policy, edits=proposal.view.edits)
    summary = await _written(writer, proposal, entries, most)
    if isinstance(summary, Refused):
        return summary
    view = summarised(proposal, summary, entries)
    return await asyncio.to_thread(check, before, view, entries, policy) or view


async def _written(writer: Writer, proposal: Proposal, entries: Sequence[Entry], max_tokens: int) -> Summary | Refused:
    """What the model wrote, or why there is nothing: it failed, took too long, or said nothing."""
    first, last = proposal.replaced[0].position, proposal.replaced[-1].position
    past = writer.prefix
    if past is None:
        past = to_openai(item.message for item in shown(proposal.view, entries, references=True))
    details = [probe.text for probe, _ in wanted_details(proposal.view.summary, proposal.replaced)]
    told = "; ".join(details[-DETAILS_TOLD_MAX:]) or "nothing in particular"
    asked = INSTRUCTION.format(first=first, last=last, max_tokens=max_tokens, details=told)
    try:
        async with asyncio.timeout(writer.timeout_s):
            text = await writer.complete([*past, {"role": "user", "content": asked}])
    except TimeoutError:
        return Refused("timeout", f"the model did not answer within {writer.timeout_s:g} seconds")
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) is None or task.cancelling():
            raise
        return Refused("failed", "the model's own work was cancelled (CancelledError)")
    except ClewError as error:
        return Refused("failed", f"the model failed: {error}")
    except Exception as error:  # noqa: BLE001 - whatever a caller's model raises, the view stays and the record says why
        log.warning("summary_failed", error=type(error).__name__)
        return Refused("failed", f"the model failed: {type(error).__name__}")
    return _read(text, proposal)


def _read(text: object, proposal: Proposal) -> Summary | Refused:
    if not isinstance(text, str) or not text.strip():
        return Refused("empty", "the model wrote nothing")
    try:
        check_text(text, "summary")
    except InvalidInput as error:
        return Refused("unreadable", f"the model wrote what can't be stored: {error}")
    covers = (_start(proposal), proposal.replaced[-1].position)
    summary = Summary.written(text, covers, references_in(proposal.view.summary, proposal.replaced))
    return replace(summary, instructions=(*summary.instructions, *_elsewhere(summary, proposal)))


def _elsewhere(summary: Summary, proposal: Proposal) -> list[Line]:
    """The instructions that the model kept under other headings: the next summary looks for them under their own."""
    earlier = proposal.view.summary
    told = list(earlier.instructions) if earlier else []
    for entry in proposal.replaced:
        asked = probes([entry.message])
        told += [Line(probe.text, (entry.position,)) for probe in asked if probe.kind == "instruction"]
    known, words = [line.text for line in summary.instructions], summary.words.splitlines()
    return [
        line
        for line in {line.text: line for line in told}.values()
        if keeps_instruction(line.text, words) and not keeps_instruction(line.text, known)
    ]


def check_timeout(value: object) -> float:
    """The seconds themselves, when one can wait for them."""
    # A NaN is in no range.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= TIMEOUT_MAX_S:
        raise InvalidInput(f"{ascii(value)[:40]} is not a number of seconds above 0", where="timeout_s")
    return float(value)


def _start(proposal: Proposal) -> int:
    """Where the stretch begins that the new summary stands for: with the earlier one's, which it takes in."""
    earlier = proposal.view.summary
    return earlier.covers[0] if earlier else proposal.replaced[0].position
