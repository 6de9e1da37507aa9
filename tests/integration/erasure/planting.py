"""A canary, told to every room through the public interface: a word in what was said, another in the ids."""

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph

from clew import MemoryEntry

from .conftest import Rooms


@dataclass(frozen=True)
class Canary:
    """`word` is in contents; `mark` in the ids of the thread and the user, and so in queued jobs."""

    word: str
    mark: str

    @property
    def thread_id(self) -> str:
        return f"{self.mark}-thread"

    @property
    def user_id(self) -> str:
        return f"{self.mark}-user"


async def plant_thread(rooms: Rooms, tenant_id: str, canary: Canary, **who: str) -> str:
    """A conversation that left something in every store; the artifact that its tool's result became."""
    word, thread_id = canary.word, canary.thread_id
    said = [_said(n, f"Valve V-{1000 + n} of {word.title()} holds {200 + n} bar.") for n in range(30)]
    key = f"append-{word}"
    await rooms.sessions.append(thread_id, said, tenant_id=tenant_id, idempotency_key=key, **who)
    pinned = {"role": "user", "content": f"Never open {word}."}
    await rooms.sessions.append(thread_id, pinned, tenant_id=tenant_id, pinned=True)
    artifact_id = await _plant_tool_result(rooms, tenant_id, canary)
    await rooms.compactor.compact(thread_id, tenant_id=tenant_id)
    for n in range(3):
        metadata = {"thread_id": thread_id, "position": n}
        await rooms.memory.store(
            MemoryEntry(tenant_id=tenant_id, agent_id="a", content=f"{word} likes tea number {n}", metadata=metadata)
        )
    for version in (f"{word} drinks tea", f"{word} drinks coffee"):
        metadata = {"thread_id": thread_id}
        entry = {"tenant_id": tenant_id, "agent_id": "a", "content": version, "metadata": metadata}
        await rooms.memory.store({**entry, "memory_id": f"{canary.mark}-changed"})
    told = f"The headcount of Acme is actually 55, not 40, says {word}. {word} lives in Bonn."
    await rooms.knowledge.add_episode(f"chat {word}", told, tenant_id=tenant_id, thread_id=thread_id)
    await rooms.standing.add(f"Always greet {word}", scope="thread", thread_id=thread_id, tenant_id=tenant_id)
    await _plant_checkpoint(rooms, tenant_id, canary)
    await rooms.jobs.defer("nothing", once=f"nothing/{thread_id}", tenant_id=tenant_id, thread_id=thread_id)
    await warm(rooms, tenant_id, canary)
    return artifact_id


async def plant_user(rooms: Rooms, tenant_id: str, canary: Canary) -> None:
    """A user's thread, and what is the user's and no thread's."""
    word, user_id = canary.word, canary.user_id
    await plant_thread(rooms, tenant_id, canary, user_id=user_id)
    entry = MemoryEntry(tenant_id=tenant_id, agent_id="a", content=f"{word} owns a boat", metadata={"user_id": user_id})
    await rooms.memory.store(entry)
    await rooms.knowledge.add_episode("form", f"{word} works at Initech.", tenant_id=tenant_id, user_id=user_id)
    await rooms.standing.add(f"Call me {word}", scope="user", user_id=user_id, tenant_id=tenant_id)
    await rooms.jobs.defer("nothing", once=f"nothing/{user_id}", tenant_id=tenant_id, user_id=user_id)
    await warm(rooms, tenant_id, canary)


async def warm(rooms: Rooms, tenant_id: str, canary: Canary) -> None:
    """Searches, so that this process keeps what they read."""
    await rooms.memory.search(tenant_id, f"what does {canary.word} like?")
    await rooms.knowledge.search(f"where does {canary.word} live?", tenant_id=tenant_id)


def _said(n: int, text: str) -> dict[str, Any]:
    return {"role": "user" if n % 2 == 0 else "assistant", "content": text}


async def _plant_tool_result(rooms: Rooms, tenant_id: str, canary: Canary) -> str:
    rows = [{"row": n, "name": f"{canary.word} {n}"} for n in range(500)]
    call = f"call-{canary.word}"
    ref = await rooms.tool_results.put_tool_result(
        call, rows, tool="look", tenant_id=tenant_id, thread_id=canary.thread_id, shown="many rows"
    )
    asked = {"id": call, "type": "function", "function": {"name": "look", "arguments": "{}"}}
    turns = [
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": call, "content": f"500 rows: {ref.artifact_id}"},
    ]
    await rooms.sessions.append(canary.thread_id, turns, tenant_id=tenant_id)
    return ref.artifact_id


async def _plant_checkpoint(rooms: Rooms, tenant_id: str, canary: Canary) -> None:
    async def answer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"{canary.word}, yes")]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    compiled = graph.compile(checkpointer=rooms.sessions.checkpointer)
    place = {"configurable": {"thread_id": canary.thread_id, "tenant_id": tenant_id}}
    await compiled.ainvoke({"messages": [{"role": "user", "content": f"Is {canary.word} there?"}]}, place)
