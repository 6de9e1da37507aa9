"""Quantities, dates and records in one spelling."""

from datetime import UTC, datetime

import pytest

from clew.memory.knowledge.extract import phrase_key, records, same_value
from clew.memory.knowledge.extract.quantities import read_quantity
from clew.memory.knowledge.extract.times import resolve
from clew.memory.knowledge.extract.values import read_value

REFERENCE = datetime(2026, 2, 10, tzinfo=UTC)


def same(one, other):
    first, second = read_value(one, REFERENCE), read_value(other, REFERENCE)
    return same_value(first.key, one, second.key, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("$5.2M", "5.2 million dollars"),
        ("$1,500,000", "$1.5M"),
        ("5 kg", "5,000 g"),
        ("10 km", "about 6.2 miles"),
        ("2 GB", "2,048 MB"),
        ("37 °C", "98.6 °F"),
        ("5%", "5 percent"),
        ("2 years", "24 months"),
        ("2 minutes", "120 s"),
        ("$60,000 per year", "$5,000 a month"),
        ("March 3, 2025", "2025-03-03"),
        ("two", "2"),
        ("9 am", "9 a.m."),
        ("the Marriott", "Marriott"),
        ("€5M", "5 million euros"),
    ],
)
def test_one_value_in_two_spellings(one, other):
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("$5M", "€5M"),
        ("5 kg", "5 g"),
        ("5", "6"),
        ("$5.2M", "$5.21M"),
        ("10 requests per second", "10 requests per minute"),
        ("3 cats", "3 dogs"),
        ("5 m", "5M"),
        ("March 3", "March 4"),
        ("5%", "5"),
        ("1 day", "1 date"),
        ("Rome", "Roma"),
    ],
)
def test_two_values_stay_two(one, other):
    assert not same(one, other)


@pytest.mark.parametrize(
    "text", ["", "abc", "48 Elm Avenue", "a nurse", "in 5", "5 for members", "1.2.3", "9" * 400 + "x.y"]
)
def test_what_is_no_quantity(text):
    assert read_quantity(text) is None


@pytest.mark.parametrize("text", ["February 31", "2024-13-40", "0 years", "99999 years ago", "someday", ""])
def test_a_date_that_can_not_be_is_none(text):
    assert resolve(text, REFERENCE) is None


def test_phrases_in_other_words_have_one_key():
    assert (
        len(
            {
                phrase_key(text)
                for text in ("Q3 revenue", "the revenue for Q3", "Q3's revenue", "our third quarter revenue")
            }
        )
        == 1
    )
    assert len({phrase_key(text) for text in ("Acme", "Acme Corp", "ACME Inc.", "the Acme Corporation")}) == 1
    assert phrase_key("the owner's dog") != phrase_key("the dog's owner")
    assert phrase_key("Acme Bank") != phrase_key("Acme Foods")
    assert len(phrase_key("word " * 500)) <= 160


def test_json_leaves_are_facts_about_the_record_that_holds_them():
    value = {
        "customers": [
            {"name": "Ana", "phoneNumber": "555", "address": {"city": "Paris"}, "tags": ["vip", "eu"], "note": None},
            {"name": "Bob", "active": True, "score": 4.5},
        ],
        "version": 3,
    }
    found = [(one.subject, one.predicate, one.object, one.single) for one in records(value, "crm", REFERENCE)]
    assert found == [
        ("Ana", "phone number", "555", True),
        ("Ana", "address city", "Paris", True),
        ("Ana", "tags", "vip", False),
        ("Ana", "tags", "eu", False),
        ("Bob", "active", "true", True),
        ("Bob", "score", "4.5", True),
        ("crm", "version", "3", True),
    ]


def test_a_record_and_a_sentence_share_their_slot():
    from clew.memory.knowledge.extract import Passage, extract

    [record] = records({"name": "Ana", "phone number": "555-0142"}, "x", REFERENCE)
    [said] = extract([Passage("Ana's phone number is 555-0142.")], REFERENCE).drafts
    assert (record.slot, record.value) == (said.slot, said.value)


def test_a_triple_is_taken_as_it_is():
    [draft] = records({"subject": "Ana", "predicate": "likes", "object": "tea"}, "x", REFERENCE)
    assert (draft.subject, draft.predicate, draft.object, draft.single) == ("Ana", "likes", "tea", False)
