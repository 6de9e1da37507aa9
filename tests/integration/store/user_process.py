"""A process that has the embedded database open and does what its standard input says; one answer line per line.

python user_process.py DATA_DIR      →  ready <pid of the postmaster>
add KIND                             →  <entry id>
count                                →  <how many entries the tenant has>
quit                                 →  closes the database and ends
"""

import asyncio
import sys
from pathlib import Path

from clew import ClewError, Database, Settings
from clew.store.journal import Journal

TENANT = "shared"


async def answer(database: Database, line: str) -> str:
    verb, _, rest = line.strip().partition(" ")
    try:
        if verb == "add":
            return await Journal(database).add(TENANT, rest, {})
        return str(len(await Journal(database).newest(TENANT, 1000)))
    except ClewError as error:
        return f"{type(error).__name__} {error}".replace("\n", " ")


async def main() -> None:
    data_dir = Path(sys.argv[1])
    async with Database(settings=Settings(data_dir=data_dir), pool_size=2) as database:
        pid = (data_dir / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0]
        print(f"ready {pid}", flush=True)
        while (line := await asyncio.to_thread(sys.stdin.readline)) and line != "quit\n":
            print(await answer(database, line), flush=True)


asyncio.run(main())
