"""Whatever is said in whatever order, a single-valued slot holds one value at a time, and taking back is exact."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from clew.memory.knowledge.timeline import Span, Statement, replay, settle

START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 12


def at(day: int) -> datetime:
    return START + timedelta(days=day)


@st.composite
def conversations(draw):
    """Statements about one slot, each with a fact of its own, dated anyhow."""
    acts = st.sampled_from(["holds", "holds", "holds", "ended", "denied"])
    said = draw(st.lists(st.tuples(acts, st.sampled_from("ABC"), st.integers(0, DAYS), st.booleans()), max_size=12))
    return [
        Statement(act, str(n), "slot", value, value, single or act == "ended", at(day))
        for n, (act, value, day, single) in enumerate(said)
    ]


def singles_at(spans: tuple[Span, ...], moment: datetime) -> list[Span]:
    return [span for span in spans if span.single and not span.negated and span.covers(moment)]


def shape(spans: tuple[Span, ...]):
    return sorted((span.fact, str(span.valid_at), str(span.invalid_at)) for span in spans)


@given(conversations())
def test_at_most_one_value_holds_at_any_time_and_at_most_one_is_open(said):
    spans: tuple[Span, ...] = ()
    for statement in said:
        spans = settle(spans, statement).spans
        for half_day in range(-2, 2 * DAYS + 3):
            assert len(singles_at(spans, START + timedelta(hours=12 * half_day))) <= 1
        assert sum(span.single and not span.negated and span.invalid_at is None for span in spans) <= 1
        assert all(
            span.valid_at is None or span.invalid_at is None or span.valid_at <= span.invalid_at for span in spans
        )


@given(conversations())
def test_settling_one_by_one_is_replaying_and_no_fact_is_lost(said):
    spans: tuple[Span, ...] = ()
    supported = []
    for statement in said:
        done = settle(spans, statement)
        spans = done.spans
        supported.append(done.fact)
    assert shape(replay(said)) == shape(spans)
    assert {span.fact for span in spans} == set(supported)


@given(conversations())
def test_an_older_statement_never_closes_a_newer_one(said):
    spans: tuple[Span, ...] = ()
    for statement in said:
        after = settle(spans, statement).spans
        later = [span for span in spans if span.valid_at is not None and span.valid_at > statement.at]
        assert all(span in after for span in later)
        spans = after


@given(conversations())
def test_what_adds_up_closes_nothing(said):
    spans: tuple[Span, ...] = ()
    for statement in said:
        if statement.act == "holds":
            adding = settle(spans, replace(statement, single=False)).spans
            closed = [span for span in spans if span not in adding]
            assert all(span.negated for span in closed)
        spans = settle(spans, statement).spans


def holds(value: str, day: int, **changes) -> Statement:
    return replace(Statement("holds", f"{value}{day}", "slot", value, value, True, at(day)), **changes)


def test_a_newer_value_closes_the_older_and_an_older_one_is_inserted_closed():
    spans = replay([holds("A", 1), holds("C", 9), holds("B", 5)])
    assert [(s.fact, s.valid_at, s.invalid_at) for s in sorted(spans, key=lambda s: s.valid_at)] == [
        ("A1", at(1), at(5)),
        ("B5", at(5), at(9)),
        ("C9", at(9), None),
    ]


def test_the_same_value_again_supports_the_fact_there_is():
    done = settle(replay([holds("A", 1)]), holds("A", 3))
    assert (done.fact, len(done.spans)) == ("A1", 1)


def test_a_value_that_comes_back_is_a_fact_of_its_own():
    spans = replay([holds("A", 1), holds("B", 3), holds("A", 5)])
    assert [(s.fact, s.invalid_at) for s in spans] == [("A1", at(3)), ("B3", at(5)), ("A5", None)]


def test_quantities_in_other_units_are_one_value():
    said = [holds("mass 5", 1, object="5 kg"), holds("mass 5000", 2, object="5,000 g")]
    assert len(replay(said)) == 1


def test_a_denial_closes_its_own_value_and_no_other():
    spans = replay([holds("A", 1), holds("B", 5, act="denied"), holds("A", 6, act="denied")])
    assert [(s.fact, s.negated, s.invalid_at) for s in spans] == [
        ("A1", False, at(6)),
        ("B5", True, None),
        ("A6", True, None),
    ]


def test_what_ended_without_having_been_told_held_before_unless_something_else_did():
    [alone] = replay([holds("A", 5, act="ended")])
    assert (alone.valid_at, alone.invalid_at) == (None, at(5))
    [_, beside] = replay([holds("B", 1), holds("A", 5, act="ended")])
    assert (beside.valid_at, beside.invalid_at) == (at(5), at(5))
