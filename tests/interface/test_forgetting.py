"""Forgetting, as somebody outside expects it: gone from everywhere, said what went, proved; by code and by `clew`."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

import clew
from clew.store.embedded.cluster import ADMIN_ROLE

from .conftest import assistant, entry, user


@pytest.fixture
def canary() -> str:
    return f"canary{uuid4().hex[:10]}"


@pytest.fixture
def seen(server, settings, database) -> Any:
    """Where a string still is: tables as the administrator sees them, and files that are no PostgreSQL's."""

    def seen(text: str) -> list[str]:
        found = []
        with psycopg.connect(server.conninfo(server.ensure(), ADMIN_ROLE), autocommit=True) as connection:
            connection.execute("SET row_security = off")
            tables = connection.execute(
                "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables "
                "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
            ).fetchall()
            assert len(tables) > 10
            for [table] in tables:
                query = f"SELECT count(*) FROM {table} AS t WHERE t::text ILIKE %s"
                [count] = connection.execute(query, (f"%{text}%",)).fetchone()
                found += [table] * bool(count)
        for file in Path(settings.data_dir).rglob("*"):
            inside = file.relative_to(settings.data_dir).parts
            if "base" in inside or "pg_wal" in inside or not file.is_file():
                continue
            if text.encode() in file.read_bytes():
                found.append(str(file))
        return found

    return seen


async def fill(engine: Any, tenant: str, word: str, user_id: str | None = "ana", thread_id: str = "talk") -> Any:
    """A conversation that leaves its traces everywhere."""
    acme = engine.tenant(tenant)
    thread = acme.thread(thread_id, user_id=user_id)
    await thread.append(user(f"The password hint for {word} is kept by Mr {word}."))
    await thread.append([user(f"Our warehouse in {word} holds 400 pallets."), assistant(f"Noted, {word}.")])
    await thread.append([user(f"Always greet me as {word}."), assistant("Sure.")])
    for n in range(24):
        await thread.append([user(f"What about shelf {n} in {word}?"), assistant(f"Shelf {n} of {word} is full.")])
    await thread.compact()
    await thread.append(user(f"How many pallets does the warehouse in {word} hold?"))
    context = await thread.compile("Answer the user.", "Be brief.")
    assert word in str(context.messages)
    metadata = {"thread_id": thread_id} | ({"user_id": user_id} if user_id else {})
    await acme.remember(f"The door of {word} is green.", metadata)
    return thread


@pytest.mark.parametrize("scope", ["thread", "user", "tenant"])
async def test_a_canary_is_nowhere_afterwards(engine, tenant, other, canary, seen, scope):
    spared = f"spared{uuid4().hex[:8]}"
    await fill(engine, tenant, canary)
    await fill(engine, other, spared)
    before, others = seen(canary), seen(spared)
    assert len(before) >= 5, before
    erasure = engine.erasure
    report = await {
        "thread": lambda: erasure.source(tenant, thread_id="talk"),
        "user": lambda: erasure.user("ana", tenant_id=tenant),
        "tenant": lambda: erasure.tenant(tenant),
    }[scope]()
    assert seen(canary) == []
    assert seen(spared) == others
    assert len(others) >= 5
    assert isinstance(report, clew.ErasureReport)
    assert report.complete is True
    assert report.left == () or report.left == []
    assert (report.scope, report.tenant_id) == (scope, tenant)
    assert report.removed["messages"] >= 50
    assert report.removed["facts"] >= 1
    assert report.removed["memories"] == 1
    assert report.checks
    assert all(check.found == 0 for check in report.checks)
    said = json.dumps(report.as_dict())
    assert canary not in said
    again = await erasure.source(tenant, thread_id="talk")
    assert sum(again.removed.values()) == 0
    assert again.complete is True
    # And nothing is found, compiled or remembered of it, while others still find theirs.
    acme = engine.tenant(tenant)
    assert canary not in str(await acme.facts(f"warehouse {canary} pallets", limit=50))
    assert canary not in str(await acme.recall(f"door of {canary}", limit=50))
    fresh = acme.thread("fresh", user_id="ana")
    await fresh.append(user("How many pallets does the warehouse hold?"))
    assert canary not in str((await fresh.compile("Answer the user.", "Be brief.")).messages)
    assert spared in str(await engine.tenant(other).facts(f"warehouse {spared} pallets"))


async def test_a_dry_run_removes_nothing_and_counts_the_same(engine, tenant, canary, seen):
    await fill(engine, tenant, canary)
    before = seen(canary)
    would = await engine.erasure.source(tenant, thread_id="talk", dry_run=True)
    assert seen(canary) == before
    assert before
    did = await engine.erasure.source(tenant, thread_id="talk")
    assert would.removed == did.removed


