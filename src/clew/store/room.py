"""A room on the database: one that it is given open, or one of its own."""

from types import TracebackType
from typing import Self

from clew.settings import Settings
from clew.store.database import Database


class Room:
    """What every room has that keeps its things in PostgreSQL.

    `database` is a URL, an open `Database`, or None for `CLEW_DATABASE_URL` and else the embedded server. A database of
    the room's own is opened at first use and closed with the room; one that it was given stays the giver's.
    """

    def __init__(self, database: str | Database | None = None, *, settings: Settings | None = None) -> None:
        self._owned = not isinstance(database, Database)
        self._database = database if isinstance(database, Database) else Database(database, settings=settings)

    async def setup(self) -> None:
        """Open the database; for the embedded one, make it and its tables. Every method does so when it must."""
        await self.opened()

    async def opened(self) -> Database:
        """The database, open."""
        return await self._database.open() if self._owned else self._database

    async def close(self) -> None:
        """Close the database, unless it was given to us open."""
        if self._owned:
            await self._database.close()

    async def __aenter__(self) -> Self:
        await self.setup()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
