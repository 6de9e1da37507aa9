"""What may be stored, and what a filter may say."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from clew.errors import InvalidInput
from clew.memory import Filter, MemoryEntry
from clew.memory.filters import scope_of
from clew.memory.preparing import prepare, read_entry


def entry(**changes):
    return MemoryEntry(**{"tenant_id": "acme", "agent_id": "a", "content": "Ana drinks tea", **changes})


def test_an_entry_needs_only_a_tenant_an_agent_and_a_content():
    made = entry()
    assert made.memory_id
    assert made.created_at.tzinfo == UTC
    assert (made.metadata, made.embedding, made.score, made.reasons) == ({}, None, None, None)


def test_times_become_utc():
    there = datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert entry(created_at=there).created_at == there
    assert entry(created_at=there).created_at.tzinfo == UTC
    assert entry(created_at=datetime(2024, 5, 1)).created_at == datetime(2024, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "changes",
    [
        {"content": ""},
        {"content": " \n"},
        {"content": "a\0b"},
        {"content": "x" * 20_000_000},
        {"tenant_id": "no such/tenant"},
        {"memory_id": ""},
        {"memory_id": "m" * 1000},
        {"agent_id": "a\0"},
        {"metadata": {"n": float("inf")}},
        {"metadata": {"n": "\ud800"}},
        {"metadata": {"n": object()}},
        {"metadata": {1: "key"}},
        {"metadata": None},
        {"created_at": None},
        {"updated_at": "yesterday"},
        {"metadata": {"long": ["x" * 1000] * 2000}},
        {"metadata": {"n": 10**5000}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_cannot_be_stored_is_refused_with_a_reason(changes):
    made = entry().model_copy(update=changes)
    with pytest.raises(InvalidInput) as refused:
        prepare(made)
    assert len(str(refused.value)) < 400


def test_a_lone_surrogate_is_refused():
    with pytest.raises(InvalidInput, match="surrogate"):
        prepare(entry().model_copy(update={"content": "a\ud800"}))


@pytest.mark.parametrize("sent", [None, 3, "text", {"tenant_id": "acme"}, {"content": 3}])
def test_what_is_no_entry_is_refused(sent):
    with pytest.raises(InvalidInput):
        read_entry(sent)


def test_metadata_that_search_does_not_understand_is_kept():
    made = prepare(
        entry(metadata={"occurred_at": "last week", "position": "first", "thread_id": ["x"], "speaker": 7.5})
    )
    assert (made.occurred_at, made.thread_id, made.speaker) == (None, None, None)
    assert made.metadata["occurred_at"] == "last week"


def test_a_duplicate_differs_in_spacing_alone():
    told = prepare(entry(content="Thanks!", metadata={"thread_id": "1", "position": 4})).fingerprint
    assert prepare(entry(content=" Thanks!\n", metadata={"position": 4, "thread_id": "1"})).fingerprint == told
    assert prepare(entry(content="Thanks!", metadata={"thread_id": "1", "position": 5})).fingerprint != told
    assert prepare(entry(content="Thanks!", agent_id="b")).fingerprint != told


@pytest.mark.parametrize(
    "filters",
    [
        "speaker = 'Ana'",
        7,
        [("speaker",)],
        [("speaker", "like", "A%")],
        [("content; DROP TABLE clew.memories", "=", 1)],
        [("speaker", ">", "A")],
        [("metadata.n", ">", 1)],
        [("metadata.", "=", 1)],
        [("occurred_at", ">", "soon")],
        [("speaker", "in", "Ana")],
        [("speaker", "exists", "maybe")],
        [("metadata.n", "=", float("nan"))],
        [("speaker", "=", "A")] * 100,
        [("metadata.n", "in", list(range(5000)))],
    ],
    ids=str,
)
def test_a_filter_outside_the_grammar_is_refused(filters):
    with pytest.raises(InvalidInput):
        scope_of(filters, None)


def test_values_are_bound_and_never_part_of_the_statement():
    scope = scope_of([Filter("metadata.%s'--", "=", "'; DROP TABLE x"), ("speaker", "in", ["a%b"])], "agent'")
    text = scope.conditions.as_string(None)
    assert "DROP" not in text
    assert "agent'" not in text
    assert "a%b" not in text
    assert set(scope.values) == {"scope_0", "scope_1", "scope_2", "scope_3"}


def test_no_filter_is_an_open_scope():
    assert scope_of(None, None).open
    assert not scope_of({"speaker": "Ana"}, None).open
    assert not scope_of([("speaker", "exists")], None).open
