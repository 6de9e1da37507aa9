"""What a message wants: on labelled messages, on CLINC150, and in the cases that are easy to get wrong."""

import copy
import json
import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.context.labelled import CLINC, GREETINGS, SMALL_TALK, clinc, labelled, message_of

from clew.context.intent import Intent, classify_intent
from clew.errors import InvalidInput
from clew.messages import Message

BAD = [
    "",
    "   ",
    "a\0b",
    "\ud800",
    7,
    None,
    b"hi",
    ["hi"],
    {"role": "user"},
    {"role": "nobody", "content": "x"},
    "x" * 20_000_000,
]


@pytest.mark.parametrize("held_out", [False, True])
def test_intent_is_right_on_labelled_messages(held_out: bool) -> None:
    rows = labelled(held_out=held_out)
    wrong = [
        row["message"] for row in rows if classify_intent(message_of(row), row.get("history", ())) != row["intent"]
    ]
    assert len(wrong) <= 0.05 * len(rows), wrong


@pytest.mark.skipif(not CLINC.exists(), reason="CLINC150 is not at hand")
def test_greetings_skip_the_look_up_and_questions_do_not() -> None:
    said = clinc()
    greetings = [text for text, label in said if label in GREETINGS]
    others = [text for text, label in said if label not in SMALL_TALK]
    looked_up = [text for text in greetings if classify_intent(text).needs_lookup]
    skipped = [text for text in others if not classify_intent(text).needs_lookup]
    assert len(looked_up) <= 0.05 * len(greetings), looked_up
    assert len(skipped) <= 0.03 * len(others), skipped


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("thanks, and what about Q4?", "factual"),
        ("hi! please draft a toast", "task"),
        ("👍", "greeting"),
        ("heyyyy", "greeting"),
        ("Are you a bot?", "meta"),
        ("what did I tell you about my budget last week", "factual"),
        ("¿Cuál es el saldo?", "factual"),
        ("Danke schön", "greeting"),
        ("order 4471 hasn't arrived", "factual"),
        ("order 20 more of them", "task"),
        ("Always answer in bullet points", "meta"),
        ("you can use names again", "meta"),
        ("what did I just ask?", "meta"),
        ("how do you work?", "meta"),
        ("Thanks to Dana we closed the deal on Friday", "factual"),
        ("thnks", "greeting"),
        ("reroute shipment 4410 via Antwerp", "task"),
        ("my card was stolen, block it", "task"),
        ("Correct, the budget is 40k", "factual"),
        ('translate "where is the station?"', "task"),
        ({"role": "tool", "tool_call_id": "call-1", "content": "Hello"}, "factual"),
        ("```python\nprint(1)\n```", "factual"),
    ],
)
def test_what_a_message_wants(message: object, kind: str) -> None:
    assert classify_intent(message) == kind


@pytest.mark.parametrize(
    ("about_the_talk", "about_something"),
    [
        ("did you read what I sent you", "did you read what Ana sent you"),
        ("repeat my question", "repeat the order"),
        ("what was your first suggestion?", "what was the lawyer's first suggestion?"),
        ("that's not the answer I wanted", "that's not the colour I wanted"),
        ("keep it short", "keep it in the fridge"),
        ("you talk too much", "you charge too much for shipping"),
        ("can we continue in Polish?", "can we pay in Polish currency?"),
        ("I changed my mind, ignore that", "I changed my address, update that"),
        ("start a new conversation", "start a new spreadsheet"),
        ("you're being rude", "your invoice is wrong"),
        ("what model is this?", "what model is this car?"),
        ("ignore my last message", "draft a reply to this message"),
    ],
)
def test_talk_about_the_talk_names_nothing_outside_of_it(about_the_talk: str, about_something: str) -> None:
    assert classify_intent(about_the_talk) == "meta"
    assert classify_intent(about_something).needs_lookup


@pytest.mark.parametrize(
    ("courtesy", "content"),
    [
        ("sorry to bother you", "sorry for the mix-up, the meeting is on Monday"),
        ("what a lovely day", "what a widget is"),
        ("happy new year to you and your team", "happy new year flights to Rome"),
        ("wow, impressive", "too expensive"),
        ("I'm impressed", "I'm insured with Allianz"),
    ],
)
def test_a_courtesy_looks_nothing_up_and_what_comes_with_it_does(courtesy: str, content: str) -> None:
    assert classify_intent(courtesy) == "greeting"
    assert classify_intent(content).needs_lookup


@pytest.mark.parametrize(
    "message", ["work out how much paint I need", "can you help me with my taxes?", "ask Maria whether she can come"]
)
def test_a_request_that_holds_a_question_is_a_task(message: str) -> None:
    assert classify_intent(message) == "task"


def test_a_yes_means_what_was_asked() -> None:
    offer = [{"role": "assistant", "content": "Shall I book it?"}]
    asked = [{"role": "assistant", "content": "Is your order number 5518?"}]
    assert classify_intent("yes please", offer) == "task"
    assert classify_intent("yes", asked) == "factual"
    assert classify_intent("sure, the second one", offer) == "task"
    assert classify_intent("That's correct, thanks", asked) == "factual"
    assert classify_intent("thanks", asked) == "greeting"


def test_every_form_of_a_message_is_read_alike() -> None:
    said = "what was Q3 revenue"
    forms = [said, {"role": "user", "content": said}, Message(role="user", content=said)]
    assert {classify_intent(form, forms) for form in forms} == {"factual"}
    assert classify_intent({"role": "user", "content": [{"type": "text", "text": said}]}) == "factual"


def test_an_intent_is_a_frozen_text_that_survives_copies() -> None:
    intent = classify_intent("hello")
    assert intent == "greeting"
    assert not intent.needs_lookup
    assert 0 < intent.confidence <= 1
    assert intent.reason
    assert json.dumps({"intent": intent}) == '{"intent": "greeting"}'
    for other in (copy.deepcopy(intent), pickle.loads(pickle.dumps(intent))):  # noqa: S301
        assert (other, other.confidence, other.reason) == (intent, intent.confidence, intent.reason)
    with pytest.raises(AttributeError):
        intent.confidence = 0.1
    assert Intent("task").needs_lookup


@pytest.mark.parametrize("message", BAD)
def test_a_message_that_is_none_is_refused(message: object) -> None:
    with pytest.raises(InvalidInput):
        classify_intent(message)


@pytest.mark.parametrize("history", ["hi", b"hi", 3, None, {"role": "user"}, [3], [None], ["a\0"], [{"role": "user"}]])
def test_a_history_that_is_none_is_refused(history: object) -> None:
    with pytest.raises(InvalidInput):
        classify_intent("hi", history)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_any_text_has_an_intent_and_always_the_same(text: str) -> None:
    if text.strip():
        assert classify_intent(text) == classify_intent(text)


def test_no_text_takes_long() -> None:
    for text in (
        "hi," * 2000,
        "1," * 3000,
        "how are you " * 500,
        "x is not y but " * 400,
        "call me " * 800,
        " " * 5000 + "x",
    ):
        start = time.perf_counter()
        classify_intent(text)
        assert time.perf_counter() - start < 1
