"""A follow-up on the same topic looks nothing up again, unless something about it was written since."""

import clew

from .conftest import block, says, window


async def ask(thread: clew.Thread, text: str) -> clew.Context:
    await thread.append([says("ok", "assistant"), says(text)])
    return await window(thread)


async def test_a_follow_up_reads_what_was_found_and_searches_nothing(acme, searches):
    await acme.remember("The Lisbon warehouse ships 400 parcels a day.")
    thread = acme.thread("a")
    first = await ask(thread, "How many parcels does the Lisbon warehouse ship?")
    again = await ask(thread, "So how many parcels a day from the Lisbon warehouse?")
    assert (first.manifest.selection.from_cache, again.manifest.selection.from_cache) == (False, True)
    assert searches["memory"] == 1
    assert "400 parcels" in block(again)
    other = await ask(thread, "Who runs the Porto office?")
    assert not other.manifest.selection.from_cache
    assert searches["memory"] == 2


async def test_a_write_about_it_by_anyone_is_seen_and_one_about_something_else_changes_nothing(
    database, acme, searches
):
    await acme.remember("The Lisbon warehouse ships 400 parcels a day.")
    elsewhere = clew.open(database).tenant(acme.tenant_id)
    thread = acme.thread("a")
    await ask(thread, "How many parcels does the Lisbon warehouse ship?")
    await elsewhere.remember("Bananas are yellow.")
    calm = await ask(thread, "How many parcels does the Lisbon warehouse ship, again?")
    assert calm.manifest.selection.from_cache
    await elsewhere.remember("Since May the Lisbon warehouse ships 650 parcels a day.")
    new = await ask(thread, "How many parcels does the Lisbon warehouse ship, again?")
    assert not new.manifest.selection.from_cache
    assert "650 parcels" in block(new)
    await elsewhere.learn("memo", "The Lisbon warehouse ships 700 parcels a day.")
    told = await ask(thread, "How many parcels does the Lisbon warehouse ship, again?")
    assert "700 parcels" in block(told)
    assert searches["memory"] == 3


async def test_what_commits_late_counts_as_written_since(database, acme):
    """A sequence number would not do: the late one drew its number before the others."""
    await acme.remember("The Lisbon warehouse ships 400 parcels a day.")
    thread = acme.thread("a")
    async with database.tenant(acme.tenant_id) as connection:
        await connection.execute(
            "INSERT INTO clew.memories (tenant_id, memory_id, agent_id, content, fingerprint)"
            " VALUES (%s, 'late', 'default', 'The Lisbon warehouse ships 900 parcels.', 'late') RETURNING seq",
            (acme.tenant_id,),
        )
        await connection.execute(
            "INSERT INTO clew.memory_terms (tenant_id, term, seq, frequency, length)"
            " SELECT tenant_id, 'parcel', seq, 1, 5 FROM clew.memories WHERE tenant_id = %s AND memory_id = 'late'",
            (acme.tenant_id,),
        )
        await acme.remember("Bananas are yellow.")  # in a transaction that begins later and ends sooner
        first = await ask(thread, "How many parcels does the Lisbon warehouse ship?")
    assert "900 parcels" not in block(first)
    again = await ask(thread, "How many parcels does the Lisbon warehouse ship, again?")
    assert not again.manifest.selection.from_cache


async def test_what_was_forgotten_or_changed_meanwhile_is_not_shown_as_it_was(engine, acme):
    kept = await acme.remember("The Lisbon warehouse ships 400 parcels a day.")
    gone = await acme.remember("The Lisbon warehouse hides its parcels in a canary cage.")
    thread = acme.thread("a")
    first = await ask(thread, "How many parcels does the Lisbon warehouse ship?")
    assert "canary" in block(first)
    await acme.forget(gone)
    again = await ask(thread, "How many parcels does the Lisbon warehouse ship, again?")
    assert "canary" not in block(again)
    assert "400 parcels" in block(again)
    entry = clew.MemoryEntry(
        memory_id=kept, tenant_id=acme.tenant_id, agent_id="default", content="The Lisbon warehouse ships 5 parcels."
    )
    await engine.memory.store(entry)
    changed = block(await ask(thread, "How many parcels does the Lisbon warehouse ship, again?"))
    assert "5 parcels" in changed
    assert "400 parcels" not in changed


async def test_a_follow_up_in_another_thread_looks_for_itself(acme, searches):
    await acme.remember("The Lisbon warehouse ships 400 parcels a day.")
    for name in ("a", "b"):
        await ask(acme.thread(name), "How many parcels does the Lisbon warehouse ship?")
    assert searches["memory"] == 2
