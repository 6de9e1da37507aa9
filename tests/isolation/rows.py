"""Two tenants' rows in every table that has tenants: the tables come from the catalog, the rows from here.

Our tables say whose a row is in tenant_id; LangGraph's, in schema clew_lg_00, in the part of thread_id before the first
slash. Only this file knows the difference: tests write `{column}` and `{tenant}`, and `phrase` in probes.py fills in.
"""

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg import sql

from clew.ids import new_id

ALICE: Final = "alice"
BOB: Final = "bob"
WRITER: Final = "writer"
ROWS_EACH: Final = 3

# `fill` makes the rows 0, 1 and 2 of each tenant; whoever asks later gets a number that nobody had.
_later: Final = itertools.count(1_000)


def _artifact_id(number: int) -> str:
    return "art_" + format(number, "016b").translate(str.maketrans("01", "ab"))


def _blob_id(number: int) -> str:
    return str(UUID(int=number))


# One row a table: what to write beside the tenant, and first the column that tells rows apart. Each tenant has a thread
# "0" from `fill`, for the tables that refer to threads. A new table needs a line here before its walls count as tested.
MAKERS: Final[dict[str, Callable[[int], dict[str, Any]]]] = {
    "clew.journal": lambda number: {"entry_id": new_id(), "kind": "isolation"},
    "clew.threads": lambda number: {"thread_id": str(number)},
    "clew.messages": lambda number: {
        "position": number + 1,
        "thread_id": "0",
        "message_id": new_id(),
        "tokens": 1,
        "words": "",
        "message": "{}",
    },
    "clew.appends": lambda number: {
        "idempotency_key": str(number),
        "thread_id": "0",
        "digest": "",
        "message_ids": "{}",
    },
    "clew.memories": lambda number: {
        "seq": number,
        "memory_id": str(number),
        "agent_id": "agent",
        "content": "isolation",
        "fingerprint": str(number),
    },
    "clew.memory_terms": lambda number: {"seq": number, "term": "isolation", "frequency": 1, "length": 1},
    "clew.memory_totals": lambda number: {"shard": number, "entries": 1, "length": 1},
    "clew.memory_spaces": lambda number: {"space": str(number), "model": "model", "dimensions": 2, "active": False},
    "clew.memory_vectors": lambda number: {"seq": number, "space": "0", "embedding": "[1,2]"},
    # Far from where the identity begins: the triggers on clew.memories write rows of their own.
    "clew.memory_changes": lambda number: {"change": 10**9 + number, "memory_id": str(number), "act": "added"},
    "clew.blobs": lambda number: {"blob_id": _blob_id(number)},
    "clew.artifacts": lambda number: {
        "artifact_id": _artifact_id(number),
        "blob_id": _blob_id(0),
        "media_type": "text/plain",
    },
    "clew.artifact_uses": lambda number: {"thread_id": str(number), "artifact_id": _artifact_id(0)},
    "clew.tool_results": lambda number: {
        "result_id": new_id(),
        "tool_call_id": str(number),
        "tool": "tool",
        "form": "text",
        "full_tokens": 1,
        "shown_tokens": 1,
    },
    "clew.compactions": lambda number: {
        "generation": number + 1,
        "thread_id": "0",
        "compaction_id": new_id(),
        "through": 1,
        "view": "{}",
        "tiers": "{}",
        "log_tokens": 2,
        "tokens_before": 2,
        "tokens_after": 1,
    },
    "clew.compaction_refusals": lambda number: {
        "refusal_id": new_id(),
        "thread_id": "0",
        "generation": 1,
        "at_position": 1,
        "code": "empty",
        "reason": "isolation",
    },
    "clew.episodes": lambda number: {
        "episode_id": _blob_id(number),
        "name": "isolation",
        "source": "text",
        "body": "",
        "reference_time": "2024-01-01",
        "created_at": "2024-01-01",
    },
    "clew.facts": lambda number: {
        "seq": number,
        "fact_id": _blob_id(number),
        "text": "isolation",
        "slot": str(number),
        "confidence": 1,
        "created_at": "2024-01-01",
    },
    "clew.fact_beliefs": lambda number: {
        "belief": number,
        "seq": 0,
        "slot": str(number),
        "single": True,
        "created_at": "2024-01-01",
        "episode_id": _blob_id(0),
    },
    "clew.fact_sources": lambda number: {
        "place": number,
        "episode_id": _blob_id(0),
        "seq": 0,
        "slot": "0",
        "act": "holds",
        "valid_at": "2024-01-01",
        "text": "isolation",
    },
    "clew.fact_terms": lambda number: {"seq": number, "term": "isolation", "frequency": 1, "length": 1},
    "clew.fact_totals": lambda number: {"shard": number, "facts": 1, "length": 1},
    "clew.fact_vectors": lambda number: {"seq": number, "space": "0", "embedding": "[1,2]"},
    "clew.entity_aliases": lambda number: {"alias": str(number), "entity": "isolation", "episode_id": _blob_id(0)},
    "clew.fact_changes": lambda number: {
        "change": number,
        "fact_id": _blob_id(number),
        "episode_id": _blob_id(0),
        "act": "added",
        "at": "2024-01-01",
    },
    "clew.standing_instructions": lambda number: {
        "instruction_id": _blob_id(number),
        "scope": "tenant",
        "text": "isolation",
    },
    "clew.gate_refusals": lambda number: {"reason": str(number), "refused": 1},
    "clew_lg_00.checkpoints": lambda number: {"checkpoint_id": str(number), "checkpoint": "{}"},
    "clew_lg_00.checkpoint_blobs": lambda number: {"version": str(number), "channel": "channel", "type": "empty"},
    "clew_lg_00.checkpoint_writes": lambda number: {
        "checkpoint_id": str(number),
        "task_id": "task",
        "idx": 0,
        "channel": "channel",
        "blob": "",
    },
}

