"""Sentences that put one value in another's place, and their neighbours that do not."""

from datetime import UTC, datetime

import pytest

from clew.memory.knowledge.extract import Passage, extract
from clew.memory.knowledge.stating import stated
from clew.memory.knowledge.timeline import Span, settle

TOLD = datetime(2026, 1, 10, tzinfo=UTC), datetime(2026, 2, 10, tzinfo=UTC)


def closed(*texts: str) -> bool:
    """Whether the last of some texts closes anything that those before it told."""
    slots: dict[str, tuple[Span, ...]] = {}
    for text, at in zip(texts, TOLD, strict=True):
        before = {span.fact: span for spans in slots.values() for span in spans}
        for one in stated(extract([Passage(text)], at).drafts, at):
            slots[one.statement.slot] = settle(slots.get(one.statement.slot, ()), one.statement).spans
    after = [span for spans in slots.values() for span in spans if span.fact in before]
    return any(span.invalid_at != before[span.fact].invalid_at for span in after)


@pytest.mark.parametrize(
    ("first", "replaces", "leaves"),
    [
        ("The box runs Debian 11.", "The box was upgraded to Debian 12.", "The box runs Redis 7."),
        ("We use Postgres 15.", "We migrated from Postgres 15 to MySQL 8.", "We use Postgres for billing."),
        ("We use Jenkins for CI.", "We replaced Jenkins with Buildkite.", "We use Jenkins for releases."),
        ("The project is led by Ana.", "Ben leads the project.", "Ben leads the pilot project."),
        ("Ana is the project lead.", "Ben replaced Ana as the project lead.", "Ben replaced Ana in the choir."),
        ("Acme's CEO is Ana.", "Acme named Ben CEO.", "Acme named Ben director."),
        ("Ana works at Acme.", "Ana left Acme and joined Globex.", "Ana joined the gym."),
        ("Ana takes 20 mg of aspirin.", "Ana takes 40 mg of aspirin.", "Ana takes 40 mg of statins."),
        ("The fund manages $2B.", "The fund manages $2.4B.", "The fund manages $2,000M."),
        ("The bank pays 3% interest.", "The bank pays 4% interest.", "The bank pays 4% cashback."),
        ("Logs are kept for 30 days.", "Logs are kept for 90 days.", "Logs were kept for 90 days in 2019."),
        ("Backups run daily.", "Backups run weekly.", "Backups run every day."),
        ("Ana prefers window seats.", "Ana prefers aisle seats.", "Ana prefers quiet rooms."),
        ("Sam smokes.", "Sam quit smoking.", "Sam doesn't drink."),
        ("Ana is single.", "Ana got married.", "Ana got promoted."),
        ("The round closed at $18M.", "The round closed at $21M.", "The round closed in May."),
        (
            "The lease ends on May 1, 2027.",
            "The lease was extended to May 1, 2029.",
            "The lease starts on May 1, 2026.",
        ),
        ("The disk holds 1 TB.", "The disk holds 2 TB.", "The disk holds 1000 GB."),
        ("The trip takes 150 minutes.", "The trip takes 3 hours.", "The trip takes 2 hours 30 minutes."),
        ("The CEO is Dr. Ann Lee.", "The CEO is Bo Lee.", "The CEO is Ann Lee."),
        ("The grade is A.", "The grade is B.", "The grade is a surprise to everybody who heard it."),
    ],
    ids=lambda text: text,
)
def test_a_newer_value_replaces_and_its_neighbour_leaves(first, replaces, leaves):
    assert closed(first, replaces)
    assert not closed(first, leaves)
