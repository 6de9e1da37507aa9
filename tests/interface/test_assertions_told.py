"""What a message tells, read together with the turns before it: other people's messages."""

from typing import Any

import pytest

import clew

from .conftest import assistant, user

CHEN = [assistant("The appointment with Dr. Chen is on Tuesday at 10.")]

STATED = [
    "The patient was discharged on Tuesday.",
    "FYI the API key rotation happens every 90 days.",
    "Dr. Chen's clinic closes at 6pm on Fridays.",
    "Our SLA is 99.95%.",
    "My daughter's name is Lena.",
    "I moved to Toronto last year.",
    "The invoice number is INV-2044.",
    "we switched from Jenkins to GitHub Actions",
    "Her blood type is O negative.",
    "The hotel offers free parking.",
    "I work as a nurse at St. Mary's.",
    "The contract expires on 31 December 2027.",
    "I've been taking metformin since 2019.",
    "Just so you know, the VPN is called Orchid.",
    "My booking reference is XK29QP.",
    "I don't eat meat.",
    "The bug only occurs on Windows.",
    "Note that the deadline is Friday.",
]
NOT_STATED = [
    "Could the patient be discharged on Tuesday?",
    "I wonder when the clinic closes.",
    "Let's move the meeting to Friday.",
    "Maybe we should use GitHub Actions.",
    "It would be great if the SLA were 99.99%.",
    "Imagine our office was in Berlin.",
    "That's interesting.",
    "I don't understand.",
    "Sounds good to me.",
    "I love this place!",
    "I hope the deal closes by Friday.",
    "I hope it rains tomorrow.",
    "I'm planning a trip to Peru in May.",
    "My question is about the deadline.",
    "We plan to hire ten people.",
    "Assume the deposit is 300 euros.",
    "Book the hotel with free parking.",
    "Your answer was too long.",
    "If Ben left in March, who runs payroll?",
    "Is it true that Ben left in March",
    "so the contract expires in 2027, right?",
    "Remind me to call Ben.",
    "Write: our SLA is 99.95%.",
]


@pytest.mark.parametrize("message", STATED)
def test_stated(message):
    found = clew.detect_assertion(message)
    assert found is not None
    assert (found.source_type, found.confidence) in {("new_info", 0.85), ("correction", 0.95)}


@pytest.mark.parametrize("message", NOT_STATED)
def test_not_stated(message):
    assert clew.detect_assertion(message) is None


CORRECTS = {
    "Sorry, I meant Wednesday.": "Wednesday",
    "no, Wednesday": "Wednesday",
    "Not Tuesday, Wednesday.": "Wednesday",
    "That's not right, it's Wednesday.": "Wednesday",
    "Almost: it's at 11.": "11",
    "Yes, but it's at 11.": "11",
    "Yes, but at 11.": "11",
}


@pytest.mark.parametrize("message", CORRECTS)
def test_a_correction_of_what_was_just_said(message):
    found = clew.detect_assertion(message, CHEN)
    assert found is not None
    assert (found.source_type, found.confidence) == ("correction", 0.95)
    assert "Dr. Chen" in found.content
    assert CORRECTS[message] in found.content


@pytest.mark.parametrize(
    "message", ["Yes, on Wednesday.", "Yes, Wednesday at 10.", "Yes, but it's at 11.", "Yes, but at 11."]
)
def test_a_yes_with_another_value_confirms_nothing_that_was_said(message):
    """Whatever else is made of it, the value that the user replaced is not confirmed."""
    found = clew.detect_assertion(message, CHEN)
    assert found is None or found.content != "The appointment with Dr. Chen is on Tuesday at 10."
    control = clew.detect_assertion("Yes, that's right.", CHEN)
    assert control is not None
    assert control.content == "The appointment with Dr. Chen is on Tuesday at 10."


@pytest.mark.parametrize("message", ["so it's on Tuesday at 10", "Tuesday at 10, got it.", "I see, Tuesday at 10."])
def test_the_agents_words_repeated_back_tell_nothing(message):
    assert clew.detect_assertion(message, CHEN) is None


def test_a_question_that_is_answered_stands_on_its_own():
    found = clew.detect_assertion("No, A positive.", [assistant("Is your blood type O negative?")])
    assert found is not None
    assert "A positive" in found.content
    assert "?" not in found.content
    assert "Is my blood type O negative" not in found.content


