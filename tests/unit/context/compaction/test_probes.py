"""Which details are taken from what is said, and when a text still has them."""

import pytest

from clew.context.compaction import Probe, kept, probes
from clew.messages import Message

from .logs import calls, result, said


def found(text: str) -> set[tuple[str, str]]:
    return {(probe.kind, probe.text) for probe in probes([text])}


@pytest.mark.parametrize(
    ("text", "kind", "detail"),
    [
        ("Q3 revenue was $5.2M", "number", "$5.2M"),
        ("it takes 250 ms", "number", "250 ms"),
        ("a 12.5% share", "number", "12.5%"),
        ("for 3 passengers", "number", "3 passengers"),
        ("the code is 4182", "number", "4182"),
        ("it cost 1,204.50 in all", "number", "1,204.50"),
        ("due on 2024-05-27", "date", "2024-05-27"),
        ("on May 27, please", "date", "May 27"),
        ("on 3 June 2025", "date", "3 June 2025"),
        ("departs at 04:30 PM", "date", "04:30 PM"),
        ("edit src/clew/engine.py now", "path", "src/clew/engine.py"),
        ("see /var/log/app.log", "path", "/var/log/app.log"),
        ("open setup.cfg", "path", "setup.cfg"),
        ("user sofia_kim_7287", "id", "sofia_kim_7287"),
        ("reservation OBUT9V", "id", "OBUT9V"),
        ("reservation 4NQLHD", "id", "4NQLHD"),
        ("flight HAT084", "id", "HAT084"),
        ("commit 8da0b9b215ebf", "id", "8da0b9b215ebf"),
        ("mail ana@example.org", "id", "ana@example.org"),
        ("at https://example.org/a?b=1.", "url", "https://example.org/a?b=1"),
        ("from Denver to us", "name", "Denver"),
        ("Mei Patel will fly", "name", "Mei Patel"),
        ("Never deploy on a Friday.", "instruction", "Never deploy on a Friday."),
        ("From now on answer in French.", "instruction", "From now on answer in French."),
        ("Please don't touch the database.", "instruction", "Please don't touch the database."),
        ("You must not exceed the budget.", "instruction", "You must not exceed the budget."),
    ],
)
def test_a_detail_is_found_with_its_kind(text, kind, detail):
    assert (kind, detail) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "1. First\n2. Second",
        "273:    return None",
        "I don't remember it, sorry.",
        "I never received anything.",
        "Never mind.",
        "There must be a mistake.",
        "The order is here. Please wait.",
        "**Flight Number:** see below",
    ],
)
def test_what_says_nothing_that_must_be_kept_gives_no_details(text):
    assert found(text) == set()


def test_of_messages_what_people_and_calls_say_counts_and_what_tools_return_does_not():
    messages = [
        said("user", "Is it 4182?"),
        calls("a", 1, "ORD-77"),
        result("a", 0, "it was 9999"),
        said("system", "5151"),
    ]
    texts = {probe.text for probe in probes(messages)}
    assert "4182" in texts
    assert any("ORD-77" in text for text in texts)
    assert not {"9999", "5151"} & texts


def test_a_number_of_a_result_counts_when_the_assistant_repeats_it():
    messages = [result("a", 0, "it was 9999"), said("assistant", "They found 9999.")]
    assert Probe("number", "9999") in probes(messages)


def test_only_the_user_instructs():
    assert not probes([said("assistant", "You must never do that.")])
    assert probes([said("user", "You must never do that.")])


@pytest.mark.parametrize(
    ("kind", "detail", "text"),
    [
        ("date", "2024-05-27", "it leaves on May 27"),
        ("date", "May 27", "it leaves on 2024-05-27"),
        ("date", "27 May 2024", "May 27th, 2024"),
        ("date", "04:30 PM", "at 16:30"),
        ("number", "$1,204.50", "about $1204.50 in all"),
        ("number", "5 hours", "a 5-hour trip"),
        ("number", "112", "for $112"),
        ("name", "Sofia Kim", "Kim, Sofia"),
        ("id", "obut9v", "OBUT9V"),
        ("path", "src/a.py", "in /repo/src/a.py"),
    ],
)
def test_a_detail_in_another_spelling_is_kept(kind, detail, text):
    assert kept(Probe(kind, detail), text)


@pytest.mark.parametrize(
    ("kind", "detail", "text"),
    [
        ("number", "12", "in 2012"),
        ("number", "5", "5.2 apples"),
        ("number", "$5.2M", "$5.2k"),
        ("number", "250 ms", "250 kg"),
        ("date", "2024-05-27", "2023-05-27"),
        ("date", "04:30 PM", "at 04:30 AM"),
        ("id", "HAT08", "HAT084"),
        ("name", "Sofia Kim", "Sofia Lee"),
        ("instruction", "Never deploy on a Friday.", "They deploy on a Friday."),
    ],
)
def test_a_detail_that_only_looks_alike_is_not_kept(kind, detail, text):
    assert not kept(Probe(kind, detail), text)


def test_a_document_gives_no_more_details_than_a_summary_can_hold_but_all_its_instructions():
    text = " ".join(f"item{n}x costs ${n}." for n in range(100, 400)) + "\nNever sell item {9}."
    all_of = probes([Message(role="user", content=text)])
    assert len([probe for probe in all_of if probe.kind != "instruction"]) == 40
    assert [probe.text for probe in all_of if probe.kind == "instruction"] == ["Never sell item {9}."]