async def test_an_episode_goes_and_what_others_say_too_stays_in_their_words(engine, tenant, canary, seen):
    acme = engine.tenant(tenant)
    first = await acme.learn(f"{canary} report", "The parcel weighs 5 kg.", reference_time="2026-04-01")
    await acme.learn("invoice", "The parcel weighs 5,000 g.", reference_time="2026-05-01")
    await acme.learn(f"{canary} memo", f"The {canary} lighthouse is white.")
    assert seen(canary)
    report = await engine.erasure.source(tenant, episode_id=first.episode.episode_id)
    assert report.complete
    assert report.kept
    fact = (await acme.facts("How much does the parcel weigh?"))[0]
    assert [source.name for source in fact.sources] == ["invoice"]
    assert "5,000 g" in fact.text
    assert "lighthouse" in (await acme.facts("lighthouse"))[0].text
    assert not any(f"{canary} report" in str(one) for one in await acme.history("parcel"))


async def test_forgetting_the_correction_leaves_what_was_held_before(engine, tenant):
    acme = engine.tenant(tenant)
    await acme.learn("Q3 report", "Q3 revenue was $4.8M.", reference_time="2026-04-01")
    await acme.thread("monday").append(user("Q3 revenue was actually $5.2M, not $4.8M as stated in the document"))
    assert (await acme.facts("Q3 revenue"))[0].object == "$5.2M"
    assert (await acme.erase_source(thread_id="monday")).complete
    [left] = await acme.facts("Q3 revenue")
    assert (left.object, left.superseded) == ("$4.8M", False)
    assert "$5.2M" not in str(await acme.history("Q3 revenue"))
    assert "$5.2M" not in str(await acme.changes())


async def test_a_memory_and_its_earlier_versions_go(engine, tenant, canary, seen):
    mine = entry(tenant, f"The door of {canary} is green.")
    await engine.memory.store(mine)
    await engine.memory.store(mine.model_copy(update={"content": f"The door of {canary} is blue."}))
    assert len(seen(canary)) >= 2  # as it is, and as it was
    report = await engine.erasure.source(tenant, memory_id=mine.memory_id)
    assert report.complete
    assert report.ids
    assert seen(canary) == []


async def test_an_artifact_and_its_bytes_go(engine, tenant, canary, seen):
    big = f"{canary} " + "row of figures " * 5_000
    kept = await engine.artifacts.put(big, media_type="text/plain", tenant_id=tenant)
    report = await engine.erasure.source(tenant, artifact_id=kept.artifact_id)
    assert report.complete
    assert report.removed["artifacts"] == 1
    with pytest.raises(clew.NotFound):
        await engine.artifacts.get(kept.artifact_id, tenant_id=tenant)
    assert seen(canary) == []


async def test_ones_own_and_a_strangers_id_give_the_same_report(engine, tenant, other, canary):
    await fill(engine, tenant, canary)
    told = await engine.tenant(tenant).learn("memo", f"The {canary} lighthouse is white.")
    theirs = [
        await engine.erasure.source(other, thread_id="talk"),
        await engine.erasure.source(other, episode_id=told.episode.episode_id),
        await engine.erasure.user("ana", tenant_id=other),
    ]
    never = [
        await engine.erasure.source(other, thread_id="never"),
        await engine.erasure.source(other, episode_id="019a8f6e-3b1c-7d2a-9f00-1234567890ab"),
        await engine.erasure.user("nobody", tenant_id=other),
    ]
    for one, two in zip(theirs, never, strict=True):
        left, right = one.as_dict(), two.as_dict()
        assert left.pop("subject") != right.pop("subject")
        assert left == right
        assert sum(one.removed.values()) == 0
    assert canary in str(await engine.tenant(tenant).facts(f"{canary} lighthouse"))


async def test_clearing_a_thread_keeps_what_was_learnt_unless_told(engine, tenant, canary):
    acme = engine.tenant(tenant)
    thread = await fill(engine, tenant, canary, None)
    await thread.clear()
    assert canary in str(await acme.facts(f"warehouse {canary}"))
    await fill(engine, tenant, canary, None, "second")
    await acme.thread("second").clear(memories=True)
    await thread.clear(memories=True)
    assert canary not in str(await acme.facts(f"warehouse {canary}"))
    assert canary not in str(await acme.recall(f"door of {canary}"))


async def test_another_users_thread_is_a_conflict(engine, tenant):
    await engine.sessions.append("t", user("hi"), tenant_id=tenant, user_id="ana")
    with pytest.raises(clew.Conflict):
        await engine.sessions.append("t", user("hi"), tenant_id=tenant, user_id="bob")
    await engine.sessions.append("t", user("hi"), tenant_id=tenant)


# On the command line


