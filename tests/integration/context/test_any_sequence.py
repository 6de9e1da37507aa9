"""After any sequence of append, isolate, compact, trim and pin: no orphan, no lost pin, everything is found again."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import clew
from clew import BudgetExceeded, Database, Message, trim_messages
from clew.messages import from_openai

from .conftest import engine_with

_numbers = itertools.count(1)
FILLER = "and the crew went on along the pipes without noticing anything that would have to be written down here"

lengths = st.integers(0, 4)
operations = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(["user", "assistant", "system"]), lengths),
    st.tuples(st.just("rule"), lengths),
    st.tuples(st.just("pin"), st.booleans()),
    # So many calls in one message, which of them get their results, whether these come in order, and how long they are.
    st.tuples(st.just("call"), st.integers(1, 3), st.integers(0, 7), st.booleans(), lengths),
    st.tuples(st.just("isolate"), st.integers(20, 60)),
    st.tuples(st.just("damage"), st.sampled_from(["orphan", "late", "again", "twice", "same id"])),
    st.tuples(st.just("compact")),
    st.tuples(st.just("trim"), st.integers(50, 2_000)),
)


class Conversation:
    """A real thread, everything that was appended to it, and what must hold of it."""

    def __init__(self, engine: clew.Clew, tenant: str) -> None:
        self.engine = engine
        self.tenant = engine.tenant(tenant)
        self.thread = self.tenant.thread("t")
        self.said: list[Message] = []
        self.words: list[str] = []
        self.pins: list[str] = []
        self.waiting: list[str] = []
        self.answered: list[str] = []
        self._calls = itertools.count(1)

    def word(self) -> str:
        """A word that stands in one message alone, whole."""
        return f"uniq{len(self.said):04d}x"

    async def append(self, message: dict[str, Any], *, pinned: bool = False) -> None:
        word = self.word()
        assert word in json.dumps(message)
        await self.thread.append(message, pinned=pinned)
        (neutral,) = from_openai([message])
        self.said.append(neutral.as_pinned() if pinned else neutral)
        self.words.append(word)
        if pinned:
            self.pins.append(word)

    async def say(self, role: str, length: int) -> None:
        n = len(self.said)
        text = f"{self.word()} valve V-{n} holds {200 + n} bar " + " ".join([FILLER] * length)
        await self.append({"role": role, "content": text})

    async def rule(self, length: int) -> None:
        text = f"{self.word()} always close valve number {len(self.said)} by hand. " + " ".join([FILLER] * length)
        await self.append({"role": "user", "content": text})

    async def pin(self, in_a_call: bool) -> None:
        if not in_a_call:
            await self.append({"role": "user", "content": f"{self.word()} stays"}, pinned=True)
            return
        (id,) = await self.calls(1)
        await self.result(id, "stays", pinned=True)

    async def calls(self, many: int, *, same: bool = False) -> list[str]:
        ids = [f"call{next(self._calls)}" for _ in range(many)]
        if same:
            ids = [ids[0]] * 2
        word = self.word()
        made = [
            {"id": id, "type": "function", "function": {"name": "look", "arguments": f'{{"at": "{word}"}}'}}
            for id in ids
        ]
        await self.append({"role": "assistant", "content": None, "tool_calls": made})
        return ids

    async def result(self, id: str, text: str = "", *, pinned: bool = False) -> None:
        await self.append({"role": "tool", "tool_call_id": id, "content": f"{self.word()} {text}"}, pinned=pinned)
        self.answered.append(id)

    async def call(self, many: int, mask: int, in_order: bool, length: int) -> None:
        ids = await self.calls(many)
        done = [id for place, id in enumerate(ids) if mask >> place & 1]
        self.waiting += [id for id in ids if id not in done]
        for id in done if in_order else reversed(done):
            await self.result(id, " ".join([f"{len(self.said)} parts seen", *[FILLER] * length]))

    async def isolate(self, rows: int) -> None:
        def look(at: str) -> list[dict[str, Any]]:
            return [{"title": f"{at} {n}", "text": f"{FILLER} {n}"} for n in range(rows)]

        (id,) = await self.calls(1)
        with clew.tool_call(tool_call_id=id, thread_id="t"):
            shown = await self.tenant.isolate(look)("the pumps")
        await self.result(id, shown)
        assert await self.engine.tool_results.get_tool_result(id, tenant_id=self.tenant.tenant_id) == look("the pumps")

    async def damage(self, how: str) -> None:
        if how == "same id":
            await self.calls(1, same=True)
        elif how == "twice" and self.answered:
            await self.result(self.answered[-1], "once more")
        elif how == "again" and self.said:
            await self.append({"role": "user", "content": f"{self.word()} {FILLER}"})
        elif how == "late" and self.waiting:
            await self.result(self.waiting.pop(0), "late")
        else:
            await self.append({"role": "tool", "tool_call_id": "nobody", "content": f"{self.word()} who asked?"})

    async def compact(self) -> None:
        before = await self.thread.compactions()
        done = await self.thread.compact()
        after = await self.thread.compactions()
        assert after == ([done, *before] if done else before)
        if done and before:
            assert done.through >= before[0].through
        await self.holds()

    async def trim(self, tokens: int) -> None:
        rows = [row.message for row in await self.thread.read(500)]
        try:
            kept = trim_messages(rows, tokens)
        except BudgetExceeded:
            return
        twice = [row for row in rows if len({call.id for call in row.tool_calls}) < len(row.tool_calls)]
        damaged = {call.id for row in twice for call in row.tool_calls}
        mended = [one for one in kept if not any(one is row for row in rows)]
        assert all(len(one.tool_calls) == 1 and one.tool_calls[0].id in damaged for one in mended)
        assert not [row for row in rows if (row.pinned or row.role == "system") and not any(row is one for one in kept)]
        open_calls: set[str] = set()
        for message in kept:
            open_calls |= {call.id for call in message.tool_calls}
            for result in message.tool_results:
                assert result.call_id in open_calls

    async def holds(self) -> None:
        rows = await self.thread.read(500)
        assert [row.message for row in rows] == self.said, "the log is what was said"
        generations = [one.generation for one in await self.thread.compactions()]
        assert generations == list(range(len(generations), 0, -1))
        missing: set[int] = set()
        for tools in ((), self.thread.tools()):
            for tier in ("fast", "reasoning"):
                context = await self.thread.compile("go on", tools=tools, model_tier=tier)
                check_pairs(context.messages)
                sent = json.dumps(context.messages)
                assert [pin for pin in self.pins if sent.count(pin) != 1] == []
                if not tools:
                    assert "art_" not in sent
                    assert "recall_messages" not in sent
                missing |= {place for place, word in enumerate(self.words, start=1) if word not in sent}
        await self.recalled(sorted(missing))

    async def recalled(self, missing: list[int]) -> None:
        """Everything that some model did not see, by its position and by its words."""
        if not missing:
            return
        found = await self.thread.recall_messages(positions=missing)
        assert [(row.position, row.message) for row in found] == [(place, self.said[place - 1]) for place in missing]
        spelled = await self.thread.recall_messages(positions=", ".join(map(str, missing)))
        assert spelled == found
        for place in missing:
            (row,) = await self.thread.recall_messages(self.words[place - 1])
            assert row.position == place


def check_pairs(messages: list[dict[str, Any]]) -> None:
    """Each result right behind the call it answers, each call with all its results, before anybody else speaks."""
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, "a result that answers no call"
            waiting.discard(message["tool_call_id"])
            continue
        assert not waiting, "a call without its result"
        made = [call["id"] for call in message.get("tool_calls") or ()]
        waiting = set(made)
        assert len(waiting) == len(made)
    assert not waiting


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(ops=st.lists(operations, min_size=12, max_size=40))
async def test_no_orphan_no_lost_pin_and_every_dropped_message_is_recalled(database: Database, ops: list[Any]) -> None:
    options = {"threshold_messages": 8, "keep_recent": 3, "threshold_tokens": 700}
    conversation = Conversation(engine_with(database, **options), f"sequence-{next(_numbers)}")
    for name, *arguments in ops:
        await getattr(conversation, name)(*arguments)
    await conversation.compact()
    await conversation.holds()


async def test_the_sequences_do_compact(database: Database, tenant: str) -> None:
    """The control: with these thresholds a summary is written, results are cleared, and what left is recalled."""
    options = {"threshold_messages": 8, "keep_recent": 3, "threshold_tokens": 700}
    conversation = Conversation(engine_with(database, **options), tenant)
    for turn in range(6):
        await conversation.say("user", 2)
        await conversation.call(2, 3, False, 4)
        await conversation.isolate(40)
        await conversation.pin(turn % 2 == 0)
        await conversation.damage("orphan")
        await conversation.compact()
    tiers = {tier for one in await conversation.thread.compactions() for tier in one.tiers}
    assert tiers >= {"clear", "summarise"}
    assert len(await conversation.thread.compactions()) >= 3
    sent = json.dumps((await conversation.thread.compile("go on")).messages)
    assert len([word for word in conversation.words if word not in sent]) > 20
    assert len(conversation.pins) == 6


def test_the_check_of_pairs_finds_what_it_is_for():
    call = {"role": "assistant", "tool_calls": [{"id": "a"}]}
    for broken in (
        [{"role": "tool", "tool_call_id": "a"}],
        [call],
        [call, {"role": "user"}],
        [call, {"role": "tool", "tool_call_id": "a"}, {"role": "tool", "tool_call_id": "a"}],
    ):
        with pytest.raises(AssertionError):
            check_pairs(broken)
    check_pairs([call, {"role": "tool", "tool_call_id": "a"}, {"role": "user"}])
