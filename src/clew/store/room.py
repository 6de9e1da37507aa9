"""A room on the database: one that it is given open, or one of its own."""

from types import TracebackType
from typing import Self

from clew.settings import Settings
from clew.store.database import Database


class Room:
    """What every room has that keeps its things in PostgreSQL.

    `database` is a URL, an open `Database`, another room whose database to share, or None for `CLEW_DATABASE_URL` and
    else the embedded server. A database of the room's own is opened at first use and closed with the room; one that it
    was given stays the giver's.
    """

    def __init__(self, database: "str | Database | Room | None" = None, *, settings: Settings | None = None) -> None:
        self._host: Room | None = database if isinstance(database, Room) else None
        given: str | Database | None = database._database if isinstance(database, Room) else database
        self._owned = not isinstance(given, Database)
        self._database: Database = given if isinstance(given, Database) else Database(given, settings=settings)

    async def setup(self) -> None:
        """Open the database; for the embedded one, make it and its tables. Every method does so when it must."""
        await self.opened()

    async def opened(self) -> Database:
        """The database, open."""
        if self._host is not None:
            return await self._host.opened()
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
