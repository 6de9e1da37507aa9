"""Select, as somebody outside expects it: looked up only when it helps, shown with sources and dates, within bounds."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import clew

from .conftest import assistant, entry, user

TASK = {"description": "Answer the user."}

INTENTS = {
    "greeting": [
        "hi",
        "Hello there!",
        "good evening",
        "thanks a lot!",
        "Thank you so much, that's perfect",
        "bye for now",
    ],
    "meta": ["what did I just ask you?", "Can you summarise our conversation so far?", "what can you do?"],
    "factual": [
        "What was Q3 revenue?",
        "thanks, and what was Q4 revenue?",
        "when does the pharmacy on Elm Street close",
        "Who approved the Rotterdam contract?",
        "how many seats are left on the 7:40 to Oslo?",
        "Welche Dosis bekommt Frau Meier?",
    ],
    "task": [
        "Draft the board note",
        "Please write a unit test for the parser.",
        "book me a table for four at eight",
        "Refund order 4411 and tell the customer.",
    ],
}


@pytest.mark.parametrize(("intent", "message"), [(k, m) for k, many in INTENTS.items() for m in many])
def test_intents(intent, message):
    found = clew.classify_intent(message)
    assert found == intent
    assert isinstance(found, clew.Intent)
    assert 0 < found.confidence <= 1
    assert found.reason
    assert clew.classify_intent(user(message)) == intent


def test_an_ellipsis_takes_its_intent_from_what_was_asked():
    history = [user("What was Q3 revenue?"), assistant("$5.2M.")]
    assert clew.classify_intent("and in Q4?", history) == "factual"


def test_obvious_ones_take_no_time():
    def best(message: str) -> float:
        took = []
        for _ in range(200):
            start = time.perf_counter()
            clew.classify_intent(message)
            took.append(time.perf_counter() - start)
        return sorted(took)[len(took) // 2]

    assert best("hello!") < 0.001
    assert best("Could you maybe look into why the quarterly figures for the Porto office differ?") < 0.005


@pytest.fixture
def compiled(sessions, manager, tenant) -> Any:
    """What `compile_working_context` of a manager of three parts makes of some messages."""

    async def compiled(
        messages: Any, thread_id: str = "t", system: str = "Be brief.", task: Any = TASK
    ) -> dict[str, Any]:
        await sessions.append(thread_id, messages, tenant_id=tenant)
        return await manager.compile_working_context(tenant, thread_id, task, system)

    return compiled


@pytest.fixture
async def kb(database) -> Any:
    async with clew.KnowledgeBase(database) as knowledge:
        yield knowledge


async def learn(kb: Any, tenant: str, name: str, text: str, when: str) -> Any:
    return await kb.add_episode(name, text, reference_time=when, tenant_id=tenant)


async def test_greetings_and_meta_look_nothing_up(kb, tenant, compiled):
    await learn(kb, tenant, "figures", "Good morning is the name of our Q3 newsletter.", "2026-04-01")
    for thread, message, intent in (("a", "Good morning!", "greeting"), ("b", "what did I just ask you?", "meta")):
        made = await compiled(user(message), thread)
        looked = made["manifest"]["selection"]
        assert (looked["intent"], looked["looked_up"]) == (intent, False)
        assert made["context"] == ""
    asked = await compiled(user("What is the name of our newsletter?"), "c")
    assert asked["manifest"]["selection"]["looked_up"] is True
    assert "Good morning is the name" in asked["context"]


async def test_a_task_is_looked_up_whatever_was_said_last(kb, tenant, compiled):
    await learn(kb, tenant, "minutes", "The board note goes to Ms Okafor.", "2026-04-01")
    made = await compiled(user("Thanks!"), task={"description": "Draft the board note"})
    assert "Okafor" in made["context"]


async def test_the_block_has_sources_dates_and_superseded_last(kb, tenant, compiled):
    await learn(kb, tenant, "Q3 report", "Q3 revenue was $4.8M.", "2026-04-01")
    await learn(kb, tenant, "audit letter", "Q3 revenue was $5.2M, not $4.8M.", "2026-05-01")
    made = await compiled(user("What was Q3 revenue?"))
    context = made["context"]
    for word in ("Q3 report", "audit letter", "2026-04-01", "2026-05-01", "superseded"):
        assert word in context, word
    assert context.index("audit letter") < context.index("Q3 report")
    assert context.index("superseded") > context.index("Q3 revenue was $5.2M")
    kept = [item for item in made["manifest"]["items"] if item["kind"] == "fact"]
    assert len(kept) >= 2
    assert all(item["reason"] for item in kept)
    # After the stable prefix: the system message and what was said come before it.
    sent = made["sent_messages"]
    assert sent[0] == {"role": "system", "content": "Be brief."}
    assert "audit letter" in sent[-1]["content"]
    assert all("audit letter" not in str(message) for message in sent[:-1])


async def test_five_at_the_most_and_two_thousand_tokens(memory, tenant, compiled):
    long = "and the deck was repainted in a colour that nobody had asked for " * 60
    await memory.store_many([entry(tenant, f"Ferry number {n} sails to Bergen; {long}") for n in range(12)])
    await memory.store_many([entry(tenant, f"The Bergen ferry has a crew of {n} people.") for n in range(20, 40)])
    made = await compiled(user("Tell me about the ferries to Bergen: which sail there?"))
    items = [item for item in made["manifest"]["items"] if item["kind"] in ("memory", "fact", "past")]
    assert 1 <= len([item for item in items if item["kept"]]) <= 5
    assert 0 < made["token_usage"]["memory"] <= 2_000
    left_out = [item for item in items if not item["kept"]]
    assert 20 <= len(left_out) <= 50
    assert all(item["reason"] for item in left_out)


async def test_the_query_is_made_of_the_last_three_messages(kb, tenant, compiled):
    await learn(kb, tenant, "figures", "Q3 revenue was $5.2M. Q4 revenue was $6.1M.", "2026-04-01")
    made = await compiled([user("What was Q3 revenue?"), assistant("$5.2M."), user("And in Q4?")])
    looked = made["manifest"]["selection"]
    assert looked["asked"] == "What was Q4 revenue?"
    assert looked["carried"] is True
    assert "$6.1M" in made["context"]


async def test_a_pronoun_is_carried_over(kb, tenant, compiled):
    await learn(kb, tenant, "staff", "Nadia Brandt leads the Oslo lab. Nadia Brandt speaks Finnish.", "2026-04-01")
    await learn(kb, tenant, "staff", "Tom Reed speaks Spanish. Ines Vale speaks Greek.", "2026-04-01")
    made = await compiled(
        [user("Who leads the Oslo lab?"), assistant("Nadia Brandt."), user("Which language does she speak?")]
    )
    assert "Finnish" in made["context"]
    assert made["manifest"]["selection"]["carried"] is True


async def test_what_a_question_names_is_followed_to_its_neighbours(kb, tenant, compiled):
    await learn(kb, tenant, "staff", "Nadia Brandt leads the Oslo lab.", "2026-04-01")
    await learn(kb, tenant, "phones", "Nadia Brandt can be reached on extension 4417.", "2026-04-02")
    for n in range(30):
        await learn(kb, tenant, "phones", f"Person {n} can be reached on extension {5000 + n}.", "2026-04-02")
    made = await compiled(user("Tell me about whoever leads the Oslo lab"))
    assert dict(made["manifest"]["selection"]["sources"]).get("neighbours", 0) >= 1
    assert "4417" in made["context"]


# Follow-ups


async def cached(thread: Any, *messages: Any) -> tuple[bool, str]:
    """Whether the window of a thread's next turn was made without looking anything up; and what was shown."""
    if messages:
        await thread.append(list(messages))
    context = await thread.compile(TASK, "Be brief.")
    return context.manifest.selection.from_cache, context.compiled.context


