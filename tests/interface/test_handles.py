"""`engine.tenant(…)` is a handle that can see one tenant only: nothing crosses by anything that hangs on it."""

import inspect
from typing import Any

import pytest

import clew

from .conftest import entry, texts, user

SECRET = "The secret of the vault is swordfish"


async def _compiled(handle: Any) -> str:
    context = await handle.thread("same").compile(task="What is the secret?", system_prompt="")
    return f"{context.messages} {context.manifest}"


async def _checkpoints(handle: Any) -> list[Any]:
    return [found async for found in handle.checkpointer.alist({"configurable": {"thread_id": "same"}})]


async def _tools(handle: Any) -> str:
    found = {tool.__name__: tool for tool in handle.thread("same").tools()}
    return f"{await found['list_artifacts']()} {await found['recall_messages']('swordfish')}"


# Everything a handle can do today; what is added has to be added here.
LOOKS = {
    "recall": lambda t: t.recall("secret of the vault"),
    "memories": lambda t: t.memories(),
    "threads": lambda t: t.threads(),
    "messages": lambda t: t.thread("same").messages(),
    "read": lambda t: t.thread("same").read(),
    "search": lambda t: t.thread("same").search("swordfish"),
    "compile": _compiled,
    "checkpointer": _checkpoints,
    "recall_messages": lambda t: t.thread("same").recall_messages("swordfish"),
    "tools": _tools,
    "hierarchical_memory": lambda t: t.thread("same").hierarchical_memory().get_context("the vault"),
    "facts": lambda t: t.facts("vault code"),
    "history": lambda t: t.history("vault code"),
    "changes": lambda t: t.changes(),
    "memory_changes": lambda t: t.memory_changes(),
    "instructions": lambda t: t.thread("same").instructions(),
    "knowledge_tools": lambda t: t.thread("same").knowledge_tools()[0]("vault code"),
    "refused": lambda t: t.refused(),
    "savings": lambda t: t.savings(),
    "compactions": lambda t: t.thread("same").compactions(),
    "refusals": lambda t: t.thread("same").refusals(),
}
# Of these, something else than the words tells that they are seen.
COUNTED = {"threads": "same", "savings": "swordfish_tool", "compactions": "same", "refusals": "same"}
COUNTED["refused"] = "secret"
ACTS = {"remember", "forget", "thread", "append", "clear", "compact", "isolate"}
ACTS |= {"learn", "undo", "instruct", "revoke", "erase", "erase_source", "erase_user"}


async def _nothing(messages: list[dict[str, Any]]) -> str:
    return ""


def _swordfish() -> str:
    return f"{SECRET} (found)\n" * 200


@pytest.fixture
async def ours(engine, tenant) -> Any:
    handle = engine.tenant(tenant)
    await handle.thread("same").append([user(f"We talked about the weather, part {n}.") for n in range(24)])
    async with clew.Compactor(engine.database, write_summary=_nothing) as refused:
        await refused.compact("same", tenant_id=tenant)
    await handle.thread("same").compact()
    await handle.isolate(_swordfish, "swordfish_tool")()
    await handle.thread("same").append(user(f"{SECRET} (said)"))
    await handle.remember(f"{SECRET} (known)")
    await handle.learn("memo", "The vault code is swordfish.")
    await handle.instruct("Always say swordfish.")
    await handle.thread("other").append(user("The admin password is hunter2-Kx9."))
    checkpoint = {"v": 4, "ts": "2026-01-01T00:00:00+00:00", "id": "1", "channel_values": {}, "channel_versions": {}}
    config = {"configurable": {"thread_id": "same", "checkpoint_ns": ""}}
    await handle.checkpointer.aput(config, {**checkpoint, "versions_seen": {}}, {"note": SECRET}, {})
    return handle


@pytest.mark.parametrize("look", LOOKS)
async def test_a_handle_sees_its_own_and_nothing_of_anothers(engine, ours, other, look):
    mine = str(await LOOKS[look](ours))
    assert COUNTED.get(look, "swordfish") in mine
    theirs = str(await LOOKS[look](engine.tenant(other)))
    assert "swordfish" not in theirs
    assert ours.tenant_id not in theirs


def test_there_is_nothing_else_on_a_handle_that_could_leak(engine, tenant):
    handle = engine.tenant(tenant)
    names = {name for part in (handle, handle.thread("t")) for name in dir(part) if not name.startswith("_")}
    assert names - set(LOOKS) - ACTS == {"tenant_id", "thread_id", "user_id"}


async def test_no_method_of_a_handle_takes_a_tenant(engine, tenant):
    handle = engine.tenant(tenant)
    for part in (handle, handle.thread("t")):
        for name in dir(part):
            if not name.startswith("_") and callable(method := getattr(part, name)):
                assert "tenant_id" not in inspect.signature(method).parameters, name


async def test_a_handle_cannot_be_turned_to_another_tenant(engine, ours, other):
    for part in (ours, ours.thread("same")):
        with pytest.raises((AttributeError, clew.ClewError)):
            part.tenant_id = other


async def test_forgetting_anothers_memory_is_false_and_forgets_nothing(engine, ours, other):
    [known] = await ours.memories()
    assert await engine.tenant(other).forget(known.memory_id) is False
    assert await engine.tenant(other).forget("never-was") is False
    assert len(await ours.memories()) == 1
    assert await ours.forget(known.memory_id) is True


async def test_remembering_the_same_words_twice_over_is_each_tenants_own(engine, ours, other):
    theirs = await engine.tenant(other).remember(f"{SECRET} (known)")
    [known] = await ours.memories()
    assert theirs != known.memory_id
    assert len(await ours.memories()) == 1
    assert len(await engine.tenant(other).memories()) == 1


async def test_clearing_says_what_went_and_takes_derived_memories_only_when_asked(engine, tenant, other):
    for name in (tenant, other):
        await engine.sessions.append("same", [user("one"), user("two")], tenant_id=name)
        await engine.memory.store(entry(name, "derived from it", metadata={"thread_id": "same"}))
        await engine.memory.store(entry(name, "from elsewhere", metadata={"thread_id": "elsewhere"}))
    gone = await engine.tenant(tenant).thread("same").clear()
    assert gone.messages == 2
    assert len(await engine.tenant(tenant).memories()) == 2
    await engine.tenant(tenant).thread("same").append(user("three"))
    gone = await engine.tenant(tenant).thread("same").clear(memories=True)
    assert (gone.messages, sum(gone.also.values())) == (1, 1)
    assert [entry.content for entry in await engine.tenant(tenant).memories()] == ["from elsewhere"]
    assert len(await engine.tenant(other).memories()) == 2
    assert texts(await engine.tenant(other).thread("same").messages()) == ["one", "two"]


async def test_clearing_anothers_thread_answers_like_one_that_never_was(engine, ours, other):
    theirs = await engine.tenant(other).thread("same").clear(memories=True)
    nobodys = await engine.tenant(other).thread("none").clear(memories=True)
    assert str(theirs).replace("same", "none") == str(nobodys)
    assert len(await ours.thread("same").messages()) == 25
