"""What is looked up for a turn, what is shown of it, and what the manifest says about both."""

import pytest

import clew
from clew.context.manifest import FITS, IN_SESSION, LESS_RELEVANT
from clew.errors import Unavailable

from .conftest import block, says, window


@pytest.mark.parametrize(
    ("text", "intent"), [("Hi there!", "greeting"), ("Thanks a lot!", "greeting"), ("What did I just ask you?", "meta")]
)
async def test_greetings_and_talk_about_the_talk_look_nothing_up(acme, searches, text, intent):
    await acme.remember("Hi and thanks are what people say; what was asked is in the log.")
    thread = acme.thread("a")
    await thread.append(says(text))
    context = await window(thread)
    looked = context.manifest.selection
    assert (looked.intent, looked.looked_up, looked.asked) == (intent, False, "")
    assert not searches
    assert block(context) == ""
    await thread.append(says("What do people say?"))
    assert "Hi and thanks" in block(await window(thread)), "the control: a question does look"
    assert searches == {"memory": 1, "facts": 1, "neighbours": 1}


async def test_a_task_that_wants_something_looks_it_up_whatever_was_said_last(acme):
    await acme.remember("The board meets in Lisbon on June 3.")
    thread = acme.thread("a")
    await thread.append(says("Thanks!"))
    context = await window(thread, "Write an invitation to the board meeting")
    assert "June 3" in block(context)
    assert context.manifest.selection.intent == "task"


async def test_an_ellipsis_is_asked_as_the_question_it_stands_for(acme):
    await acme.learn("figures", "Q3 revenue was $5.2M. Q4 revenue was $6.1M.")
    thread = acme.thread("a")
    await thread.append([says("What was Q3 revenue?"), says("$5.2M.", "assistant"), says("And in Q4?")])
    context = await window(thread)
    looked = context.manifest.selection
    assert (looked.asked, looked.carried) == ("What was Q4 revenue?", True)
    assert "$6.1M" in block(context)


async def test_the_manifest_says_what_was_found_where_and_why_it_was_left_out(acme):
    for n in range(30):
        await acme.remember(f"Pump {n} of the Lisbon plant was checked on day {n}.", {"source": "log"})
    await acme.learn("manual", "The Lisbon plant has 30 pumps.")
    thread = acme.thread("a")
    await thread.append([says("Pump 3 of the Lisbon plant was checked on day 3."), says("ok", "assistant")])
    await thread.append(says("Which pumps of the Lisbon plant were checked?"))
    context = await window(thread)
    manifest = context.manifest
    items = [item for item in manifest.of("memory") if item.kind != "wrapper"]
    assert manifest.selection.candidates == len(items) <= 50
    assert dict(manifest.selection.sources)["memory"] == 30
    assert sum(item.kept for item in items) == 5
    assert {item.reason for item in items} == {FITS, LESS_RELEVANT, IN_SESSION}
    assert manifest.as_dict()["selection"]["sources"]["facts"] >= 1
    assert sum(item.tokens for item in manifest.of("memory") if item.kept) == context.token_usage["memory"] <= 2_000


async def test_no_more_than_2_000_tokens_are_shown_and_nothing_is_cut_short(acme):
    for n in range(12):
        await acme.remember(f"Report {n} on the harbour: " + f"the crane lifted crate {n} again. " * 90)
    thread = acme.thread("a")
    await thread.append(says("What do the reports on the harbour crane say?"))
    context = await window(thread)
    shown = [item for item in context.manifest.of("memory") if item.kept and item.kind == "memory"]
    assert 0 < len(shown) < 5
    assert context.token_usage["memory"] <= 2_000


async def test_newest_facts_that_hold_come_first_and_superseded_ones_are_marked(acme):
    await acme.learn("plan", "The budget of Delta is $40k.", reference_time="2026-01-05")
    await acme.learn("mail", "The budget of Delta is $55k.", reference_time="2026-03-05")
    await acme.learn("deck", "The owner of Delta is Ana.", reference_time="2026-02-05")
    thread = acme.thread("a")
    await thread.append(says("What is the budget of Delta, and who is the owner?"))
    text = block(await window(thread))
    assert text.index("$55k") < text.index("Ana") < text.index("$40k")
    old = text[text.index("Ana") :]
    assert '"status": "superseded on 2026-03-05' in old
    assert '"source": "plan"' in old


async def test_a_memory_of_a_conversation_comes_with_what_was_said_around_it(acme):
    turns = ["Where shall we go?", "How about the lighthouse?", "Yes! The one in Cascais.", "Seven sharp then."]
    for position, text in enumerate(turns):
        metadata = {"thread_id": "chat", "position": position, "speaker": "Ana" if position % 2 else "Ben"}
        await acme.remember(text, metadata)
    for n in range(20):
        await acme.remember(f"Invoice {n} was paid.")
    thread = acme.thread("a")
    await thread.append(says("What about the lighthouse?"))
    text = block(await window(thread))
    assert "How about the lighthouse?" in text
    assert text.count("The one in Cascais") == text.count("Seven sharp then") == 1


async def test_what_a_summary_took_out_of_the_window_is_found_again(acme):
    thread = acme.thread("a")
    talk = [
        says(f"Round {n}: nothing new at the {'north' if n % 2 else 'south'} gate, all quiet there.") for n in range(44)
    ]
    talk[2] = says("I wonder whether the heron nests by the old sluice; keep an eye on it.")
    answers = [says("Noted.", "assistant") for _ in talk]
    await thread.append([one for pair in zip(talk, answers, strict=True) for one in pair])
    assert await thread.compact() is not None
    await thread.append(says("Where does the heron nest?"))
    context = await window(thread)
    found = [item for item in context.manifest.of("memory") if item.kind == "past" and item.kept]
    assert found
    assert "old sluice" in block(context)
    assert "earlier in this conversation, message 5" in block(context)


async def test_a_store_that_does_not_answer_is_left_out_and_named(engine, acme, monkeypatch):
    async def down(*args, **named):
        raise Unavailable("the vectors are away")

    await acme.learn("figures", "Q3 revenue was $5.2M.")
    monkeypatch.setattr(engine.memory, "candidates", down)
    thread = acme.thread("a")
    await thread.append(says("What was Q3 revenue?"))
    context = await window(thread)
    assert "$5.2M" in block(context)
    assert any("without memories" in note for note in context.manifest.notes)


async def test_a_reranker_has_the_last_word(database, tenant):
    class Backwards:
        name = "backwards"

        async def rerank(self, query, texts):
            return [float(n) for n in range(len(texts))]

    engine = clew.open(database)
    engine.context._parts.selector._reranker = Backwards()
    acme = engine.tenant(tenant)
    for n in range(8):
        await acme.remember(f"Ship {n} carries grain to Porto" + " and back" * n)
    thread = acme.thread("a")
    await thread.append(says("Which ship carries grain to Porto?"))
    kept = [item.source_id for item in (await window(thread)).manifest.of("memory") if item.kept and item.source_id]
    best = [entry.memory_id for entry in await acme.recall("Which ship carries grain to Porto?", 8)]
    assert kept == best[::-1][:5]


async def test_another_tenant_finds_nothing_of_it(engine, acme):
    await acme.remember("The vault opens at nine.")
    await acme.learn("memo", "The vault code is 4711.")
    thread = engine.tenant(f"{acme.tenant_id}-other").thread("a")
    await thread.append(says("What is the vault code?"))
    context = await window(thread)
    assert block(context) == ""
    assert context.manifest.selection.candidates == 0
