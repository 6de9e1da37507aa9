"""Which details a summary is asked for: the newest of what it replaces, the previous summary's among them."""

from collections.abc import Sequence
from typing import Final

from clew.context.compaction.probes import Probe, details_of, probes_of
from clew.context.compaction.summary import SECTIONS, Summary
from clew.context.compaction.view import Entry

# A summary at its limit of 4,000 tokens holds about 700 bare details and nothing else. Asked for this many, it has room
# for sentences, never grows past its limit, and lets go of the oldest details first: a search of the log finds those.
DETAILS_MAX: Final = 450
# The same for a policy with a lower limit: what a detail costs, and as much again for sentences.
TOKENS_PER_DETAIL: Final = 9


def wanted_details(
    previous: Summary | None, replaced: Sequence[Entry], most: int = DETAILS_MAX
) -> list[tuple[Probe, int]]:
    """The newest details, oldest first, and the message each is from; 0 where that is not known any more."""
    found: dict[Probe, int] = {}
    if previous is not None:
        places = _places(previous)
        for probe in details_of(previous.words):
            found.setdefault(probe, places.get(probe, 0))
    for entry in replaced:
        for probe in probes_of(entry.message):
            if probe.kind != "instruction":
                # Said again is said now: a detail that keeps coming up does not grow old.
                found[probe] = entry.position
    return sorted(found.items(), key=lambda one: one[1])[-most:]


def _places(previous: Summary) -> dict[Probe, int]:
    """Which message each detail of a summary is from, by the line that has it."""
    lines = [line for name, _ in SECTIONS for line in previous.section(name)]
    places: dict[Probe, int] = {}
    for line in [*lines, *previous.mentioned]:
        for probe in details_of(line.text) if line.positions else ():
            places[probe] = max(places.get(probe, 0), line.positions[-1])
    return places
