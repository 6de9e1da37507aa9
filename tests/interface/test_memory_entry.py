"""The promised model of a memory."""

from datetime import UTC, datetime, timedelta, timezone

import pydantic
import pytest

import clew

from .conftest import entry

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TEXTS = {"memory_id": "m1", "tenant_id": "acme", "agent_id": "a", "content": "x"}
GIVEN = {**TEXTS, "created_at": NOW, "updated_at": NOW}
PROMISED = {
    "memory_id": str,
    "tenant_id": str,
    "agent_id": str,
    "content": str,
    "metadata": dict,
    "embedding": list[float] | None,
    "created_at": datetime,
    "updated_at": datetime,
    "score": float | None,
}


def test_it_has_the_promised_fields():
    assert set(PROMISED) <= set(clew.MemoryEntry.model_fields)


def test_all_promised_fields_are_enough_to_make_one():
    made = clew.MemoryEntry(**GIVEN)
    assert {name: getattr(made, name) for name in GIVEN} == GIVEN
    assert (made.metadata, made.embedding, made.score) == ({}, None, None)


def test_the_default_metadata_is_not_shared():
    first, second = entry("acme", "one"), entry("acme", "two")
    first.metadata["mine"] = True
    assert second.metadata == {}


@pytest.mark.parametrize("field", ["tenant_id", "agent_id", "content"])
def test_whose_it_is_and_what_it_says_are_needed(field):
    given = {name: value for name, value in GIVEN.items() if name != field}
    with pytest.raises((pydantic.ValidationError, clew.InvalidInput), match=field):
        clew.MemoryEntry(**given)


def test_times_are_aware_and_utc_whatever_zone_they_were_given_in():
    tokyo = NOW.astimezone(timezone(timedelta(hours=9)))
    made = entry("acme", "x", created_at=tokyo, updated_at=tokyo)
    assert made.created_at == NOW
    assert made.created_at.utcoffset() == made.updated_at.utcoffset() == timedelta(0)


def test_a_naive_time_is_refused_or_made_aware_but_never_kept_naive():
    try:
        made = entry("acme", "x", created_at=NOW.replace(tzinfo=None))
    except (pydantic.ValidationError, clew.InvalidInput):
        return
    assert made.created_at.utcoffset() == timedelta(0)


def test_it_survives_json():
    made = entry("acme", "naïve café 京都", metadata={"position": 3, "speaker": "Ana"}, embedding=[0.5, -0.5])
    assert clew.MemoryEntry.model_validate_json(made.model_dump_json()) == made
