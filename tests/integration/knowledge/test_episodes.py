"""Text, messages and JSON; the same fact in other words; names; and what is found at once, also among many."""

import json

from clew import Database
from clew.memory.knowledge import KnowledgeBase
from clew.messages import Message

from .conftest import day


async def test_messages_keep_who_said_it_and_the_system_prompt_is_no_fact(knowledge, tenant_id):
    body = [
        {"role": "system", "content": "The sky is green."},
        {"role": "user", "content": "I live in Paris.", "id": "m1", "name": "Ana"},
        Message(role="assistant", content="The museum opens at 9 am.", id="m2"),
    ]
    told = await knowledge.add_episode("chat", body, tenant_id=tenant_id, thread_id="t1")
    assert [(fact.subject, fact.object) for fact in told.facts] == [("Ana", "Paris"), ("museum", "9 am")]
    assert [(one.message_id, one.role, one.thread_id) for fact in told.facts for one in fact.sources] == [
        ("m1", "user", "t1"),
        ("m2", "assistant", "t1"),
    ]
    lines = await knowledge.add_episode(
        "log", "Bob: I live in Oslo.\nEve: my budget is $5.", source="message", tenant_id=tenant_id
    )
    assert [(fact.subject, fact.object) for fact in lines.facts] == [("Bob", "Oslo"), ("Eve", "$5")]


async def test_json_records_change_and_are_told_apart(knowledge, tenant_id):
    first = {"name": "Ana", "plan": "basic", "seats": 5, "tags": ["eu"]}
    await knowledge.add_episode("crm", json.dumps(first), source="json", reference_time=day(1), tenant_id=tenant_id)
    second = {"name": "Ana", "plan": "pro", "seats": 5, "tags": ["eu", "vip"]}
    told = await knowledge.add_episode("crm", second, reference_time=day(2), tenant_id=tenant_id)
    assert [(fact.predicate, fact.object) for fact in told.invalidated] == [("plan", "basic")]
    assert len([fact for fact in await knowledge.history("Ana", tenant_id=tenant_id) if fact.invalid_at is None]) == 4


async def test_the_same_fact_in_other_words_is_one_fact_with_more_sources(knowledge, tenant_id):
    ways = [
        "Q3 revenue was $5.2M.",
        "The revenue for Q3 was 5.2 million dollars.",
        "Revenue in Q3 stands at $5.2M.",
        "Q3 revenue was $5.2M.",
    ]
    ids = set()
    for n, text in enumerate(ways):
        told = await knowledge.add_episode(f"e{n}", text, reference_time=day(n + 1), tenant_id=tenant_id)
        assert told.invalidated == []
        ids |= {fact.fact_id for fact in told.facts}
    assert len(ids) == 1
    [fact] = await knowledge.history("Q3 revenue", tenant_id=tenant_id)
    assert [one.name for one in fact.sources] == ["e0", "e1", "e2", "e3"]


async def test_a_sentence_without_a_triple_is_found_and_stored_once(knowledge, tenant_id):
    text = "Hopefully the giraffe enclosure gets repainted someday."
    for _ in range(2):
        told = await knowledge.add_episode("note", text, tenant_id=tenant_id)
        assert (told.facts[0].subject, told.facts[0].predicate) == (None, None)
    [found] = await knowledge.search("giraffe", tenant_id=tenant_id)
    assert (found.text, len(found.sources)) == (text, 2)


async def test_other_names_of_a_thing_lead_to_it(knowledge, tenant_id):
    await knowledge.add_episode(
        "a", "International Business Machines (IBM) is based in Armonk.", reference_time=day(1), tenant_id=tenant_id
    )
    told = await knowledge.add_episode("b", "IBM moved to Austin.", reference_time=day(2), tenant_id=tenant_id)
    assert [fact.object for fact in told.invalidated] == ["Armonk"]
    for name in ("IBM", "International Business Machines", "ibm"):
        assert [fact.object for fact in await knowledge.history(name, tenant_id=tenant_id)] == ["Armonk", "Austin"]
    await knowledge.add_episode("c", "Acme Corp is in Boston.", reference_time=day(1), tenant_id=tenant_id)
    moved = await knowledge.add_episode("d", "Acme relocated to Denver.", reference_time=day(2), tenant_id=tenant_id)
    assert [fact.object for fact in moved.invalidated] == ["Boston"]


