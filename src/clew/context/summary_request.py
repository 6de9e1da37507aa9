"""Asking a model for a summary as the continuation of its last real request: a provider reads that from its cache."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from clew.context.compaction import Entry, Proposal, Refused, Summary, references_in, shown
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
in its own words. Write no more than {max_tokens} tokens and call no tools."""


async def written_summary(
    complete: Complete,
    proposal: Proposal,
    entries: Sequence[Entry],
    prefix: Sequence[dict[str, Any]] | None,
    *,
    max_tokens: int,
    timeout_s: float = SUMMARY_TIMEOUT_S,
) -> Summary | Refused:
    """What the model wrote, or why there is nothing: it failed, took too long, or said nothing."""
    first, last = proposal.replaced[0].position, proposal.replaced[-1].position
    past = (
        list(prefix)
        if prefix is not None
        else to_openai(item.message for item in shown(proposal.view, entries, references=True))
    )
    asked = INSTRUCTION.format(first=first, last=last, max_tokens=max_tokens)
    try:
        async with asyncio.timeout(timeout_s):
            text = await complete([*past, {"role": "user", "content": asked}])
    except TimeoutError:
        return Refused("timeout", f"the model did not answer within {timeout_s:g} seconds")
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
    return Summary.written(text, covers, references_in(proposal.view.summary, proposal.replaced))


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