# The log first: what tests do to memories afterwards adds rows to it.
_TENANT_TABLES: Final = """
    SELECT format('%I.%I', n.nspname, c.relname)
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
                         AND a.attname = CASE n.nspname WHEN 'clew' THEN 'tenant_id' ELSE 'thread_id' END
     WHERE n.nspname ~ '^clew(_lg_[0-9]{2})?$' AND c.relkind IN ('r', 'p')
     ORDER BY c.relname <> 'memory_changes', 1
"""


class NoRowMaker(AssertionError):
    """A table with tenants that these tests have no row for."""


def tenant_tables(connection: psycopg.Connection) -> list[str]:
    """Every table that has tenants, ours and LangGraph's, as the catalog knows them."""
    return [name for (name,) in connection.execute(_TENANT_TABLES)]


def column(table: str) -> str:
    """The column that says whose a row is."""
    return "tenant_id" if table.startswith("clew.") else "thread_id"


def tenant(table: str) -> str:
    """The SQL that reads the tenant from that column."""
    return "tenant_id" if table.startswith("clew.") else "split_part(thread_id, '/', 1)"


def owned(table: str, tenant_id: str) -> dict[str, str]:
    """What that column says in a tenant's rows."""
    return {column(table): tenant_id if table.startswith("clew.") else f"{tenant_id}/thread"}


def insertion(table: str, tenant_id: str, number: int | None = None) -> tuple[sql.Composed, dict[str, Any]]:
    """A statement that adds one row of a tenant's to a table, and its values."""
    if table not in MAKERS:
        raise NoRowMaker(f"{table} has tenants and no row to test it with: add one to MAKERS in rows.py")
    row = {**owned(table, tenant_id), **MAKERS[table](next(_later) if number is None else number)}
    columns, values = sql.SQL(", ").join(map(sql.Identifier, row)), sql.SQL(", ").join(map(sql.Placeholder, row))
    return sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(named(table), columns, values), row


def fill(connection: psycopg.Connection, tenant_ids: Iterable[str] = (ALICE, BOB)) -> None:
    """Rows of every tenant in every table, written by an administrator in one transaction, in whichever order."""
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        for table in tenant_tables(connection):
            for tenant_id in tenant_ids:
                for number in range(ROWS_EACH):
                    connection.execute(*insertion(table, tenant_id, number))


def named(table: str) -> sql.Identifier:
    """A table's name, as an identifier."""
    return sql.Identifier(*table.split("."))
