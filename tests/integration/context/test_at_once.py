"""Several hands on one thread: two that compact it, one that appends, one that clears it."""

import asyncio
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from clew.sessions import SessionStore

from .conftest import Asked, engine_with, fact, good, said, sent, shown_texts, talk


class Waiting:
    """A model that says when it was asked, and answers when it may."""

    def __init__(self) -> None:
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def __call__(self, messages: list[dict[str, Any]]) -> str:
        self.asked.set()
        await self.may_answer.wait()
        return await good(messages)


async def test_two_compactions_at_once_give_one(database, tenant):
    both = asyncio.Barrier(2)

    async def model(messages: list[dict[str, Any]]) -> str:
        await both.wait()
        return await good(messages)

    handles = [engine_with(database, write_summary=model).tenant(tenant).thread("t") for _ in range(2)]
    await handles[0].append(talk(1, 21))
    done = await asyncio.gather(*(handle.compact() for handle in handles))
    assert sorted(one is None for one in done) == [False, True]
    (compaction,) = await handles[0].compactions()
    assert compaction in done
    assert compaction.generation == 1
    assert await handles[0].refusals() == [], "who came second was not refused"


async def test_many_compactions_of_one_engine_at_once_give_one(thread):
    await thread.append(talk(1, 21))
    done = await asyncio.gather(*(thread.compact() for _ in range(8)))
    assert sum(one is not None for one in done) == 1
    assert [one.generation for one in await thread.compactions()] == [1]


async def test_two_processes_that_compact_the_same_thread_give_one(place, thread, tenant):
    await thread.append(talk(1, 21))
    done = await asyncio.to_thread(_compact_in_two_processes, place, tenant)
    assert [generation for _, generation in done] == [1, None], done
    assert len({pid for pid, _ in done}) == 2
    assert [one.generation for one in await thread.compactions()] == [1]


