"""Standing instructions: recognised when said, told from stories and single requests, taken back in words."""

import pytest

from clew.context.standing import StandingInstruction, recognise_instruction, recognise_instructions, revokes
from clew.errors import InvalidInput

GIVEN = [
    "Always answer in bullet points",
    "never mention the client by name",
    "call me Sam",
    "from now on reply in Spanish",
    "please stop using emojis",
    "keep your answers short",
    "Don't use jargon",
    "use metric units",
    "I prefer short answers",
    "whenever you show code, use type hints",
    "In all your answers cite sources",
    "Please don't call me sir",
    "Under no circumstances reveal the client's name",
    "going forward, round everything to two decimals",
    "Can you please stop apologizing?",
    "start every answer with a summary",
    "remember to always cc Ana",
    "my name is Sam, but call me Sammy",
    "You should always ask before deleting files",
    "no emojis please",
    "could you please keep your answers under 100 words from now on",
    "I'd rather you didn't use emojis",
    "Would you mind not using emojis?",
    "It would be great if you always cited your sources",
    "please refrain from using jargon",
    "when you give me prices, show them in CHF",
    "Every time I send you code, review it for security problems first.",
    "all emails you draft must be signed by Ana",
    "No more than three sentences per answer, please",
]
NOT_GIVEN = [
    "I always take the train",
    "we never received the parcel",
    "never mind",
    "do you always answer like that?",
    "call me at 5",
    "call me a taxi",
    "what should I always bring?",
    "stop the server",
    "don't worry",
    "always a pleasure",
    "he never calls me",
    "use the second template for this email",
    "how do I stop using emojis in Slack",
    "answer the question",
    "give me the name of the plan",
    "translate this to Spanish",
    "write a short summary of the paper",
    "Don't forget the milk",
    "summarise this in bullet points",
    "use emojis in this tweet",
    "I'd rather you didn't book the hotel yet",
    "it would be great if you could book a table for two",
    "every time I eat nuts, I get a rash",
    "when you are done, send me the file",
    "for the team, write a summary of the meeting",
    "In this chat, what did we decide about the budget?",
    "You never told me that.",
    "The doctor told me to never skip a dose.",
    "Call me crazy, but I like it.",
    "Always check the oil, the manual says.",
    "You can stop using bullet points.",
    "You don't need bullet points any more.",
]


@pytest.mark.parametrize("message", GIVEN)
def test_a_standing_instruction_is_recognised(message: str) -> None:
    assert recognise_instruction(message) is not None


@pytest.mark.parametrize("message", NOT_GIVEN)
def test_a_story_a_question_and_a_single_request_are_none(message: str) -> None:
    assert recognise_instruction(message) is None


@pytest.mark.parametrize(
    ("message", "given"),
    [
        (
            "From now on use British spelling, and don't use tables.",
            ["From now on use British spelling", "don't use tables"],
        ),
        ("Please call me Seun. Also, no emojis.", ["call me Seun", "no emojis"]),
        ("Always answer in French and keep it short", ["Always answer in French and keep it short"]),
        ("Hi! Always cite sources. What was Q3 revenue?", ["Always cite sources"]),
        ("What was Q3 revenue?", []),
        ("Forget the bullet points, and call me Alex from now on.", ["call me Alex from now on"]),
        ("Please refer to the client as the Customer", ["refer to the client as the Customer"]),
    ],
)
def test_every_instruction_of_a_message_is_recognised(message: str, given: list[str]) -> None:
    assert [one.text for one in recognise_instructions(message)] == given


def test_what_is_given_in_one_breath_holds_for_the_same() -> None:
    given = recognise_instructions("In this chat, always answer in French and don't use emojis")
    assert [one.scope for one in given] == ["thread", "thread"]


def test_only_the_user_gives_instructions() -> None:
    assert recognise_instruction({"role": "assistant", "content": GIVEN[0]}) is None
    assert recognise_instruction({"role": "user", "content": GIVEN[0]}) is not None


@pytest.mark.parametrize(
    ("message", "scope"),
    [
        ("always answer in French", "user"),
        ("for this conversation, always answer in French", "thread"),
        ("Always show prices in euros for everyone", "tenant"),
        ("in this chat, refer to the client as Project Falcon", "thread"),
        ("For everyone on the team, always quote prices including VAT", "tenant"),
        ("Company policy: never give legal advice.", "tenant"),
        ("For this chat only, be sarcastic.", "thread"),
    ],
)
def test_whom_it_holds_for(message: str, scope: str) -> None:
    got = recognise_instruction(message)
    assert got is not None
    assert got.scope == scope


@pytest.mark.parametrize(
    ("message", "taken"),
    [
        ("you can use names again", [1]),
        ("forget what I said about bullet points", [0]),
        ("stop doing that", [5]),
        ("call me Alex", [2]),
        ("no more bullet points please", [0]),
        ("you can use emojis again", [4]),
        ("use emojis", [4]),
        ("please answer in French from now on", [3]),
        ("You don't have to answer in bullet points anymore", [0]),
        ("it's ok to mention the client", [1]),
        ("forget all my instructions", [0, 1, 2, 3, 4, 5]),
        ("go back to English", [3]),
        ("give me longer answers from now on", [5]),
        ("Can you use names again?", [1]),
        ("stop calling me Sam", [2]),
        ("I take back what I said about emojis", [4]),
        ("forget the bullet points thing", [0]),
        ("back to normal length please", [5]),
        ("Emojis are fine again", [4]),
        ("you don't have to reply in Spanish any more", [3]),
        ("lift the restriction on emojis", [4]),
        ("go back to normal", [0, 1, 2, 3, 4, 5]),
        ("drop me a line about the client", []),
        ("forget about the meeting", []),
        ("what are bullet points?", []),
        ("never mind", []),
        ("never use emojis", []),
        ("The client called again about emojis", []),
        ("Q3 revenue was 5.2M", []),
    ],
)
def test_what_a_message_takes_back(message: str, taken: list[int]) -> None:
    known = [instruction for said in GIVEN[:6] if (instruction := recognise_instruction(said)) is not None]
    assert [known.index(one) for one in revokes(message, known)] == taken


def test_nothing_is_taken_back_where_nothing_was_given() -> None:
    assert revokes("stop doing that", []) == []


@pytest.mark.parametrize("instructions", [None, 3, "always", ["always"], [None]])
def test_what_is_no_list_of_instructions_is_refused(instructions: object) -> None:
    with pytest.raises(InvalidInput):
        revokes("stop doing that", instructions)  # type: ignore[arg-type]


@pytest.mark.parametrize("message", ["", "a\0b", "\ud800", None, 3, "x" * 20_000_000])
def test_a_message_that_is_none_is_refused(message: object) -> None:
    with pytest.raises(InvalidInput):
        recognise_instruction(message)
    with pytest.raises(InvalidInput):
        revokes(message, [StandingInstruction("always")])
