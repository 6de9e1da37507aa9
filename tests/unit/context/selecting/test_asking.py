"""What is looked up for a turn: the task and the last three messages, in words that stand on their own."""

import pytest

from clew.context.selecting.asking import asked, is_specific
from clew.context.speech import Turn


def question(*said: str, description: str = "", looks_up_message: bool = True) -> str:
    """The question after messages that user and assistant said in turn, the user last."""
    roles = ["user", "assistant"]
    turns = [Turn(roles[(len(said) - 1 - n) % 2], text) for n, text in enumerate(said)]
    return asked(description, turns, looks_up_message=looks_up_message).text


@pytest.mark.parametrize(
    ("before", "answer", "latest", "whole"),
    [
        ("What was Q3 revenue?", "It was $5.2M.", "and in Q4?", "What was Q4 revenue?"),
        ("How many people work in Lisbon?", "Forty.", "What about Porto?", "How many people work in Porto?"),
        ("What did we spend on travel in 2023?", "$40k.", "2024?", "What did we spend on travel in 2024?"),
        ("Is the shop open on Monday?", "Yes.", "And Tuesday?", "Is the shop open on Tuesday?"),
        ("What is the churn in March?", "2%.", "for April?", "What is the churn in April?"),
    ],
)
def test_a_value_that_stands_alone_takes_the_place_of_one_of_its_kind(
    before: str, answer: str, latest: str, whole: str
) -> None:
    assert question(before, answer, latest) == whole


def test_a_pronoun_brings_what_was_asked_before_and_the_names_of_the_answer() -> None:
    text = question("Who manages the Globex account?", "That is Ana Duarte.", "Since when does she do that?")
    assert text.startswith("Since when does she do that?")
    assert "Globex" in text
    assert "Ana Duarte" in text


def test_words_without_a_verb_go_on_with_what_was_asked() -> None:
    text = question("Tell me about lisinopril", "It lowers blood pressure.", "side effects?")
    assert "side effects" in text
    assert "lisinopril" in text
    assert "Nadia Brandt" in question("Who leads the Oslo lab?", "Nadia Brandt.", "When did she join?")


def test_a_message_that_says_what_it_is_about_is_asked_alone() -> None:
    latest = "Which printer does the Lisbon warehouse use for its labels?"
    assert question("What was Q3 revenue?", "$5.2M.", latest) == latest


def test_thanks_and_wishes_beside_a_question_are_not_asked_for() -> None:
    latest = "Thanks a lot! Please answer in bullet points from now on. And in Q4?"
    assert question("What was Q3 revenue?", "$5.2M.", latest) == "What was Q4 revenue?"


def test_only_the_last_three_messages_count() -> None:
    text = question("Tell me about zebras.", "Striped.", "What was Q3 revenue?", "$5.2M.", "and why is that?")
    assert "zebra" not in text
    assert "Q3 revenue" in text


def test_a_task_that_says_something_is_asked_too_and_one_that_does_not_is_not() -> None:
    assert question("What was Q3 revenue?", description="Draft the board note") == (
        "Draft the board note\nWhat was Q3 revenue?"
    )
    assert question("What was Q3 revenue?", description="Answer the user's question.") == "What was Q3 revenue?"


def test_a_message_that_wants_nothing_leaves_the_task_alone() -> None:
    assert question("Thanks!", description="Draft the board note", looks_up_message=False) == "Draft the board note"
    assert question("Thanks!", description="Reply to the user", looks_up_message=False) == ""


@pytest.mark.parametrize(
    ("description", "specific"),
    [
        ("", False),
        ("Reply to the user", False),
        ("Respond helpfully to the customer's latest message.", False),
        ("Continue the conversation", False),
        ("Help the user with their question", False),
        ("Draft the board note", True),
        ("Tell Ana when she can print labels again", True),
        ("Answer the question about Q3", True),
    ],
)
def test_a_task_is_specific_when_it_names_something(description: str, specific: bool) -> None:
    assert is_specific(description) is specific


@pytest.mark.parametrize("text", ["?", "…", "   ", "🙂", "and", "\u200b", "a" * 5_000, "Q3 " * 3_000])
def test_no_message_is_too_odd_to_ask_about(text: str) -> None:
    assert isinstance(question("What was Q3 revenue?", "$5.2M", text), str)
