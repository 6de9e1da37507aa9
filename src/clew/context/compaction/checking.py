"""Verified before it counts: why a new view may not take the place of the old one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from clew.context.compaction.instructions import keeps_instruction
from clew.context.compaction.policy import Policy
from clew.context.compaction.probes import Probe, haystack, probes_of
from clew.context.compaction.showing import shown
from clew.context.compaction.summary import Summary
from clew.context.compaction.units import Unit, pending_from, units
from clew.context.compaction.view import Entry, View, is_pinned
from clew.context.compaction.wanted import DETAILS_MAX, TOKENS_PER_DETAIL, wanted_details

MISSING_SHOWN_MAX: Final = 5
PROBE_SHOWN_MAX_CHARS: Final = 60


@dataclass(frozen=True, slots=True)
class Refused:
    """Why the old view stays."""

    code: str
    """"empty", "longer", "probes", "instructions", "broken_pair", "pending", "lost_pin", "recent" or "backwards"."""
    reason: str


def check(before: View, after: View, entries: Sequence[Entry], policy: Policy) -> Refused | None:
    """None when the new view may take the place of the old one; else the first thing that is wrong with it.

    `entries` is the log, or what the old view shows of it. Nothing is believed of whoever wrote the summary: it must
    say something, cost less, keep the details and every instruction of what it replaces, and move nothing that stays.
    """
    visible = before.visible(entries)
    if refused := _backwards(before, after) or _moved(before, after, visible, policy):
        return refused
    if after.through > before.through or after.summary != before.summary:
        if after.summary is None or after.summary.is_empty:
            return Refused("empty", "The summary says nothing.")
        gone = [entry for entry in visible if not _stays(after, entry.position)]
        if refused := _instructions(before.summary, after.summary, gone) or _probes(
            before, after.summary, gone, policy
        ):
            return refused
    return _longer(before, after, visible)


def _stays(view: View, position: int) -> bool:
    return position > view.through or position in view.pinned


def _backwards(before: View, after: View) -> Refused | None:
    """A view only moves forward: what is summarised or a stub stays so."""
    if after.through < before.through:
        return Refused("backwards", f"The view ends at message {after.through}, and reached {before.through} before.")
    back = [position for position in before.edits if position > after.through and position not in after.edits]
    if back:
        return Refused("backwards", f"The result of message {back[0]} was a stub and would be shown in full again.")
    return None


def _moved(before: View, after: View, visible: Sequence[Entry], policy: Policy) -> Refused | None:
    """Pins, the newest messages, pending calls, and whole pairs."""
    if after.through == before.through and after.pinned == before.pinned:
        new = after.edits.keys() - before.edits.keys()
        return _edited(units(visible), new, visible, policy) if new else None
    lost = [entry.position for entry in visible if is_pinned(entry.message) and not _stays(after, entry.position)]
    if lost := lost or [position for position in before.pinned if position not in after.pinned]:
        return Refused("lost_pin", f"Message {lost[0]} is pinned and would leave the window.")
    newest = visible[-1].position if visible else 0
    if after.through > newest - policy.keep_recent and after.through != before.through:
        reason = (
            f"The last {policy.keep_recent} of {newest} messages stay, and the summary reaches message {after.through}."
        )
        return Refused("recent", reason)
    found = units(visible)
    new = after.edits.keys() - before.edits.keys()
    return _split(before, after, visible, found) or _edited(found, new, visible, policy)


def _split(before: View, after: View, visible: Sequence[Entry], found: Sequence[Unit]) -> Refused | None:
    for unit in found:
        stays = [_stays(after, entry.position) for entry in unit.entries]
        if any(stays) and not all(stays):
            reason = (
                f"Messages {unit.first} to {unit.last} are a call and its results, and only a part of them would stay."
            )
            return Refused("broken_pair", reason)
    waiting = pending_from(visible, found)
    if waiting is not None and before.through < after.through >= waiting:
        return Refused("pending", f"The call in message {waiting} still waits for its result.")
    return None


def _edited(
    found: Sequence[Unit], new: Sequence[int] | set[int], visible: Sequence[Entry], policy: Policy
) -> Refused | None:
    """Stubs only in the place of results, and of none that stay word for word."""
    recent = visible[-1].position - policy.keep_recent
    results = {entry.position: unit for unit in found for entry in unit.entries if entry.message.tool_results}
    for position in sorted(new):
        if position not in results:
            return Refused("broken_pair", f"Message {position} is no tool result, and cannot be cleared as one.")
        if results[position].pinned:
            return Refused("lost_pin", f"Message {position} is pinned and would be cleared.")
        if position > recent:
            return Refused(
                "recent", f"Message {position} is one of the last {policy.keep_recent} and would be cleared."
            )
    return None


def _instructions(before: Summary | None, summary: Summary, gone: Sequence[Entry]) -> Refused | None:
    """Every explicit instruction of the user, in substance."""
    told = [line.text for line in before.instructions] if before else []
    for entry in gone:
        told += [probe.text for probe in probes_of(entry.message) if probe.kind == "instruction"]
    told = list(dict.fromkeys(told))
    lines = summary.words.splitlines()
    lost = [text for text in told if not keeps_instruction(text, lines)]
    if not lost:
        return None
    return Refused("instructions", f"{len(lost)} of {len(told)} instructions are missing: {_quoted(lost)}.")


def _probes(before: View, summary: Summary, gone: Sequence[Entry], policy: Policy) -> Refused | None:
    """The details of what is replaced, the previous summary's among them."""
    most = max(1, min(DETAILS_MAX, policy.summary_max_tokens // TOKENS_PER_DETAIL))
    wanted = [probe for probe, _ in wanted_details(before.summary, gone, most)]
    text = haystack(summary.words)
    lost = [probe for probe in wanted if not text.has(probe.kind, probe.text)]
    share = 1 - len(lost) / len(wanted) if wanted else 1.0
    numbers, gone_numbers = (_numbers(found) for found in (wanted, lost))
    if gone_numbers and len(numbers) <= policy.exact_numbers:
        counted = f"{len(gone_numbers)} of {len(numbers)} numbers are missing: {_quoted(gone_numbers)}"
        return Refused("probes", f"{counted}. So few must all be kept.")
    if share >= policy.keep_share:
        return None
    missing = _quoted([probe.text for probe in lost])
    counted = (
        f"{len(wanted) - len(lost)} of {len(wanted)} details ({share:.0%}, and {policy.keep_share:.0%} are needed)"
    )
    return Refused("probes", f"The summary keeps {counted}; missing: {missing}.")


def _numbers(found: Sequence[Probe]) -> list[str]:
    return [probe.text for probe in found if probe.kind == "number"]


def _longer(before: View, after: View, visible: Sequence[Entry]) -> Refused | None:
    old = sum(one.tokens for one in shown(before, visible, references=True))
    new = sum(one.tokens for one in shown(after, visible, references=True))
    if new < old:
        return None
    return Refused("longer", f"The new view costs {new:,} tokens, and the old one {old:,}.")


def _quoted(texts: Sequence[str]) -> str:
    few = [text if len(text) <= PROBE_SHOWN_MAX_CHARS else f"{text[: PROBE_SHOWN_MAX_CHARS - 1]}…" for text in texts]
    more = f" and {len(texts) - MISSING_SHOWN_MAX} more" if len(texts) > MISSING_SHOWN_MAX else ""
    return ", ".join(repr(text) for text in few[:MISSING_SHOWN_MAX]) + more