SCRIPT = """
import asyncio, json, os, sys
import clew
from clew.context import compactor

async def main(url, tenant):
    async with clew.Compactor(url) as ours:
        verified = compactor.verified_view

        async def together(*args):
            # Both have read the thread by now, and neither has written.
            view = await verified(*args)
            print("ready", flush=True)
            await asyncio.to_thread(sys.stdin.readline)
            return view

        compactor.verified_view = together
        done = await ours.compact("t", tenant_id=tenant)
        print(json.dumps([os.getpid(), done and done.generation]), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def _compact_in_two_processes(url: str, tenant: str) -> list[tuple[int, int | None]]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    command = [sys.executable, "-c", SCRIPT, url, tenant]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean) for _ in range(2)
    ]
    try:
        assert [process.stdout.readline() for process in processes] == ["ready\n"] * 2
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        found = [json.loads(process.communicate(timeout=60)[0]) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return sorted(((pid, generation) for pid, generation in found), key=lambda one: one[1] is None)


async def test_a_thread_cleared_while_its_summary_is_written_leaves_nothing_in_the_next_of_its_name(database, tenant):
    model = Waiting()
    thread = engine_with(database, write_summary=model).tenant(tenant).thread("t")
    await thread.append(
        [{"role": "user", "content": f"Secret S-{n} is {7_000 + n}. {said(n)['content']}"} for n in range(21)]
    )
    await thread.append({"role": "user", "content": "Secret pin"}, pinned=True)
    running = asyncio.create_task(thread.compact())
    await model.asked.wait()
    await thread.clear()
    await thread.append(talk(1, 21))
    model.may_answer.set()
    assert await running is None
    assert (await thread.compactions(), await thread.refusals()) == ([], [])
    texts = await shown_texts(thread, tools=thread.tools())
    assert not [text for text in texts if "Secret" in text]
    assert [text for text in texts if fact(1) in text], "the control: the new thread is shown"
    assert (await thread.compact()).through == 11, "and is compacted as its own"
    assert "Secret" not in (await thread.compactions())[0].summary


async def test_a_refusal_of_a_cleared_thread_is_not_the_new_one_s(database, tenant):
    model = Waiting()
    thread = engine_with(database, write_summary=Asked(model)).tenant(tenant).thread("t")
    await thread.append([{"role": "user", "content": f"x {n}"} for n in range(21)])
    running = asyncio.create_task(thread.compact())
    await model.asked.wait()
    await thread.clear()
    await thread.append(talk(1, 3))
    model.may_answer.set()
    assert await running is None
    assert await thread.refusals() == []


async def test_a_thread_cleared_in_the_middle_of_a_compile_is_not_mixed_with_the_next(database, tenant, monkeypatch):
    thread = engine_with(database).tenant(tenant).thread("t")
    await thread.append(talk(1, 21))
    await thread.compact()
    read = SessionStore.read

    async def overtaken(self: SessionStore, *args: Any, **options: Any) -> Any:
        monkeypatch.setattr(SessionStore, "read", read)
        await thread.clear()
        await thread.append([{"role": "user", "content": f"new {n}"} for n in range(15)])
        return await read(self, *args, **options)

    monkeypatch.setattr(SessionStore, "read", overtaken)
    texts = " ".join(await shown_texts(thread))
    assert not ("new 14" in texts and fact(1)[:12] in texts), "the old summary beside new messages"
    assert "new 0" in " ".join(await shown_texts(thread))


async def test_what_was_last_sent_of_a_cleared_thread_is_not_in_the_next_one_s_summary_request(database, tenant):
    model = Asked()
    thread = engine_with(database, write_summary=model).tenant(tenant).thread("t")
    await thread.append([{"role": "user", "content": f"Secret {n}"} for n in range(15)])
    assert "Secret 3" in str((await thread.compile("go on", "Secret system")).messages)
    await thread.clear()
    await thread.append(talk(1, 21))
    assert await thread.compact() is not None
    (request,) = model.requests
    assert "Secret" not in str(request)
    assert said(1)["content"] in str(request)


async def test_messages_appended_during_a_compaction_are_kept_and_shown(database, tenant):
    model = Waiting()
    thread = engine_with(database, write_summary=model).tenant(tenant).thread("t")
    await thread.append(talk(1, 21))
    running = asyncio.create_task(thread.compact())
    await model.asked.wait()
    await thread.append(talk(22, 25))
    model.may_answer.set()
    compaction = await running
    assert compaction.through == 11
    texts = await shown_texts(thread)
    assert texts[-15:-1] == [message["content"] for message in talk(12, 25)]
    assert [row.position for row in await thread.read(100)] == list(range(1, 26))
    current = await thread._engine.compactor.current("t", tenant_id=tenant)
    grown = sum(row.tokens for row in (await thread.read(4)))
    assert current.view_tokens == compaction.tokens_after + grown, "what the view costs counts them too"


async def test_many_who_append_compile_and_compact_at_once_leave_one_log_and_one_line_of_views(database, tenant):
    handles = [engine_with(database).tenant(tenant).thread("t") for _ in range(3)]

    async def work(number: int) -> None:
        for n in range(15):
            await handles[number].append(said(100 * number + n))
            context = await handles[number].compile("go on")
            assert fact(100 * number + n) in str(context.messages), "what one said last, one sees"
            await handles[number].compact()

    await asyncio.gather(*(work(number) for number in range(3)))
    rows = await handles[0].read(100)
    assert [row.position for row in rows] == list(range(1, 46))
    found = list(reversed(await handles[0].compactions()))
    assert [one.generation for one in found] == list(range(1, len(found) + 1))
    throughs = [one.through for one in found]
    assert throughs == sorted(set(throughs))
    assert len(found) in (2, 3), "one for each time it was due"


async def test_a_compile_while_a_summary_is_written_sees_the_old_view_whole(database, tenant):
    model = Waiting()
    thread = engine_with(database, write_summary=model).tenant(tenant).thread("t")
    await thread.append(talk(1, 21))
    before = await sent(thread)
    running = asyncio.create_task(thread.compact())
    await model.asked.wait()
    assert await sent(thread) == before
    model.may_answer.set()
    await running
    assert await sent(thread) != before


@pytest.mark.parametrize("wait", [True, False])
async def test_a_thread_that_does_not_exist_is_nothing_to_compact(thread, wait):
    assert await thread.compact(wait=wait) is None
    assert (await thread.compactions(), await thread.refusals()) == ([], [])
