"""When a follow-up is about the same, and what is kept of a topic."""

import dataclasses

from clew.context.retrieved import Memory
from clew.context.selecting.found import Found
from clew.context.selecting.topics import Topics, topic_of

FOUND = [Found("memory", Memory("m1", "Q3 revenue was $5.2M, up from Lisbon sales"), 0.9)]
TOPIC = topic_of(("q3", "revenu"), FOUND, {"memory": 1}, 4, "10:10:")


def test_the_same_words_are_the_same_topic_and_words_of_what_was_found_may_join_them() -> None:
    assert TOPIC.holds(("q3", "revenu"), 4)
    assert TOPIC.holds(("revenu",), 4)
    assert TOPIC.holds(("revenu", "sale"), 4)


def test_a_new_word_a_new_quarter_or_nothing_is_not() -> None:
    assert not TOPIC.holds(("q4", "revenu"), 4)
    assert not TOPIC.holds(("headcount",), 4)
    assert not TOPIC.holds(("lisbon", "sale", "revenu"), 4)
    assert not TOPIC.holds((), 4)


def test_a_thread_of_which_more_is_out_of_sight_is_looked_through_again() -> None:
    assert not TOPIC.holds(("q3", "revenu"), 12)


def test_a_topic_holds_no_text() -> None:
    topic = topic_of(("canary",), [Found("memory", Memory("m1", "the canary sings"), 0.9)], {}, 0, "1:1:")
    assert "canary" not in repr(dataclasses.asdict(topic))


def test_the_thread_not_asked_about_for_longest_goes_first_and_a_tenant_can_be_forgotten() -> None:
    topics = Topics(most=2)
    for thread in ("t1", "t2", "t3"):
        topics.keep("acme", thread, TOPIC)
    assert topics.get("acme", "t1") is None
    assert topics.get("acme", "t3") is TOPIC
    topics.keep("globex", "t1", TOPIC)
    topics.forget_tenant("acme")
    assert (topics.remembers("acme"), topics.remembers("globex")) == (0, 1)
