"""`Selector`: looks up what helps with a turn, and nothing when nothing would."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, Protocol

from clew.context.intent import Intent, classify_intent
from clew.context.selecting.asking import Asked, asked, is_specific
from clew.context.selecting.found import Found, line_of, of_entries, of_fact, of_facts, of_message
from clew.context.selecting.selection import CANDIDATES, SHOWN, Selection
from clew.context.selecting.topics import Topic, Topics, topic_of
from clew.context.selecting.weighing import weighed
from clew.context.speech import Turn
from clew.context.task import Task
from clew.errors import Unavailable
from clew.logs import logger
from clew.memory.analysis import content_stems, words
from clew.models.rerank import Reranker, reranked
from clew.store.named_sql import statements
from clew.store.room import Room

if TYPE_CHECKING:
    from clew.memory import MemoryEntry
    from clew.memory.knowledge import Fact
    from clew.sessions import StoredMessage

log: Final = logger("clew.context")

# A memory, an embedder or a graph of the caller's may never answer; the window is compiled without it then.
SEARCH_MAX_S: Final = 30.0
NEAR: Final = 3
NEIGHBOURS: Final = 20
PAST: Final = 20
PAST_WORDS: Final = 16
PAST_WORD_MIN_CHARS: Final = 3
# What stood around a memory is read for so many of the best: more are never shown.
WIDENED: Final = 2 * SHOWN
REACH: Final = 3
_SQL: Final = statements("selecting")


class Memories(Protocol):
    """What is needed of a memory. One that also has `candidates`, `fetch` and `around` is asked for more."""

    async def search(self, tenant_id: str, query: str, limit: int = 10) -> "list[MemoryEntry]": ...


class Knowledge(Protocol):
    """What is needed of a knowledge base."""

    async def search(self, query: str, *, tenant_id: str = "default", limit: int = 5) -> "list[Fact]": ...

    async def neighbours(self, query: str, *, tenant_id: str = "default", limit: int = 20) -> "list[Fact]": ...

    async def fetch(self, fact_ids: Sequence[str], *, tenant_id: str = "default") -> "list[Fact]": ...


class Log(Protocol):
    """What is needed of a session log, to find what a thread no longer shows."""

    async def search(
        self, thread_id: str, query: str, limit: int = 10, *, tenant_id: str = "default", match: Any = "any"
    ) -> "list[StoredMessage]": ...

    async def at(
        self, thread_id: str, positions: Sequence[int], *, tenant_id: str = "default"
    ) -> "list[StoredMessage]": ...


class Judge(Protocol):
    """Decides what a message wants, where its words alone leave it open."""

    async def classify(self, message: Any, history: Any = ()) -> Intent: ...


@dataclass(frozen=True, slots=True)
class Place:
    """Whose turn it is, and what of the thread it no longer shows."""

    tenant_id: str
    thread_id: str
    hidden_through: int = 0
    speaker: str | None = None
    """Who says "my" in the thread."""


class Selector:
    """The stores of one tenant's turn, asked together.

    Only `memory` is needed. With `knowledge` facts are found too, with `sessions` what a thread no longer shows, and
    with `room` a topic is remembered: the database says whether anything was written since.
    """

    def __init__(
        self,
        memory: Memories,
        *,
        knowledge: Knowledge | None = None,
        sessions: Log | None = None,
        room: Room | None = None,
        reranker: Reranker | None = None,
        judge: Judge | None = None,
    ) -> None:
        self._memory, self._knowledge, self._sessions = memory, knowledge, sessions
        self._room = room
        self._reranker, self._judge = reranker, judge
        self.topics = Topics()

    async def select(self, place: Place, task: Task, recent: Sequence[Turn]) -> Selection:
        """What the turn wants, and what is known about it, best first."""
        said = await self._said_intent(recent)
        intent = _intent(task, said)
        question = asked(
            task.description, recent, looks_up_message=said is None or said.needs_lookup, speaker=place.speaker
        )
        if not intent.needs_lookup or not question.stems:
            return Selection(intent.kind, intent.confidence, intent.reason)
        selection = await self._looked_up(place, question)
        return replace(selection, intent=intent.kind, confidence=intent.confidence, reason=intent.reason)

    async def _said_intent(self, recent: Sequence[Turn]) -> Intent | None:
        """What the user's latest message wants; None when no user has spoken."""
        at = next((n for n in range(len(recent) - 1, -1, -1) if recent[n].role == "user"), None)
        if at is None or not recent[at].text.strip():
            return None
        message, history = {"role": "user", "content": recent[at].text}, [_said(turn) for turn in recent[:at]]
        if self._judge is not None:
            return await self._judge.classify(message, history)
        return classify_intent(message, history)

    async def shown(self, tenant_id: str, thread_id: str) -> list[str]:
        """What the thread was last shown from memory, as far as this process knows."""
        topic = self.topics.get(tenant_id, thread_id)
        if topic is None:
            return []
        best = replace(topic, kept=tuple(one for one in topic.kept[:WIDENED] if one.position is None))
        found = await self._read_again(Place(tenant_id, thread_id), best, Asked(""))
        return [one.memory.content for one in found]

    async def near(self, tenant_id: str, content: str) -> list[str]:
        """The memories nearest to a text: what an agent says again may have been shown to it long ago, or elsewhere."""
        return [entry.content for entry in await self._memory.search(tenant_id, content, NEAR)]

    async def _looked_up(self, place: Place, question: Asked) -> Selection:
        topic = self.topics.get(place.tenant_id, place.thread_id) if self._room is not None else None
        if topic is not None and topic.holds(question.stems, place.hidden_through):
            again = await self._again(place, topic, question)
            if again is not None:
                return again
        snapshot = await self._snapshot(place)
        found, sources, notes = await self._searched(place, question)
        if snapshot and not notes:
            made = topic_of(question.stems, found, sources, place.hidden_through, snapshot)
            self.topics.keep(place.tenant_id, place.thread_id, made)
        return _selection(question, await self._widened(place, found), sources, notes)

    async def _searched(self, place: Place, question: Asked) -> tuple[list[Found], dict[str, int], tuple[str, ...]]:
        searches: dict[str, Awaitable[list[Found]]] = {"memory": self._memories(place, question)}
        if self._knowledge is not None:
            searches["facts"] = self._facts(self._knowledge, place, question)
            searches["neighbours"] = self._neighbours(self._knowledge, place, question)
        if self._sessions is not None and place.hidden_through > 0:
            searches["past"] = self._past(self._sessions, place, question)
        answers = await asyncio.gather(*map(_in_time, searches.values()), return_exceptions=True)
        found, sources, notes = [], {}, []
        for store, answer in zip(searches, answers, strict=True):
            if isinstance(answer, Unavailable):
                log.warning(f"{store}_search_failed", tenant_id=place.tenant_id, code=answer.code)
                notes.append(f"compiled without {_NAMES[store]}: the search failed ({answer})")
            elif isinstance(answer, BaseException):
                raise answer
            else:
                sources[store] = len(answer)
                found += answer
        best = weighed(found, question.stems)[:CANDIDATES]
        if self._reranker is not None:
            best, failure = await reranked(
                self._reranker, question.text, best, lambda one: one.memory.content, CANDIDATES
            )
            notes += [] if failure is None else [f"not reranked: {failure}"]
        return best, sources, tuple(notes)

    async def _memories(self, place: Place, question: Asked) -> list[Found]:
        search = getattr(self._memory, "candidates", self._memory.search)
        return of_entries(await search(place.tenant_id, question.searched, CANDIDATES))

    async def _facts(self, knowledge: Knowledge, place: Place, question: Asked) -> list[Found]:
        return of_facts(await knowledge.search(question.searched, tenant_id=place.tenant_id, limit=CANDIDATES))

    async def _neighbours(self, knowledge: Knowledge, place: Place, question: Asked) -> list[Found]:
        facts = await knowledge.neighbours(question.searched, tenant_id=place.tenant_id, limit=NEIGHBOURS)
        return [of_fact(fact, "neighbours", _shared(fact.text, question)) for fact in facts]

    async def _past(self, sessions: Log, place: Place, question: Asked) -> list[Found]:
        wanted = _wanted(question)
        if not wanted:
            return []
        rows = await sessions.search(place.thread_id, " ".join(wanted), PAST, tenant_id=place.tenant_id, match="any")
        hidden = [row for row in rows if row.position <= place.hidden_through and row.message.text.strip()]
        return [of_message(row, wanted, _shared(row.message.text, question)) for row in hidden]

    async def _widened(self, place: Place, found: Sequence[Found]) -> list[Found]:
        """The best memories with what was said around them."""
        around = getattr(self._memory, "around", None)
        best = [one.memory.memory_id for one in _leads(found)]
        if around is None or not best:
            return list(found)
        try:
            near: Mapping[str, tuple[list[MemoryEntry], list[MemoryEntry]]] = await around(place.tenant_id, best, REACH)
        except Unavailable:
            return list(found)  # what was found can be shown without its neighbours
        return [_with_neighbours(one, *near.get(one.memory.memory_id, ([], []))) for one in found]

    async def _snapshot(self, place: Place) -> str:
        if self._room is None:
            return ""
        async with (await self._room.opened()).tenant(place.tenant_id) as connection:
            row = await (await connection.execute(_SQL.snapshot)).fetchone()
        return str(row[0]) if row else ""

    async def _again(self, place: Place, topic: Topic, question: Asked) -> Selection | None:
        """What the topic found, as it is now; None when something about it was written since."""
        assert self._room is not None  # noqa: S101 - topics are kept only with a room
        values = {"tenant_id": place.tenant_id, "terms": list(question.stems), "snapshot": topic.snapshot}
        async with (await self._room.opened()).tenant(place.tenant_id) as connection:
            row = await (await connection.execute(_SQL.written_since, values)).fetchone()
        if row is None or row[0]:
            return None
        found = await self._read_again(place, topic, question)
        # With the snapshot it had: only the words of this question were asked about, and the next has others.
        self.topics.keep(place.tenant_id, place.thread_id, topic)
        selection = _selection(question, await self._widened(place, found), dict(topic.sources), ())
        return replace(selection, from_cache=True)

    async def _read_again(self, place: Place, topic: Topic, question: Asked) -> list[Found]:
        ids = {kind: [one.id for one in topic.kept if one.kind == kind] for kind in ("memory", "fact")}
        past = [one.position for one in topic.kept if one.position is not None]
        fetch: Any = getattr(self._memory, "fetch", None)
        found: list[Found] = []
        if ids["memory"] and fetch is not None:
            found += of_entries(await fetch(place.tenant_id, ids["memory"]))
        if ids["fact"] and self._knowledge is not None:
            found += map(of_fact, await self._knowledge.fetch(ids["fact"], tenant_id=place.tenant_id))
        if past and self._sessions is not None:
            rows = await self._sessions.at(place.thread_id, sorted(past), tenant_id=place.tenant_id)
            found += [of_message(row, _wanted(question), 0.0) for row in rows]
        by_key = {one.key: one for one in found}
        return [by_key[one.kind, one.id].scored(one.score) for one in topic.kept if (one.kind, one.id) in by_key]