async def test_a_follow_up_is_not_looked_up_again_until_something_is_written(engine, kb, tenant):
    await learn(kb, tenant, "figures", "Q3 revenue was $5.2M. Q3 costs were $3.1M.", "2026-04-01")
    thread = engine.tenant(tenant).thread("t")
    assert (await cached(thread, user("What was Q3 revenue?")))[0] is False
    again, context = await cached(thread, assistant("One moment."), user("What was the revenue in Q3?"))
    assert again is True
    assert "Q3 revenue was $5.2M" in context

    # Something else entirely was written: nothing is looked up again.
    await learn(kb, tenant, "zoo", "Giraffes sleep standing.", "2026-05-01")
    assert (await cached(thread))[0] is True

    # Something relevant was written, by anybody: it is.
    await learn(kb, tenant, "audit letter", "Q3 revenue was $5.4M, not $5.2M.", "2026-05-01")
    again, context = await cached(thread)
    assert again is False
    assert "$5.4M" in context


FOLLOW_UPS = ["Is that figure final?", "Why was it so high?", "Tell me more about Q3 revenue."]


@pytest.mark.parametrize("follow_up", FOLLOW_UPS)
async def test_a_follow_up_on_the_topic_looks_nothing_up_again(engine, kb, tenant, follow_up):
    await learn(kb, tenant, "figures", "Q3 revenue was $5.2M. Q3 costs were $3.1M.", "2026-04-01")
    thread = engine.tenant(tenant).thread("t")
    assert (await cached(thread, user("What was Q3 revenue?")))[0] is False
    again, context = await cached(thread, assistant("It was good."), user(follow_up))
    assert "$5.2M" in context
    assert again is True


