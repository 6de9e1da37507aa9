"""What was told under a name that a forgotten episode had given goes back under the name it was told by."""

from datetime import datetime
from typing import Any, Final, NamedTuple

from psycopg import AsyncConnection

from clew.memory.knowledge.stating import new_name
from clew.store.named_sql import statements

_SQL: Final = statements("knowledge")


class _Move(NamedTuple):
    seq: int
    slot: str
    topic: str
    subject_key: str


async def give_back_names(connection: AsyncConnection[Any], tenant_id: str, at: datetime) -> list[str]:
    """Move facts whose name nobody gives any more; the slots to believe anew, those they left and those they are in."""
    rows = await _rows(connection, _SQL.renamed_sources, tenant_id)
    words = {word for *_, (topic, _, subject_key) in rows for word in (topic, subject_key, *topic.split())}
    entity_of = dict(await _rows(connection, _SQL.aliases, tenant_id, keys=sorted(words)))
    left: list[str] = []
    moves: dict[int, _Move] = {}
    for seq, _, _, slot, (topic, told_slot, subject_key) in rows:
        now = new_name(topic, entity_of)
        wanted = f"{now}{told_slot[len(topic) :]}"
        if wanted != slot and seq not in moves:
            left.append(slot)
            moves[seq] = _Move(seq, wanted, now, new_name(subject_key, entity_of))
    if moves:
        columns = dict(zip(_Move._fields, map(list, zip(*moves.values(), strict=True)), strict=True))
        for statement in (_SQL.expire_facts, _SQL.move_facts, _SQL.move_beliefs, _SQL.move_sources):
            await connection.execute(statement, {"tenant_id": tenant_id, "at": at, **columns})
    return list(dict.fromkeys([*left, *(move.slot for move in moves.values())]))


async def _rows(connection: AsyncConnection[Any], statement: Any, tenant_id: str, **values: Any) -> list[Any]:
    return await (await connection.execute(statement, {"tenant_id": tenant_id, **values})).fetchall()