_NAMES: Final = {
    "memory": "memories",
    "facts": "facts",
    "neighbours": "neighbouring facts",
    "past": "the thread's past",
}


async def _in_time(search: Awaitable[list[Found]]) -> list[Found]:
    """The answer of a store, unless it takes so long that nobody would wait for it."""
    limit = asyncio.timeout(SEARCH_MAX_S)
    try:
        async with limit:
            return await search
    except TimeoutError:
        if not limit.expired():
            raise
        raise Unavailable(f"no answer in {SEARCH_MAX_S:g} s") from None


def _intent(task: Task, said: Intent | None) -> Intent:
    """What the turn wants: what the user said, unless that needs nothing and the task does."""
    if said is not None and (said.needs_lookup or not is_specific(task.description)):
        return said
    if is_specific(task.description):
        return Intent("task", 1.0, "the task says what to do")
    return Intent("task", 0.5, "nobody has spoken, and the task does not say of what")


def _selection(
    question: Asked, found: Sequence[Found], sources: Mapping[str, int], notes: tuple[str, ...]
) -> Selection:
    return Selection(
        intent="",
        confidence=0.0,
        reason="",
        asked=question.text,
        carried=question.carried,
        sources=sources,
        found=tuple(one.memory for one in _in_order(found, question.speaker)),
        notes=notes,
    )


