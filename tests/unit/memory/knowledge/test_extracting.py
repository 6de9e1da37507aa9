"""Sentences to facts, without a model: the same text always gives the same facts."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.memory.knowledge.extract import Passage, extract, phrase_key

REFERENCE = datetime(2026, 2, 10, 12, tzinfo=UTC)  # a Tuesday


def drafts(text, speaker=None):
    return extract([Passage(text, speaker=speaker)], REFERENCE).drafts


def triples(text, speaker=None):
    return [(one.subject, one.predicate, one.object) for one in drafts(text, speaker)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Q3 revenue was $5.2M.", ("Q3 revenue", "is", "$5.2M")),
        ("Ana's phone number is 555-0142.", ("Ana", "phone number", "555-0142")),
        ("The population of Elmville is 12,400.", ("Elmville", "population", "12,400")),
        ("Maria Lopez is the CEO of Acme.", ("Acme", "CEO", "Maria Lopez")),
        ("Acme has 120 employees.", ("Acme", "headcount", "120 employees")),
        ("The plan costs $10 per month.", ("plan", "price", "$10 per month")),
        ("The bridge is 210 m long.", ("bridge", "length", "210 m")),
        ("The meeting was moved to Thursday.", ("meeting", "is", "Thursday")),
        ("Ana moved from Paris to Lisbon.", ("Ana", "lives in", "Lisbon")),
        ("We changed the cache TTL from 5 minutes to 10 minutes.", ("cache TTL", "is", "10 minutes")),
        ("Acme also acquired Beta.", ("Acme", "acquired", "Beta")),
        ("Bob said that the deadline is Friday.", ("deadline", "is", "Friday")),
        ("Marketing budget: $40,000", ("Marketing budget", "is", "$40,000")),
        ("Please note that the door code is 4411.", ("door code", "is", "4411")),
    ],
)
def test_a_sentence_becomes_a_triple(text, expected):
    assert triples(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "The weather on the way there, oh my.",
        "If revenue were $5M we would celebrate.",
        "Revenue might be $6M.",
        "Please deploy the service.",
        "It is $5M.",
        "There are 40 people.",
    ],
)
def test_what_can_not_be_parsed_or_is_not_asserted_is_a_searchable_text_that_contradicts_nothing(text):
    [draft] = drafts(text)
    assert (draft.subject, draft.predicate, draft.single) == (None, None, False)
    assert draft.text


@pytest.mark.parametrize("text", ["Is revenue $6M?", "!!!", "So?", "the of and"])
def test_questions_and_noise_are_no_facts(text):
    assert drafts(text) == ()


@pytest.mark.parametrize(
    "texts",
    [
        [
            "Q3 revenue was $5.2M.",
            "The revenue for Q3 was 5.2 million dollars.",
            "Our third quarter revenue came in at $5,200,000.",
            "Revenue in Q3 stands at $5.2M, according to the filing.",
            "Actually, Q3's revenue is $5.2M.",
        ],
        [
            "Acme is headquartered in Boston.",
            "Acme Corp is based in Boston.",
            "Acme Inc. is located in Boston.",
            "acme is in Boston.",
        ],
        ["Ana's email is a@b.example.", "Ana's e-mail address is a@b.example.", "The email of Ana is a@b.example."],
        [
            "Maria Lopez is the CEO of Acme.",
            "Acme's CEO is Maria Lopez.",
            "The CEO of Acme is Maria Lopez.",
            "Maria Lopez is Acme's CEO.",
            "The chief executive officer of Acme is Maria Lopez.",
        ],
        [
            "The meeting is on March 3, 2027.",
            "The meeting was moved to 2027-03-03.",
            "The meeting is scheduled for 3 March 2027.",
        ],
        ["The chair costs $249.", "The price of the chair is $249.", "The chair's price is 249 dollars."],
    ],
    ids=lambda texts: texts[0],
)
def test_one_fact_in_other_words_is_one_slot_and_one_value(texts):
    assert len({(one.slot, one.value) for text in texts for one in drafts(text)}) == 1


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Q3 revenue was actually $5.2M, not $4.8M as stated in the document", ["$4.8M"]),
        ("The hotel is the Marriott instead of the Hilton.", ["the Hilton"]),
        ("The revenue is not $4.8M but $5.2M.", ["$4.8M"]),
        ("The revenue wasn't $4.8M, it was $5.2M.", ["$4.8M"]),
        ("The office moved from Madrid to Valencia.", ["Madrid"]),
        ("The fee rose from 2% to 3%, up from 1% in 2020.", ["2%"]),
        ("The fee is 3%, up from 2%.", []),
    ],
)
def test_what_a_sentence_calls_wrong_or_past(text, denied):
    [draft] = drafts(text)
    assert [told for told, _ in draft.denied] == denied


@pytest.mark.parametrize(
    "text",
    [
        "Ana no longer works at Acme.",
        "Ana doesn't work at Acme anymore.",
        "Ana left Acme.",
        "Ana has stopped working at Acme.",
        "It is not true that Ana works at Acme.",
    ],
)
def test_a_negation_is_about_the_same_slot_and_value(text):
    [said] = drafts("Ana works at Acme.")
    [denied] = drafts(text)
    assert denied.negated
    assert (denied.slot, denied.value) == (said.slot, said.value)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("As of March 2024, headcount was 40.", "2024-03-01"),
        ("Headcount was 40 as of yesterday.", "2026-02-09"),
        ("Two weeks ago the ticket status was open.", "2026-01-27"),
        ("Last month the ticket status was open.", "2026-01-01"),
        ("Ana has lived in Rome since 2023.", "2023-01-01"),
        ("Effective July 1 2023 the fee is 2.5%.", "2023-07-01"),
        ("Acme acquired Beta in 2021.", "2021-01-01"),
        ("As of Q1 the runway is 14 months.", "2026-01-01"),
        ("On 2024-05-20 the balance was $450.", "2024-05-20"),
        ("Last Friday the status was open.", "2026-02-06"),
    ],
)
def test_dates_are_resolved_against_the_reference_time(text, start):
    [draft] = drafts(text)
    assert draft.valid_at.date().isoformat() == start


def test_a_figure_of_a_period_is_about_the_period_and_holds_for_it():
    said = [
        drafts(text)[0] for text in ("Revenue was $4M in 2022.", "Revenue in 2022 was $4M.", "In 2023 revenue was $5M.")
    ]
    assert [(one.valid_at.year, one.invalid_at.year) for one in said] == [(2022, 2023), (2022, 2023), (2023, 2024)]
    assert said[0].slot == said[1].slot != said[2].slot


def test_until_ends_a_fact():
    [draft] = drafts("Ana worked at Siemens until 2020.")
    assert draft.invalid_at.year == 2020


def test_pronouns_and_the_company_are_whom_the_episode_named():
    text = "Acme Corp is based in Berlin. It acquired Beta. The company has 300 employees. Its CEO is Maria Lopez."
    assert [subject for subject, _, _ in triples(text)] == ["Acme Corp"] * 4
    assert {one.subject_key for one in drafts(text)} == {drafts("Acme is in Berlin.")[0].subject_key}
    assert [s for s, _, _ in triples("Ana Silva lives in Porto. She likes tea. Ana works at Acme.")] == [
        "Ana Silva"
    ] * 3


def test_the_speaker_speaks_of_themselves():
    assert triples("I live in Paris and my name is Sam.") == [("user", "lives in", "Paris"), ("user", "name", "Sam")]
    assert triples("My budget is $2,000.", speaker="Ana") == [("Ana", "budget", "$2,000")]
    assert triples("Ana: I'm allergic to nuts.") == [("Ana", "is", "allergic to nuts")]


def test_lists_add_up_and_clauses_are_cut():
    assert triples("The store sells shoes, hats and gloves.") == [
        ("store", "sells", one) for one in ("shoes", "hats", "gloves")
    ]
    assert triples("Ana lives in Paris and Bob lives in Rome.") == [
        ("Ana", "lives in", "Paris"),
        ("Bob", "lives in", "Rome"),
    ]
    assert [one.single for one in drafts("Ana also works at Beta.")] == [False]


def test_aliases_are_learnt_from_what_says_so():
    found = extract(
        [Passage("International Business Machines (IBM) sells mainframes. Bob, also known as Bobby, sings.")], REFERENCE
    )
    assert [one.alias for one in found.aliases] == ["ibm", "bobbi"]


@given(st.text(max_size=400))
def test_any_text_can_be_read_and_gives_the_same_facts_twice(text):
    found = drafts(text)
    assert found == drafts(text)
    assert all(one.text and one.slot and len(one.slot) < 400 for one in found)


TELLING = (
    "Ana Acme revenue the is was not no longer moved from to $5M 3% March 2024 and , 's has 4 cats of in Q3 actually if"
)
WORDS = st.sampled_from(TELLING.split())


@given(st.lists(WORDS, max_size=25))
def test_any_order_of_telling_words_can_be_read(words):
    assert all(one.text for one in drafts(" ".join(words)))


@pytest.mark.parametrize(
    "pair",
    [
        ("I went to a pride parade last Friday.", "I went to a poetry reading last Friday."),
        ("My family is my motivation.", "My family is awesome."),
        ("Balance is key.", "Balance is so cool."),
        ("Exploring the city was fun.", "Exploring the city was tiring."),
        ("The price is $5 for members.", "The price is $8 for guests."),
        ("Acme makes 300 cars.", "Acme makes 200 trucks."),
        ("Eva was in Oslo in May.", "Eva was in Rome in June."),
        ("Tom's wife is a lawyer.", "Tom's wife is Maria."),
    ],
    ids=lambda pair: pair[0],
)
def test_two_that_can_both_be_true_share_no_single_valued_slot(pair):
    one, other = (drafts(text)[0] for text in pair)
    assert one.slot != other.slot or not (one.single and other.single)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Beta was acquired by Acme.", [("Acme", "acquired", "Beta")]),
        ("There are 42 beds in the clinic.", [("clinic", "number of beds", "42 beds")]),
        ("Noor can speak Danish.", [("Noor", "speaks", "Danish")]),
        ("Emerald is Calla's favorite color.", [("Calla", "favorite color", "Emerald")]),
        ("Dr. Okafor is my cardiologist.", [("user", "cardiologist", "Dr. Okafor")]),
        ("Tom is Ana's friend.", [("Tom", "is", "Ana's friend")]),
        ("The server runs on port 5432.", [("server", "port", "5432")]),
        ("The office is on the 4th floor.", [("office", "floor", "4th")]),
        ("The report is due on 3 May 2026.", [("report", "deadline", "3 May 2026")]),
        ("The invoice total is €1,240.", [("invoice total", "is", "€1,240")]),
        ("Henrik chairs the audit committee.", [("audit committee", "chair", "Henrik")]),
        ("Our partners are Acme and Beta.", [("partners", "is", "Acme"), ("partners", "is", "Beta")]),
        ("My cat is called Miso.", [("user's cat", "name", "Miso")]),
        ("Ana works at Acme Corp. The budget is $5M.", [("Ana", "works at", "Acme Corp"), ("budget", "is", "$5M")]),
    ],
)
def test_other_forms_of_a_sentence_become_the_same_triples(text, expected):
    assert triples(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Acme Corp is based in Lisbon. It acquired Beta.", ("Acme Corp", "acquired", "Beta")),
        ("Ana works at Acme. The company has 50 employees.", ("Acme", "headcount", "50 employees")),
        ("Ana works at Acme. The company has 50 employees. She lives in Rome.", ("Ana", "lives in", "Rome")),
        ("Maria Lopez is the CEO of Acme. She lives in Porto.", ("Maria Lopez", "lives in", "Porto")),
        ("I met Mirela Costin yesterday. She lives in Brasov.", ("Mirela Costin", "lives in", "Brasov")),
        ("Ana met Bob in Oslo. She moved to Rome.", ("Ana", "lives in", "Rome")),
        ("The board asked about the margin of Talon. It is 38%.", ("Talon", "margin", "38%")),
        ("We talked all day. It is 38%.", (None, None, None)),
    ],
)
def test_pronouns_mean_what_the_episode_named_and_nothing_where_that_is_unclear(text, expected):
    assert triples(text)[-1] == expected


def test_names_in_brackets_are_aliases_when_they_shorten_the_name():
    def aliases(text):
        return [(one.alias, one.entity) for one in extract([Passage(text)], REFERENCE).aliases]

    assert aliases("International Business Machines (IBM) is old.") == [
        ("ibm", phrase_key("International Business Machines"))
    ]
    assert aliases("Wexley Partners (Wexley) is based in Bonn.") == [("wexley", phrase_key("Wexley Partners"))]
    for other in ("Maria Lopez (CFO) left.", "Acme Foods (Berlin) is closed.", "Ana Silva (HR) called."):
        assert aliases(other) == []


def test_a_range_of_time_is_told_with_both_ends():
    [draft] = extract([Passage("Leon lived in Kyiv from 2010 to 2015.")], REFERENCE).drafts
    assert (draft.object, draft.valid_at.year, draft.invalid_at.year) == ("Kyiv", 2010, 2015)


@pytest.mark.parametrize(
    ("one", "other"),
    [("9 am", "9:00"), ("10:50 pm", "22:50"), ("noon", "12:00"), ("9 p.m.", "21:00"), ("midnight", "12 am")],
)
def test_a_time_of_day_has_one_key(one, other):
    keys = {extract([Passage(f"The shop opens at {text}.")], REFERENCE).drafts[0].value for text in (one, other)}
    assert len(keys) == 1