TALKS: dict[str, Any] = {
    "it, answered in full": [
        user("What was Q3 revenue?"),
        assistant("Q3 revenue was $4.8M."),
        user("No, it was $5.2M."),
    ],
    "it, answered with it": [user("What was Q3 revenue?"), assistant("It was $4.8M."), user("No, it was $5.2M.")],
    "it, answered in a word": [user("What was Q3 revenue?"), assistant("$4.8M"), user("That's wrong. It's $5.2M.")],
    "that figure": [
        user("What was Q3 revenue?"),
        assistant("According to the report it was $4.8M."),
        user("That figure is wrong, it was $5.2M."),
    ],
    "one of two": [
        user("What were the revenues?"),
        assistant("Q2 revenue was $4.1M, and Q3 revenue was $4.8M."),
        user("No, Q3 revenue was $5.2M."),
    ],
    "half of one of two": [
        user("What were the revenues?"),
        assistant("Q2 revenue was $4.1M, and Q3 revenue was $4.8M."),
        user("No, Q3 was $5.2M."),
    ],
    "with a question": [user("Q3 revenue was actually $5.2M, not $4.8M. Can you update the note?")],
    "after a question": [user("Can you update the note? Q3 revenue was actually $5.2M, not $4.8M.")],
}


@pytest.mark.parametrize("talk", TALKS)
async def test_a_talk_that_corrects_a_document_closes_what_it_said(engine, tenant, talk):
    acme = engine.tenant(tenant)
    await acme.learn("Q3 report", "Q3 revenue was $4.8M.", reference_time="2026-04-01")
    thread = acme.thread("a")
    for message in TALKS[talk]:
        await thread.append(message)
    states = {fact.object: fact.superseded for fact in await acme.history("Q3 revenue")}
    assert states == {"$4.8M": True, "$5.2M": False}


BESIDE = {
    "a question after": "The Orion launch moved to June 9. Can someone check the slides?",
    "a question before": "Can someone check the slides? The Orion launch moved to June 9.",
    "much around it": "Hi team! Quick update. The Orion launch moved to June 9. Any questions? Thanks!",
    "an opinion": "The Orion launch moved to June 9, but I think that's too early.",
    "a command": "The Orion launch moved to June 9. Please check the slides.",
    "a heads-up": "Just a heads-up, the Orion launch moved to June 9.",
    "an update": "Quick update: the Orion launch moved to June 9.",
}


@pytest.mark.parametrize("case", BESIDE)
async def test_a_fact_beside_something_else_is_known(engine, tenant, case):
    acme = engine.tenant(tenant)
    await acme.learn("plan", "The Orion launch is on May 3.", reference_time="2026-04-01")
    await acme.thread("a").append(user(BESIDE[case]))
    held = await acme.history("the Orion launch")
    assert [fact.superseded for fact in held] == [True, False]
    assert "June 9" in held[-1].text
    assert "slides" not in str(held)


async def test_two_corrections_in_one_sentence_are_two(engine, tenant):
    acme = engine.tenant(tenant)
    await acme.learn("plan", "The launch is on June 9. The budget is $2.1M.", reference_time="2026-04-01")
    await acme.thread("a").append(
        user("Two corrections: the launch is on June 10, not June 9, and the budget is $2.5M.")
    )
    for subject, now in (("launch", "June 10"), ("budget", "$2.5M")):
        holds = [fact.text for fact in await acme.history(subject) if not fact.superseded]
        assert len(holds) == 1, (subject, holds)
        assert now in holds[0]


async def test_a_confirmation_supports_what_was_known(engine, tenant):
    acme = engine.tenant(tenant)
    await acme.learn("Q3 report", "Q3 revenue was $4.8M.", reference_time="2026-04-01")
    thread = acme.thread("a")
    await thread.append([user("What was Q3 revenue?"), assistant("Q3 revenue was $4.8M.")])
    await thread.append(user("Yes, that figure is right."))
    [fact] = await acme.facts("Q3 revenue")
    assert (fact.object, fact.superseded) == ("$4.8M", False)
    assert fact.confidence >= 0.9
    assert {source.thread_id for source in fact.sources} == {None, "a"}
