"""Compaction without I/O: when a view is due, what a compaction would do, the summary, and the check before it counts.

Frozen data in, frozen data out: equal inputs give equal bytes, and there is no clock or chance here.
"""

from clew.context.compaction.checking import Refused, check
from clew.context.compaction.extracting import extracted, summarised
from clew.context.compaction.extractive import summarise, summary_limit
from clew.context.compaction.policy import Policy
from clew.context.compaction.probes import Probe, kept, probes
from clew.context.compaction.proposing import Proposal, is_due, propose, with_summary
from clew.context.compaction.references import references_in
from clew.context.compaction.showing import Shown, shown, summary_message
from clew.context.compaction.summary import Line, Summary
from clew.context.compaction.trimming import Trimmed, trim
from clew.context.compaction.view import Edit, Entry, View, is_pinned

__all__ = [
    "Edit",
    "Entry",
    "Line",
    "Policy",
    "Probe",
    "Proposal",
    "Refused",
    "Shown",
    "Summary",
    "Trimmed",
    "View",
    "check",
    "extracted",
    "is_due",
    "is_pinned",
    "kept",
    "probes",
    "propose",
    "references_in",
    "shown",
    "summarise",
    "summarised",
    "summary_limit",
    "summary_message",
    "trim",
    "with_summary",
]