async def test_a_follow_up_shows_nothing_that_was_forgotten_meanwhile(memory, manager, tenant, compiled):
    kept = await memory.store(entry(tenant, "The caretaker of Elm Street 9 is Mr Dubois."))
    first = await compiled(user("Who is the caretaker of Elm Street 9?"))
    assert "Dubois" in first["context"]
    assert await memory.delete(kept, tenant)
    second = await manager.compile_working_context(tenant, "t", TASK, "Be brief.")
    assert "Dubois" not in second["context"]


async def test_another_topic_is_looked_up(engine, kb, tenant):
    await learn(kb, tenant, "figures", "Q3 revenue was $5.2M.", "2026-04-01")
    await learn(kb, tenant, "zoo", "Giraffes sleep standing.", "2026-04-01")
    thread = engine.tenant(tenant).thread("t")
    await cached(thread, user("What was Q3 revenue?"))
    again, context = await cached(thread, assistant("$5.2M."), user("How do giraffes sleep?"))
    assert again is False
    assert "standing" in context


# Freshness among plain memories

UPDATES = [
    ("Maya's phone extension is 4410.", "Maya's phone extension is 4498.", "What is Maya's phone extension?"),
    ("The deploy window is Tuesday at 9.", "The deploy window is Thursday at 9.", "When is the deploy window?"),
    ("Our supplier for paper is Fedrigoni.", "Our supplier for paper is Mondi.", "Who supplies our paper?"),
    ("Mr Lee takes 20 mg of lisinopril.", "Mr Lee takes 40 mg of lisinopril.", "How much lisinopril does Mr Lee take?"),
    ("The hotel in Lyon is the Carlton.", "The hotel in Lyon is the Mercure.", "Which hotel is it in Lyon?"),
    ("The API rate limit is 100 a minute.", "The API rate limit is 250 a minute.", "What is the API rate limit?"),
    ("The rent for the depot is €2,100.", "The rent for the depot is €2,450.", "How much is the rent for the depot?"),
    ("Jo's manager is Priya.", "Jo's manager is Henrik.", "Who is Jo's manager?"),
    ("The keynote speaker is Dr Osei.", "The keynote speaker is Prof Lindqvist.", "Who is the keynote speaker?"),
    ("We back up to tape every Friday.", "We back up to tape every Sunday.", "On which day do we back up to tape?"),
]


@pytest.mark.parametrize("newer_first", [False, True])
async def test_the_newer_of_two_plain_memories_ranks_above_the_older(memory, tenant, sessions, manager, newer_first):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    entries = [
        entry(tenant, f"Note {n}: locker {n} holds a {n}-piece set of cups.", created_at=start) for n in range(80)
    ]
    for n, (old, new, _) in enumerate(UPDATES):
        pair = [
            entry(tenant, old, created_at=start + timedelta(days=n), updated_at=start + timedelta(days=n)),
            entry(tenant, new, created_at=start + timedelta(days=60 + n), updated_at=start + timedelta(days=60 + n)),
        ]
        entries += reversed(pair) if newer_first else pair
    assert not (await memory.store_many(entries)).failed
    above = {"search": 0, "window": 0}
    for n, (old, new, question) in enumerate(UPDATES):
        found = [one.content for one in await memory.search(tenant, question, 50)]
        above["search"] += new in found and (old not in found or found.index(new) < found.index(old))
        await sessions.append(f"q{n}", user(question), tenant_id=tenant)
        context = (await manager.compile_working_context(tenant, f"q{n}", TASK, ""))["context"]
        above["window"] += new in context and (old not in context or context.index(new) < context.index(old))
    assert above["search"] >= 9, above
    assert above["window"] >= 9, above


async def test_other_tenants_are_not_looked_up(kb, tenant, other, sessions, manager, compiled):
    await learn(kb, other, "figures", "Q3 revenue was $5.2M.", "2026-04-01")
    made = await compiled(user("What was Q3 revenue?"))
    assert made["context"] == ""
    assert made["manifest"]["selection"]["candidates"] == 0
    await sessions.append("t", user("What was Q3 revenue?"), tenant_id=other)
    theirs = await manager.compile_working_context(other, "t", TASK, "")
    assert "$5.2M" in theirs["context"]


async def test_the_compacted_past_is_searched(engine, tenant):
    thread = engine.tenant(tenant).thread("long")
    await thread.append(user("Is the spare key for the boathouse still under the blue canoe, or with Henrik?"))
    for n in range(40):
        await thread.append(
            [assistant(f"Let us look at item {n}, then."), user(f"What about item {n + 1} of the list?")]
        )
    assert await thread.compact() is not None
    await thread.append(user("What did I say about the boathouse key and the canoe?"))
    context = await thread.compile("Answer the user.", model_tier="fast")
    assert "blue canoe" in str(context.messages)
