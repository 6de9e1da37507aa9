"""What the page says of PostgreSQL's files is so, and what it says to run removes it."""

from pathlib import Path

import psycopg

from clew import MemoryEntry

from .conftest import Rooms
from .scanning import columns_with

WORD = "zyxourbird"
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "erasure.md"


def statistics_with(admin_url: str, word: str) -> int:
    with psycopg.connect(admin_url) as connection:
        [(count,)] = connection.execute(
            "SELECT count(*) FROM pg_statistic s WHERE strpos(lower(s::text), %s) > 0", (word,)
        ).fetchall()
    return count


async def test_statistics_keep_words_until_what_the_page_says_was_run(rooms: Rooms):
    for n in range(3):
        entry = MemoryEntry(tenant_id="acme", agent_id="a", content=f"{WORD} {n}", metadata={"user_id": "u"})
        await rooms.memory.store(entry)
    await rooms.sessions.append("t", {"role": "user", "content": WORD}, tenant_id="acme", user_id="u")
    with psycopg.connect(rooms.admin_url, autocommit=True) as connection:
        connection.execute("ANALYZE")
    assert (await rooms.erasure.user("u", tenant_id="acme")).complete
    assert list(columns_with(rooms.admin_url, WORD)) == []
    assert statistics_with(rooms.admin_url, WORD) > 0, "as the page says"
    block = PAGE.read_text(encoding="utf-8").split("```sql\n")[1].split("```")[0]
    with psycopg.connect(rooms.admin_url, autocommit=True) as connection:
        for statement in block.split(";"):
            if statement.strip():
                connection.execute(statement.encode())
    assert statistics_with(rooms.admin_url, WORD) == 0