def _in_order(found: Sequence[Found], speaker: str | None) -> list[Found]:
    """The best few with facts that hold first, the newest of them leading; then all others as they rank.

    Where the question says "my", what is said of the one who asks comes before what is said of others.
    """
    head, rest = found[:SHOWN], found[SHOWN:]

    def of_others(one: Found) -> bool:
        return speaker is not None and speaker.casefold() not in one.memory.content.casefold()

    newest = sorted(
        (one for one in head if one.memory.kind == "fact" and one.memory.status is None),
        key=lambda one: (of_others(one), -(one.at.timestamp() if one.at else 0.0)),
    )
    return [*newest, *(one for one in head if one not in newest), *rest]


def _leads(found: Sequence[Found]) -> list[Found]:
    """The best memory of each conversation, as many as may be shown and some to spare."""
    leads: dict[str, Found] = {}
    for one in found:
        if one.memory.conversation is not None:
            leads.setdefault(one.memory.conversation, one)
    return list(leads.values())[:WIDENED]


def _with_neighbours(one: Found, before: "Sequence[MemoryEntry]", after: "Sequence[MemoryEntry]") -> Found:
    if one.memory.kind != "memory" or not (before or after):
        return one
    sides = zip_longest(reversed(before), after)
    near = tuple(line_of(entry) for pair in sides for entry in pair if entry is not None)
    return replace(one, memory=replace(one.memory, near=near))


def _shared(text: str, question: Asked) -> float:
    """The share of the question's words that a text has."""
    return len(set(content_stems(words(text))) & set(question.stems)) / max(len(question.stems), 1)


def _wanted(question: Asked) -> list[str]:
    """The words to look for in the log."""
    telling = (word for word in words(question.text) if len(word) >= PAST_WORD_MIN_CHARS and content_stems([word]))
    return list(dict.fromkeys(telling))[:PAST_WORDS]


def _said(turn: Turn) -> dict[str, str]:
    return {"role": turn.role, "content": turn.text}
