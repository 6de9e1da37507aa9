"""Looking facts up without ranking them: by id, by the names in a question, by what a text says."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from psycopg import AsyncConnection

from clew.memory.analysis import content_stems, words
from clew.memory.knowledge.beliefs import held_spans, undated_tellings
from clew.memory.knowledge.episodes import Sent
from clew.memory.knowledge.extract import phrase_key
from clew.memory.knowledge.extract.context import USER
from clew.memory.knowledge.fact import Episode, Fact
from clew.memory.knowledge.reading import facts_ever, facts_now, told_facts
from clew.memory.knowledge.storing import named
from clew.memory.knowledge.timeline import settle
from clew.store.named_sql import statements

HISTORY_MAX: Final = 1_000
# How much of a question is looked up, and how many words a name may have.
QUERY_MAX_WORDS: Final = 48
NAME_MAX_WORDS: Final = 4

_SQL: Final = statements("knowledge")
_SEARCH: Final = statements("knowledge_search")
_WORD: Final = re.compile(r"[^\W_](?:[\w.&@/+:’'-]*[^\W_])?")
_SPEAKER: Final = frozenset({"i", "me", "my", "mine", "i'm", "i’m"})


async def believed(connection: AsyncConnection[Any], tenant_id: str, sent: Sent) -> bool:
    """Whether all that an episode would say is believed already. An episode that says nothing is not known."""
    said = await named(connection, tenant_id, sent)
    spans = await held_spans(connection, tenant_id, [one.statement for one in said])
    undated = await undated_tellings(connection, tenant_id, [one.statement for one in said])
    for one in said:
        before = spans.get(one.statement.slot, ())
        done = settle(before, one.statement, undated)
        if done.fact == one.statement.fact or done.spans != before:
            return False
    return bool(said)


async def neighbouring(connection: AsyncConnection[Any], tenant_id: str, query: str, limit: int) -> list[Fact]:
    """What holds of the things that a question names, or leads to them; the longest name first, then the newest."""
    keys = list(dict.fromkeys(_names(query)))
    if not keys:
        return []
    rows = await _rows(connection, _SEARCH.known_names, tenant_id, keys=keys)
    meant: dict[str, list[str]] = {}
    for name, other in rows:
        meant.setdefault(name, []).append(other)
    wanted = list(dict.fromkeys(one for key in keys for one in (key, *sorted(meant.get(key, ())))))
    seqs = [seq for (seq,) in await _rows(connection, _SEARCH.neighbours, tenant_id, keys=wanted, limit=limit)]
    found = await facts_now(connection, tenant_id, seqs)
    return (await told_facts(connection, tenant_id, found, seqs))[:limit]


async def by_ids(connection: AsyncConnection[Any], tenant_id: str, fact_ids: Sequence[str]) -> list[Fact]:
    """Facts as they are now, or were believed last, in the order asked; what is gone is left out."""
    seq_of = dict(await _rows(connection, _SEARCH.by_ids, tenant_id, fact_ids=list(fact_ids)))
    seqs = [seq_of[one] for one in dict.fromkeys(fact_ids) if one in seq_of]
    found = await facts_ever(connection, tenant_id, seqs)
    latest = {seq: facts[-1:] for seq, facts in found.items()}
    return await told_facts(connection, tenant_id, latest, seqs)


async def newest_episodes(connection: AsyncConnection[Any], tenant_id: str, limit: int) -> list[Episode]:
    """What was learnt last, newest first."""
    return [Episode(*row) for row in await _rows(connection, _SQL.episodes, tenant_id, limit=limit)]


async def about(connection: AsyncConnection[Any], tenant_id: str, key: str, subject: str) -> list[Fact]:
    """All ever believed of a subject; when there is nothing, of those whose subject has all of its words."""
    named_as = await _rows(connection, _SEARCH.names_of, tenant_id, key=key)
    values = {"keys": [key, *(name for (name,) in named_as)], "limit": HISTORY_MAX}
    rows = await _rows(connection, _SEARCH.about, tenant_id, **values)
    terms = list(dict.fromkeys(content_stems(words(subject))))
    if not rows and terms:
        rows = await _rows(connection, _SEARCH.naming, tenant_id, **values, terms=terms)
    seqs = [seq for (seq,) in rows]
    return await told_facts(connection, tenant_id, await facts_ever(connection, tenant_id, seqs), seqs)


def _names(query: str) -> Iterator[str]:
    """What may be a name in a question, by its key, the longest first; whoever says “I” last."""
    said = [re.sub(r"['’]s$", "", word) for word in _WORD.findall(query)[:QUERY_MAX_WORDS]]
    for length in range(NAME_MAX_WORDS, 0, -1):
        for start in range(len(said) - length + 1):
            part = " ".join(said[start : start + length])
            # A name begins and ends with a word that says something: no “the” of a question is looked up.
            ends = (said[start], said[start + length - 1])
            if all(content_stems(words(one)) for one in ends) and (key := phrase_key(part)):
                yield key
    if not _SPEAKER.isdisjoint(word.lower() for word in said):
        yield USER


async def _rows(connection: AsyncConnection[Any], statement: Any, tenant_id: str, **values: Any) -> list[Any]:
    return await (await connection.execute(statement, {"tenant_id": tenant_id, **values})).fetchall()
