"""Two tenants with the same thread ids, memory ids and words: nothing crosses, by any promised method."""

from typing import Any

import pytest

import clew

from .conftest import entry, texts, user
from .hostile import answered_or_refused

TASK = {"description": "What is the secret of the vault?"}
SECRET = "The secret of the vault is swordfish"


@pytest.fixture
async def ours(engine, tenant) -> str:
    """A tenant with a thread and a memory that hold the secret."""
    await engine.sessions.append("same", user(f"{SECRET} (said)"), tenant_id=tenant, idempotency_key="same-key")
    await engine.memory.store(entry(tenant, f"{SECRET} (known)", memory_id="same-id"))
    return tenant


def _without(value: Any, *names: str) -> str:
    """As text, with the names blotted out that must differ."""
    text = str(value)
    for name in names:
        text = text.replace(name, "‹name›")
    return text


async def _sent(engine: Any, tenant: str) -> Any:
    return (await engine.context.compile_working_context(tenant, "same", TASK, "Be brief"))["sent_messages"]


async def _messages(engine: Any, tenant: str) -> Any:
    return (await engine.tenant(tenant).thread("same").compile(task=TASK, system_prompt="")).messages


# Control: every way of looking finds the secret for the tenant whose it is.
LOOKS = {
    "get_session_messages": lambda e, t: e.sessions.get_session_messages("same", tenant_id=t),
    "search": lambda e, t: e.memory.search(t, "secret vault swordfish", 100),
    "search of one agent": lambda e, t: e.memory.search(t, "secret vault swordfish", 100, "helper"),
    "list_by_tenant": lambda e, t: e.memory.list_by_tenant(t),
    "search_memory": lambda e, t: e.context.search_memory(t, "secret vault swordfish"),
    "compile_working_context": _sent,
    "a thread's compile": _messages,
    "a log search": lambda e, t: e.sessions.search("same", "swordfish", tenant_id=t),
    "threads": lambda e, t: e.sessions.threads(tenant_id=t),
}


@pytest.mark.parametrize("look", LOOKS)
async def test_a_look_finds_ones_own_and_nothing_of_anothers(engine, ours, other, look):
    mine = str(await LOOKS[look](engine, ours))
    assert "swordfish" in mine or ("threads" in look and "same" in mine)
    theirs = str(await LOOKS[look](engine, other))
    assert "swordfish" not in theirs
    assert ours not in theirs


@pytest.mark.parametrize("look", LOOKS)
async def test_both_with_the_same_ids_and_words_each_sees_one(engine, ours, other, look):
    await engine.sessions.append("same", user(f"{SECRET} (said)"), tenant_id=other, idempotency_key="same-key")
    await engine.memory.store(entry(other, f"{SECRET} (known)", memory_id="same-id"))
    for tenant in (ours, other):
        seen = str(await LOOKS[look](engine, tenant))
        assert seen.count("(said)") <= 1
        assert seen.count("(known)") <= 1
        assert "(said)" in seen or "(known)" in seen or "threads" in look


async def test_the_same_append_by_two_tenants_is_two_appends(engine, ours, other):
    first = await engine.sessions.append("same", user("x"), tenant_id=ours, idempotency_key="k2")
    second = await engine.sessions.append("same", user("x"), tenant_id=other, idempotency_key="k2")
    assert first != second
    assert texts(await engine.sessions.get_session_messages("same", tenant_id=other)) == ["x"]


async def test_another_tenants_key_with_other_words_is_no_conflict(engine, ours, other):
    await engine.sessions.append("same", user("other words"), tenant_id=other, idempotency_key="same-key")
    with pytest.raises(clew.Conflict):
        await engine.sessions.append("same", user("other words"), tenant_id=ours, idempotency_key="same-key")


async def test_clearing_ones_own_leaves_anothers(engine, ours, other):
    assert await engine.sessions.clear_session("same", tenant_id=other) is None
    assert len(await engine.sessions.get_session_messages("same", tenant_id=ours)) == 1
    await engine.sessions.clear_session("same", tenant_id=ours)
    assert await engine.sessions.get_session_messages("same", tenant_id=ours) == []


async def test_storing_under_anothers_id_makes_ones_own(engine, ours, other):
    assert await engine.memory.store(entry(other, "harmless", memory_id="same-id")) == "same-id"
    assert [e.content for e in await engine.memory.list_by_tenant(ours)] == [f"{SECRET} (known)"]
    batch = await engine.memory.store_many([entry(other, "changed", memory_id="same-id")])
    assert batch.stored == ["same-id"]
    assert [e.content for e in await engine.memory.list_by_tenant(ours)] == [f"{SECRET} (known)"]
    assert [e.content for e in await engine.memory.list_by_tenant(other)] == ["changed"]


