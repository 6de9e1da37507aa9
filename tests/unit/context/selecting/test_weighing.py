"""Several stores in one order."""

from clew.context.retrieved import Memory
from clew.context.selecting.found import Found, Store
from clew.context.selecting.weighing import weighed

STEMS = ("q3", "revenu")


def found(store: Store, id: str, content: str, score: float) -> Found:
    kind = {"memory": "memory", "past": "past"}.get(store, "fact")
    return Found(store, Memory(id, content, kind=kind), score)  # type: ignore[arg-type]


def test_the_best_of_a_store_that_knows_nothing_stands_behind_one_that_answers() -> None:
    order = weighed(
        [
            found("memory", "m1", "The cat sat on the mat.", 0.95),
            found("memory", "m2", "A dog barked.", 0.80),
            found("facts", "f1", "Q3 revenue was $5.2M.", 0.70),
        ],
        STEMS,
    )
    assert [one.memory.memory_id for one in order] == ["f1", "m1", "m2"]


def test_a_store_keeps_its_own_order_and_alone_its_own_scores() -> None:
    own = [found("memory", f"m{n}", f"Q3 revenue note {n}", 0.9 - n / 10) for n in range(4)]
    order = weighed(own, STEMS)
    assert [one.memory.memory_id for one in order] == ["m0", "m1", "m2", "m3"]
    assert [one.score for one in order] == [one.score for one in own]


def test_what_two_stores_name_is_there_once_as_the_first_has_it() -> None:
    order = weighed(
        [found("facts", "f1", "Q3 revenue was $5.2M.", 0.9), found("neighbours", "f1", "Q3 revenue was $5.2M.", 0.3)],
        STEMS,
    )
    assert [(one.memory.memory_id, one.store) for one in order] == [("f1", "facts")]


def test_equal_scores_break_on_what_they_are_whatever_the_order_they_came_in() -> None:
    pair = [found("memory", "b", "Q3 revenue", 0.5), found("memory", "a", "Q3 revenue", 0.5)]
    assert [one.memory.memory_id for one in weighed(pair, STEMS)] == ["a", "b"]
    assert weighed(pair, STEMS) == weighed(pair[::-1], STEMS)


def test_nothing_found_is_nothing() -> None:
    assert weighed([], STEMS) == []
    assert [one.score for one in weighed([found("memory", "m", "x", 0.5)], ())] == [0.5]
