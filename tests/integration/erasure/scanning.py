"""Looking for a word everywhere: every column of every table, every object's bytes, the logs, this process's caches."""

import asyncio
import gc
import logging
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import psycopg
from psycopg import sql

from clew.erasure.caches import word_caches
from clew.store.database import Database

from .conftest import Rooms

_COLUMNS: Final = """
    SELECT n.nspname, c.relname, a.attname, a.atttypid = 'bytea'::regtype
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND c.relkind IN ('r', 'p', 'm')
"""
_AS_TEXT: Final = sql.SQL("SELECT count(*) FROM {} WHERE strpos(lower({}::text), %s) > 0")
_AS_BYTES: Final = sql.SQL("SELECT count(*) FROM {} WHERE position(convert_to(%s, 'UTF8') IN {}) > 0")
# What a logger wrote is looked for in the log; what an event loop runs is this very test.
_DEAD_ENDS: Final = (
    ModuleType,
    FunctionType,
    MethodType,
    FrameType,
    type,
    Database,
    logging.Logger,
    asyncio.AbstractEventLoop,
    asyncio.Future,
)


def everywhere(rooms: Rooms, word: str) -> set[str]:
    """The places that hold a word now."""
    found = {f"table {name}" for name in columns_with(rooms.admin_url, word)}
    found |= {"an object" for data in bytes_of(rooms.objects) if word.encode() in data.lower()}
    found |= {f"cache {name}" for name, root in _roots(rooms) if any(word in text for text in texts_in(root))}
    return found


def columns_with(admin_url: str, word: str) -> Iterator[str]:
    """Every column of every table in which the word stands, as somebody sees them who sees everything."""
    with psycopg.connect(admin_url) as connection:
        for schema, table, column, is_bytes in connection.execute(_COLUMNS).fetchall():
            where, what = sql.Identifier(schema, table), sql.Identifier(column)
            query = (_AS_BYTES if is_bytes else _AS_TEXT).format(where, what)
            [(count,)] = connection.execute(query, (word,)).fetchall()
            if count:
                yield f"{schema}.{table}.{column}"


def bytes_of(folder: Path) -> Iterator[bytes]:
    return (path.read_bytes() for path in folder.rglob("*") if path.is_file())


def _roots(rooms: Rooms) -> Iterator[tuple[str, Any]]:
    """What outlives a call: what searches keep, what functions remember, and the package's own globals."""
    yield "memory", rooms.memory._searcher
    yield "knowledge", rooms.knowledge._searcher
    yield "words", list(word_caches())
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "clew":
            yield name, [value for value in vars(module).values() if not isinstance(value, _DEAD_ENDS)]


def texts_in(root: Any) -> Iterable[str]:
    """Every text that can be reached from an object, without going into the program itself."""
    seen: set[int] = set()
    left = [root]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, _DEAD_ENDS):
            continue
        seen.add(id(one))
        if isinstance(one, str):
            yield one.lower()
        else:
            left += gc.get_referents(one)
            # The collector passes over keys that are texts: they refer to nothing.
            left += list(one) if isinstance(one, dict) else []