def _json(run: Any) -> Any:
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_facts_by_command(cli, tenant, other):
    told = _json(
        cli("remember", "Q3 revenue was $4.8M.", "--facts", "--source", "report", "--tenant", tenant, "--json")
    )
    assert [fact["object"] for fact in told["facts"]] == ["$4.8M"]
    newer = _json(cli("remember", "Q3 revenue was $5.2M, not $4.8M.", "--facts", "--tenant", tenant, "--json"))
    assert [fact["object"] for fact in newer["invalidated"]] == ["$4.8M"]
    found = _json(cli("recall", "What was Q3 revenue?", "--tenant", tenant, "--json"))
    assert [fact["object"] for fact in found] == ["$5.2M", "$4.8M"]
    held = _json(cli("recall", "Q3 revenue", "--history", "--tenant", tenant, "--json"))
    assert [(fact["object"], fact["superseded"]) for fact in held] == [("$4.8M", True), ("$5.2M", False)]
    assert held[0]["sources"][0]["name"] == "report"
    assert _json(cli("recall", "Q3 revenue", "--history", "--tenant", other, "--json")) == []
    shown = cli("recall", "Q3 revenue", "--history", "--tenant", tenant)
    assert shown.stdout.index("$4.8M") < shown.stdout.index("$5.2M")
    assert "report" in shown.stdout
    report = _json(cli("forget", "--episode", newer["episode_id"], "--tenant", tenant, "--yes", "--json"))
    assert [(one["scope"], one["complete"]) for one in report] == [("episode", True)]
    left = _json(cli("recall", "Q3 revenue", "--tenant", tenant, "--json"))
    assert [(fact["object"], fact["superseded"]) for fact in left] == [("$4.8M", False)]


def test_what_was_learnt_is_told_once(cli, tenant):
    assert cli("remember", "Q3 revenue was $4.8M.", "--facts", "--tenant", tenant).returncode == 0
    shown = cli("remember", "The Q3 revenue was $5.2M, not $4.8M.", "--facts", "--tenant", tenant).stdout
    assert sum(line.startswith("holds") for line in shown.splitlines()) == 1
    assert sum(line.startswith("closed") for line in shown.splitlines()) == 1


def test_forgetting_by_command(cli, tenant, canary):
    memory_id = _json(cli("remember", f"The door of {canary} is green.", "--tenant", tenant, "--json"))["memory_id"]
    assert canary in cli("recall", f"door of {canary}", "--tenant", tenant, "--json").stdout
    assert cli("forget", "--everything", "--tenant", tenant).returncode != 0  # nobody typed the tenant's name
    [would] = _json(cli("forget", memory_id, "--tenant", tenant, "--dry-run", "--json"))
    assert would["removed"]["memories"] == 1
    assert canary in cli("recall", f"door of {canary}", "--tenant", tenant, "--json").stdout
    gone = cli("forget", memory_id, "--tenant", tenant, "--yes")
    assert gone.returncode == 0, gone.stderr
    assert _json(cli("recall", f"door of {canary}", "--tenant", tenant, "--json")) == []
    cli("threads", "append", "t", f"Our warehouse in {canary} holds 400 pallets.", "--tenant", tenant)
    [report] = _json(cli("forget", "--thread", "t", "--tenant", tenant, "--yes", "--json"))
    assert report["removed"]["messages"] == 1
    [everything] = _json(cli("forget", "--everything", "--tenant", tenant, "--yes", "--json"))
    assert (everything["scope"], everything["complete"]) == ("tenant", True)


def test_a_message_appended_by_command_is_learnt(cli, tenant):
    assert cli("threads", "append", "t", "Our warehouse in Bonn holds 400 pallets.", "--tenant", tenant).returncode == 0
    found = _json(cli("recall", "How many pallets does the warehouse in Bonn hold?", "--tenant", tenant, "--json"))
    assert "400 pallets" in str(found)


def test_finding_nothing_is_not_knowing_nothing(cli, tenant):
    """A tenant that knows something is not told that nothing is known to it."""
    empty = cli("recall", "Q3 revenue", "--history", "--tenant", tenant)
    assert "Nothing was ever told" in empty.stdout
    assert (
        cli("remember", "Ana lives in Porto.", "--facts", "--occurred-at", "2024-05-03", "--tenant", tenant).returncode
        == 0
    )
    for words in (("Q3 revenue", "--history"), ("Where does Ana live?", "--as-of", "2023-01-01")):
        found = cli("recall", *words, "--tenant", tenant)
        assert found.returncode == 0
        assert f"Nothing is known to the tenant {tenant}" not in found.stdout, words
    assert "Porto" in cli("recall", "Where does Ana live?", "--as-of", "2025-01-01", "--tenant", tenant).stdout