async def test_deleting_anothers_is_false_like_what_never_was_and_deletes_nothing(engine, ours, other):
    assert await engine.memory.delete("same-id", other) is False
    assert await engine.memory.delete("never-was", other) is False
    assert len(await engine.memory.list_by_tenant(ours)) == 1
    assert await engine.memory.delete("same-id", ours) is True


async def test_deleting_ones_own_leaves_the_others_of_the_same_id(engine, ours, other):
    await engine.memory.store(entry(other, SECRET, memory_id="same-id"))
    assert await engine.memory.delete("same-id", other) is True
    assert [e.content for e in await engine.memory.list_by_tenant(ours)] == [f"{SECRET} (known)"]


async def _asked_by_handle(engine: Any, tenant: str, name: str) -> Any:
    context = await engine.tenant(tenant).thread(name).compile(task=TASK, system_prompt="")
    return context.messages, dict(context.token_usage), str(context.manifest)


# Asked for by somebody else: what another has, and what nobody has.
ASKED = {
    "get_session_messages": lambda e, t, name: e.sessions.get_session_messages(name, tenant_id=t),
    "clear_session": lambda e, t, name: e.sessions.clear_session(name, tenant_id=t),
    "delete": lambda e, t, name: e.memory.delete(name, t),
    "agent's search": lambda e, t, name: e.memory.search(t, SECRET, 10, name),
    "compile": lambda e, t, name: e.context.compile_working_context(t, name, TASK, "Be brief"),
    "handle": _asked_by_handle,
    "read": lambda e, t, name: e.sessions.read(name, tenant_id=t),
    "get_message": lambda e, t, name: e.sessions.get_message(name, tenant_id=t),
    "forget_session": lambda e, t, name: e.sessions.forget_session(name, tenant_id=t),
    "checkpoint": lambda e, t, name: e.sessions.checkpointer.aget_tuple(
        {"configurable": {"thread_id": name, "tenant_id": t}}
    ),
}


@pytest.mark.parametrize("ask", ASKED)
async def test_anothers_id_answers_exactly_like_one_that_does_not_exist(engine, ours, other, ask):
    [message_id] = await engine.sessions.append("their-thread", user(SECRET), tenant_id=ours)
    await engine.memory.store(entry(ours, "and more", memory_id="their-memory", agent_id="their-agent"))
    names = {"delete": "their-memory", "agent's search": "their-agent", "get_message": message_id}
    theirs = names.get(ask, "their-thread")
    # Ids differ in length and spelling from an error to the next; a free one of the same form keeps the answers equal.
    free = (
        message_id[:-4] + ("0000" if not message_id.endswith("0000") else "1111") if ask == "get_message" else "nobodys"
    )
    existing = await answered_or_refused(lambda: ASKED[ask](engine, other, theirs))
    absent = await answered_or_refused(lambda: ASKED[ask](engine, other, free))
    assert type(existing) is type(absent)
    assert _without(existing, theirs) == _without(absent, free)
    assert "swordfish" not in str(existing)
    # Control: their owner is answered otherwise.
    if ask not in {"clear_session", "checkpoint"}:
        owners = await answered_or_refused(lambda: ASKED[ask](engine, ours, theirs))
        assert _without(owners, theirs) != _without(absent, free)


async def test_a_handle_takes_no_other_tenant(engine, ours, other):
    thread = engine.tenant(other).thread("same")
    await thread.append(user("from the handle"))
    assert texts(await engine.sessions.get_session_messages("same", tenant_id=other)) == ["from the handle"]
    assert "from the handle" not in str(await engine.sessions.get_session_messages("same", tenant_id=ours))
    with pytest.raises((TypeError, clew.ClewError)):
        await thread.append(user("x"), tenant_id=ours)


async def test_handles_made_of_one_engine_do_not_mix(engine, ours, other):
    a, b = engine.tenant(ours).thread("mix"), engine.tenant(other).thread("mix")
    for step in range(3):
        await a.append(user(f"a{step}"))
        await b.append(user(f"b{step}"))
    seen_a = [m["content"] for m in (await a.compile(task="Go on", system_prompt="")).messages]
    seen_b = [m["content"] for m in (await b.compile(task="Go on", system_prompt="")).messages]
    assert [text for text in seen_a if text in {"a0", "a1", "a2", "b0", "b1", "b2"}] == ["a0", "a1", "a2"]
    assert [text for text in seen_b if text in {"a0", "a1", "a2", "b0", "b1", "b2"}] == ["b0", "b1", "b2"]


@pytest.mark.parametrize("spelling", ["upper", "dotted", "tabbed"])
async def test_a_tenant_id_spelled_otherwise_is_another_tenant_or_none(engine, ours, spelling):
    name = {"upper": ours.upper(), "dotted": f"{ours}.", "tabbed": f"{ours}\t"}[spelling]
    found = await answered_or_refused(lambda: engine.memory.list_by_tenant(name))
    assert found == [] or isinstance(found, clew.InvalidInput)