async def test_an_older_statement_is_inserted_closed(knowledge, tenant_id):
    await knowledge.add_episode("now", "As of June 2024, headcount was 55.", tenant_id=tenant_id)
    told = await knowledge.add_episode("then", "As of March 2024, headcount was 40.", tenant_id=tenant_id)
    assert told.invalidated == []
    [fact] = told.facts
    assert (fact.valid_at.month, fact.invalid_at.month) == (3, 6)
    [then] = await knowledge.search("headcount", tenant_id=tenant_id, as_of="2024-04-15")
    assert then.object == "40"


async def test_what_will_hold_later_is_not_past_yet(knowledge, tenant_id):
    await knowledge.add_episode("a", "The fee is 2%.", tenant_id=tenant_id)
    await knowledge.add_episode("b", "Effective January 1 2090 the fee is 3%.", tenant_id=tenant_id)
    assert [fact.object for fact in await knowledge.search("fee", tenant_id=tenant_id)] == ["2%", "3%"]
    found = await knowledge.search("fee", tenant_id=tenant_id, as_of="2089-12-31")
    assert [fact.object for fact in found] == ["2%"]
    assert not found[0].superseded


async def test_another_process_finds_a_fact_at_once(knowledge, settings, tenant_id):
    async with Database(settings=settings) as other:
        elsewhere = KnowledgeBase(other)
        assert await elsewhere.search("door code", tenant_id=tenant_id) == []
        await knowledge.add_episode("chat", "The door code is 4411.", tenant_id=tenant_id)
        assert [fact.object for fact in await elsewhere.search("door code", tenant_id=tenant_id)] == ["4411"]


async def test_among_two_thousand_facts_the_right_one_is_first_and_its_past_is_found_then(knowledge, tenant_id):
    names = [f"Town{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}{n}" for n in range(2_000)]
    text = "\n".join(f"The population of {name} is {1000 + n}." for n, name in enumerate(names))
    await knowledge.add_episode("census", text, reference_time=day(1), tenant_id=tenant_id)
    wanted = names[777]
    change = f"The population of {wanted} is 5."
    await knowledge.add_episode("later", change, reference_time=day(9), tenant_id=tenant_id)
    found = await knowledge.search(f"What is the population of {wanted}?", tenant_id=tenant_id)
    assert (found[0].object, found[0].superseded) == ("5", False)
    assert "1777" in [fact.object for fact in found if fact.superseded]
    [then, *_] = await knowledge.search(f"population of {wanted}", tenant_id=tenant_id, as_of=day(5))
    assert then.object == "1777"


async def test_two_hundred_facts_told_five_ways_are_few_and_each_is_found(knowledge, tenant_id):
    kinds = ["revenue", "budget", "headcount", "churn", "margin", "price", "capacity", "score"]
    wanted = [(f"{kind} of Division{n}", 100 + 7 * n) for n in range(25) for kind in kinds]
    ways = [
        "The {0} is {1}.",
        "The {0} was {1}.",
        "The {0} stands at {1}.",
        "Actually, the {0} is {1}.",
        "The {0} came in at {1}, according to the report.",
    ]
    for way in ways:
        body = "\n".join(way.format(what, value) for what, value in wanted)
        await knowledge.add_episode("told", body, tenant_id=tenant_id)
    facts = set()
    for what, value in wanted[::10]:
        found = await knowledge.search(f"What is the {what}?", tenant_id=tenant_id)
        assert found[0].object == str(value)
        facts |= {fact.fact_id for fact in await knowledge.history(what, tenant_id=tenant_id)}
    assert len(facts) == len(wanted[::10])
