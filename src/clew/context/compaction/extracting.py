"""A view with an extracted summary that passes its check, where there is one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from clew.context.compaction.checking import Refused, check
from clew.context.compaction.extractive import summarise, summary_limit
from clew.context.compaction.policy import Policy
from clew.context.compaction.proposing import Proposal, with_summary
from clew.context.compaction.summary import Summary
from clew.context.compaction.view import Entry, View

# Of what it replaces, what a summary may cost that was too short to keep what it must; the check has the last word.
LARGER_SHARES: Final = (0.5, 0.9)


def extracted(before: View, proposal: Proposal, entries: Sequence[Entry], policy: Policy) -> View | Refused:
    """The proposed view with a summary, checked; where details are missing it is made again, with more room."""
    earlier = proposal.view.summary
    shares = (policy.summary_share, *(share for share in LARGER_SHARES if share > policy.summary_share))
    refused: Refused | None = None
    for share in shares:
        roomier = replace(policy, summary_share=share)
        most = summary_limit(earlier, proposal.replaced, roomier, edits=proposal.view.edits)
        view = summarised(proposal, summarise(earlier, proposal.replaced, max_tokens=most), entries)
        refused = check(before, view, entries, policy)
        if refused is None:
            return view
        if refused.code != "probes":
            break
    return refused or proposal.view


def summarised(proposal: Proposal, summary: Summary, entries: Sequence[Entry]) -> View:
    """The proposed view with a summary in it. Of what stays, only what was given: the rest is another branch's."""
    there = {entry.position for entry in entries}
    view = with_summary(proposal, summary)
    return replace(view, pinned=tuple(filter(there.__contains__, view.pinned)))
