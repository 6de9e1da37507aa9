"""What a compaction would do: which results become stubs, and which stretch a summary would replace."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from clew.context.compaction.edits import clearings, repeats, saved
from clew.context.compaction.policy import Policy
from clew.context.compaction.showing import shown
from clew.context.compaction.summary import Summary
from clew.context.compaction.units import Unit, pending_from, units
from clew.context.compaction.view import Edit, Entry, View, is_pinned

# The lines around a summary and its shortest content: what costs no more is not made shorter by one.
LEAST_STRETCH_TOKENS: Final = 40


# Calls without a result that are kept in the view while the turns around them are summarised.
OPEN_CALLS_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Proposal:
    """A compaction that is worth its cut."""

    view: View
    """With the stubs of the cheap tiers, without a new summary."""
    replaced: tuple[Entry, ...]
    """The stretch that a summary would replace; empty when the stubs suffice."""
    tiers: tuple[str, ...]
    """What is done, cheapest first: "repeat", "clear", "summarise"."""


def is_due(view: View, count: int, tokens: int, policy: Policy) -> bool:
    """Whether a view with so many messages after its summary, and so many tokens in all, is past a threshold."""
    return count > policy.threshold_messages or tokens > policy.threshold_tokens


def propose(view: View, entries: Sequence[Entry], policy: Policy) -> Proposal | None:
    """What to do about a view that is due; None when it isn't, or when nothing that could be moved is worth a cut.

    The newest messages, pinned ones and calls that wait for a result stay, with everything behind such a call. Tokens
    alone are fought with stubs first, down to the target; too many messages need a summary.
    """
    visible = view.visible(entries)
    costs = {one.position: one.tokens for one in shown(view, visible, references=True)}
    tokens = sum(costs.values())
    count = sum(entry.position > view.through for entry in visible)
    if not is_due(view, count, tokens, policy):
        return None
    found = units(visible)
    recent = visible[-1].position - policy.keep_recent
    crowded = count > policy.threshold_messages
    new, tiers, left = _stubs(view, visible, found, tokens, recent, policy)
    stubbed = replace(view, edits={**view.edits, **new}) if new else view
    if not crowded and left <= policy.target_tokens:
        return Proposal(stubbed, (), tiers)
    replaced = _replaced(view, visible, found, recent)
    gain = sum(costs.get(entry.position, 0) for entry in replaced)
    deep = crowded and len(replaced) >= policy.least_replaced
    if gain > LEAST_STRETCH_TOKENS and (deep or gain >= policy.least_saved_tokens):
        return Proposal(stubbed, replaced, (*tiers, "summarise"))
    if new and tokens - left >= policy.least_saved_tokens:
        return Proposal(stubbed, (), tiers)
    return None


def with_summary(proposal: Proposal, summary: Summary) -> View:
    """The view with the summary in place of the replaced stretch; what was pinned in that stretch stays."""
    view = proposal.view
    if not proposal.replaced:
        return view
    through = proposal.replaced[-1].position
    gone = {entry.position for entry in proposal.replaced}
    kept = [position for position in range(view.through + 1, through + 1) if position not in gone]
    return View(
        through=through,
        summary=summary,
        edits={position: edit for position, edit in view.edits.items() if position > through},
        pinned=(*view.pinned, *kept),
    )


def _stubs(
    view: View, visible: Sequence[Entry], found: Sequence[Unit], tokens: int, recent: int, policy: Policy
) -> tuple[dict[int, Edit], tuple[str, ...], int]:
    """The stubs that token pressure asks for, the tiers they are of, and the tokens that are left with them."""
    edits: dict[int, Edit] = {}
    tiers: list[str] = []
    if tokens <= policy.threshold_tokens:
        return edits, (), tokens
    by_position = {entry.position: entry for unit in found for entry in unit.entries}
    for tier, stubs in (("repeat", repeats), ("clear", clearings)):
        new = stubs(found, view.edits.keys() | edits.keys(), recent)
        if new:
            edits |= new
            tiers.append(tier)
            tokens -= saved(by_position, new)
        if tokens <= policy.target_tokens:
            break
    return edits, tuple(tiers), tokens


def _replaced(view: View, visible: Sequence[Entry], found: Sequence[Unit], recent: int) -> tuple[Entry, ...]:
    """Everything after the summary up to the newest place where a cut splits no unit, but for what is pinned."""
    waiting = pending_from(visible, found)
    cut = recent if waiting is None else min(recent, waiting - 1)
    staying = [unit for unit in found if unit.pinned or unit.first <= view.through]
    # A result that comes at last must still find its call; of many lost ones, the newest few.
    staying += [unit for unit in found if unit.unanswered][-OPEN_CALLS_MAX:]
    kept = {entry.position for unit in staying for entry in unit.entries}
    kept |= {entry.position for entry in visible if is_pinned(entry.message)}
    # From the newest on: a unit that reaches across the cut moves it before its own first message.
    for unit in sorted(found, key=lambda unit: unit.last, reverse=True):
        if unit.first <= cut < unit.last and unit.first not in kept:
            cut = unit.first - 1
    return tuple(entry for entry in visible if view.through < entry.position <= cut and entry.position not in kept)
