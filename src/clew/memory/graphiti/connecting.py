"""Where the graph is, and a driver of Graphiti's to it."""

import asyncio
import importlib
import importlib.util
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from clew.errors import InvalidInput
from clew.limits import CONNECT_TIMEOUT_S

if TYPE_CHECKING:
    from graphiti_core.driver.driver import GraphDriver

EXTRA: Final = "pip install 'clew[graphiti]'"
# Graphiti tells its makers about every start unless this is false.
TELEMETRY: Final = "GRAPHITI_TELEMETRY_ENABLED"
_NEO4J: Final = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_FALKORDB: Final = ("falkor", "falkors", "redis", "rediss", "unix")
_EXAMPLES: Final = "neo4j://user:password@localhost:7687, or falkor://localhost:6379"


@dataclass(frozen=True, slots=True)
class Address:
    """A graph database by its URL, taken apart so that no message ever shows the password."""

    scheme: str
    host: str
    port: int | None
    user: str | None
    password: str | None = field(repr=False)
    path: str
    query: str = field(repr=False)

    @property
    def falkordb(self) -> bool:
        return self.scheme in _FALKORDB


def read_address(url: object) -> Address:
    """The address that a URL names; `InvalidInput` without the URL when it names none."""
    if not isinstance(url, str):
        raise InvalidInput(f"expected a URL, got {type(url).__name__}", where="url", fix=f"Such as {_EXAMPLES}")
    try:
        parts = urlsplit(url)
        address = _taken_apart(parts)
    except ValueError:
        raise InvalidInput("this is not a URL", where="url", fix=f"Such as {_EXAMPLES}") from None
    if address.scheme not in (*_NEO4J, *_FALKORDB):
        schemes = ", ".join((*_NEO4J, *_FALKORDB))
        raise InvalidInput("names no graph database", where="url", fix=f"It begins with one of {schemes}")
    if not (address.path if address.scheme == "unix" else address.host):
        raise InvalidInput("names no server", where="url", fix=f"Such as {_EXAMPLES}")
    if address.falkordb and address.scheme != "unix" and address.path not in ("", "0"):
        raise InvalidInput("FalkorDB has graphs in database 0 only", where="url", fix="Leave the path out")
    return address


def _taken_apart(parts: SplitResult) -> Address:
    user, password = parts.username, parts.password
    if parts.scheme == "unix" and password is None:
        password = next(iter(parse_qs(parts.query).get("password", ())), None)
    return Address(
        parts.scheme,
        parts.hostname or "",
        parts.port,
        unquote(user) if user else None,
        unquote(password) if password else None,
        parts.path if parts.scheme == "unix" else parts.path.strip("/"),
        parts.query,
    )


def need_extra(address: Address) -> None:
    """Nothing, when what the address needs is installed."""
    needed = ("graphiti_core", "falkordb") if address.falkordb else ("graphiti_core", "neo4j")
    if any(importlib.util.find_spec(name) is None for name in needed):
        raise InvalidInput("Graphiti is not installed", where="GraphitiKnowledgeBase", fix=EXTRA)


class Connection:
    """One connection, for all tenants."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._client: Any = None
        self._indexed = False
        self._opening = asyncio.Lock()

    async def check(self) -> None:
        """Nothing, when the server is there, lets us in and is what the URL says."""
        client = await self._opened()
        await (client.list_graphs() if self._address.falkordb else client.client.verify_connectivity())

    async def driver(self, group_id: str) -> "GraphDriver":
        """A driver whose searches, writes and indices are those of a tenant's graph; its indices are there."""
        client = await self._opened()
        if self._address.falkordb:
            falkor = importlib.import_module("graphiti_core.driver.falkordb_driver")
            driver: GraphDriver = await asyncio.to_thread(falkor.FalkorDriver, falkor_db=client, database=group_id)
            await driver.build_indices_and_constraints()
            return driver
        neo4j: GraphDriver = client
        if not self._indexed:
            # Without, each index is tried for half a minute when there is no server.
            await client.client.verify_connectivity()
            await neo4j.build_indices_and_constraints()
            self._indexed = True
        return neo4j

    async def _opened(self) -> Any:
        """The client. Made in a thread, as the drivers are: FalkorDB's asks the server something at once, and blocks.

        And where a loop runs, a driver starts a task of its own to make the indices, which nobody waits for.
        """
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(_client, self._address)
            return self._client

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await (client.aclose() if self._address.falkordb else client.close())


def _client(address: Address) -> Any:
    """FalkorDB's client, or Graphiti's driver of Neo4j. Neither is ever given the URL as it was written."""
    os.environ[TELEMETRY] = "false"
    if not address.falkordb:
        from graphiti_core.driver.neo4j_driver import Neo4jDriver

        host = f"[{address.host}]" if ":" in address.host else address.host
        port = "" if address.port is None else f":{address.port}"
        query = f"?{address.query}" if address.query else ""
        uri = f"{address.scheme}://{host}{port}{query}"
        return Neo4jDriver(uri, address.user, address.password, database=address.path or "neo4j")
    known: dict[str, Any] = {"username": address.user, "password": address.password}
    if address.scheme == "unix":
        known["unix_socket_path"] = address.path
    else:
        known |= {"host": address.host, "port": address.port or 6379, "ssl": address.scheme in ("falkors", "rediss")}
    return importlib.import_module("falkordb.asyncio").FalkorDB(socket_connect_timeout=CONNECT_TIMEOUT_S, **known)
