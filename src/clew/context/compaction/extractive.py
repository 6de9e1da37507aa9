"""The summariser that needs no model: it picks sentences that carry the most, and packs what they leave out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from clew.context.compaction.material import Offer, offers
from clew.context.compaction.packing import Packing
from clew.context.compaction.policy import Policy
from clew.context.compaction.probes import Probe
from clew.context.compaction.references import references_in
from clew.context.compaction.showing import shown, summary_message
from clew.context.compaction.summary import SECTIONS, Line, Summary
from clew.context.compaction.view import Edit, Entry, View
from clew.context.compaction.wanted import wanted_details
from clew.tokens import count, count_message

HEADING_TOKENS: Final = 6
# What a line must give for each of its tokens: below that it is chatter with a number in it, and the number is packed.
LEAST_GIVEN: Final = 0.25
# Sums of lines are close to the count of the whole; when they were too low, the room is lowered by the difference.
_ATTEMPTS: Final = 4
# Of what it replaces and the frame around it: a summary that costs more is not worth a cut.
WORTHWHILE_SHARE: Final = 0.9


def summary_limit(
    previous: Summary | None, replaced: Sequence[Entry], policy: Policy, *, edits: Mapping[int, Edit] | None = None
) -> int:
    """How many tokens a summary may have: a share of what it newly replaces beside the previous one, within bounds.

    Results that are shown as stubs already cost less than the log says: with `edits` that is counted.
    """
    before = 0 if previous is None else count(previous.text(references=True))
    new = sum(entry.tokens for entry in replaced)
    wanted = before + max(policy.summary_min_tokens, int(new * policy.summary_share))
    frame = 0 if previous else count_message(summary_message(Summary(_covers(None, replaced)), references=True))
    shown_tokens = sum(one.tokens for one in shown(View(edits=edits or {}), replaced, references=True))
    return max(1, min(wanted, before + int(shown_tokens * WORTHWHILE_SHARE) - frame, policy.summary_max_tokens))


def summarise(previous: Summary | None, replaced: Sequence[Entry], *, max_tokens: int) -> Summary:
    """A summary of at most `max_tokens` that extends the previous one by what the replaced messages say.

    Extractive and deterministic: the messages behind the previous summary are never read again. Instructions come
    first, then every detail in as few tokens as it takes, then sentences in place of bare details while there is room.
    """
    every = offers(previous, replaced)
    wanted = wanted_details(previous, replaced)
    references = references_in(previous, replaced)
    room = max_tokens
    summary = Summary(_covers(previous, replaced))
    for _ in range(_ATTEMPTS):
        summary = _written(summary.covers, every, wanted, references, room)
        over = count(summary.text(references=True)) - max_tokens
        if over <= 0:
            break
        room -= over
    return summary if not summary.is_empty else _wordless(summary, replaced)


def _covers(previous: Summary | None, replaced: Sequence[Entry]) -> tuple[int, int]:
    first = previous.covers[0] if previous else replaced[0].position if replaced else 0
    last = replaced[-1].position if replaced else previous.covers[1] if previous else 0
    return first, last


def _written(
    covers: tuple[int, int],
    every: Sequence[Offer],
    wanted: Sequence[tuple[Probe, int]],
    references: tuple[Line, ...],
    room: int,
) -> Summary:
    packing = Packing(wanted, room)
    spent = packing.tokens + sum(count(f"- {line.shown(references=True)}\n") for line in references)
    chosen: list[int] = []
    headings: set[str] = {"references"} if references else set()
    for index in _best_first(every, packing):
        offer = every[index]
        heading = 0 if offer.section in headings else HEADING_TOKENS
        cost = offer.tokens + heading - packing.refund(offer.probes)
        must = offer.section == "instructions"
        given = offer.worth + packing.refund(offer.probes)
        if must or (spent + cost <= room and given >= offer.tokens * LEAST_GIVEN):
            chosen.append(index)
            headings.add(offer.section)
            packing.cover(offer.probes)
            spent += cost
    return _summary(covers, [every[index] for index in sorted(chosen)], references, packing, room)


def _best_first(every: Sequence[Offer], packing: Packing) -> list[int]:
    """Instructions, then what gives most for its tokens; the newer of equals."""

    def value(index: int) -> tuple[bool, float, int]:
        offer = every[index]
        given = offer.worth + packing.refund(offer.probes)
        return offer.section != "instructions", -given / offer.tokens, -index

    return sorted(range(len(every)), key=value)


def _summary(
    covers: tuple[int, int],
    chosen: Iterable[Offer],
    references: tuple[Line, ...],
    packing: Packing,
    room: int,
) -> Summary:
    sections: dict[str, list[Line]] = {name: [] for name, _ in SECTIONS}
    for offer in chosen:
        sections[offer.section].append(offer.line)
    bare = Summary(
        covers,
        topics=tuple(sections["topics"]),
        decisions=tuple(sections["decisions"]),
        facts=tuple(sections["facts"]),
        open_questions=tuple(sections["open_questions"]),
        instructions=tuple(sections["instructions"]),
        references=references,
    )
    left = room - count(bare.text(references=True))
    return replace(bare, mentioned=packing.lines(bare.words, left))


def _wordless(summary: Summary, replaced: Sequence[Entry]) -> Summary:
    """Even messages that say nothing were there."""
    return replace(summary, topics=(Line(f"{len(replaced)} messages with nothing to note"),))
