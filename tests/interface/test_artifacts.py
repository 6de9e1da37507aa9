"""`ArtifactStore`: any byte that went in comes out, the same bytes are one thing, and tenants share nothing."""

import asyncio
import hashlib
import itertools
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import clew
from clew import tokens

from .conftest import user

TEXT = "text/plain"

DATA: dict[str, Any] = {
    "bytes": bytes(range(256)),
    "empty": b"",
    "an empty text": "",
    "text": "Kyōto 京都 👩‍👩‍👧‍👦\r\n\0 end",
    "what is no UTF-8": b"\xff\xfe\x80\x00",
    "a chunk and a byte": b"x" * (1024 * 1024) + b"y",
    "exactly a chunk": b"z" * (1024 * 1024),
    "a chunk less a byte": b"z" * (1024 * 1024 - 1),
    "five megabytes": os.urandom(5_000_000),
}


def _bytes(data: Any) -> bytes:
    return data.encode() if isinstance(data, str) else bytes(data)


@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
async def test_what_goes_in_comes_out(engine, tenant, data):
    ref = await engine.artifacts.put(data, media_type="application/octet-stream", tenant_id=tenant)
    found = await engine.artifacts.get(ref.artifact_id, tenant_id=tenant)
    assert isinstance(found.data, bytes)
    assert found.data == _bytes(data)
    assert found.size == ref.size == len(_bytes(data))
    assert found.sha256 == ref.sha256 == hashlib.sha256(_bytes(data)).hexdigest()
    assert found.media_type == ref.media_type == "application/octet-stream"


@pytest.mark.parametrize(
    "data", [memoryview(b"a view of bytes"), bytearray(b"an array of bytes")], ids=["view", "array"]
)
async def test_what_is_like_bytes_is_stored_as_such_or_refused(engine, tenant, data):
    try:
        ref = await engine.artifacts.put(data, media_type=TEXT, tenant_id=tenant)
    except clew.InvalidInput:
        return
    assert (await engine.artifacts.get(ref.artifact_id, tenant_id=tenant)).data == bytes(data)


async def test_a_strided_view_is_never_stored_as_something_else(engine, tenant):
    data = memoryview(bytes(range(100)))[::2]
    try:
        ref = await engine.artifacts.put(data, media_type=TEXT, tenant_id=tenant)
    except clew.InvalidInput:
        return
    assert (await engine.artifacts.get(ref.artifact_id, tenant_id=tenant)).data == bytes(data)


async def test_an_array_changed_afterwards_changes_nothing(engine, tenant):
    data = bytearray(b"before " * 1_000)
    before = bytes(data)
    ref = await engine.artifacts.put(bytes(data), media_type=TEXT, tenant_id=tenant)
    data[:] = b"after"
    assert (await engine.artifacts.get(ref.artifact_id, tenant_id=tenant)).data == before


async def test_an_id_is_short_and_plain(engine, tenant):
    ref = await engine.artifacts.put(b"x" * 1_000, media_type=TEXT, tenant_id=tenant)
    assert ref.artifact_id.startswith("art_")
    assert ref.artifact_id.isascii()
    assert tokens.count(ref.artifact_id) <= 16


async def test_a_reference_tells_what_is_known(engine, tenant):
    before = datetime.now(UTC)
    details = {"width": 3, "who": "京"}
    ref = await engine.artifacts.put(b"abc", media_type="image/png", name="shot.png", tenant_id=tenant, details=details)
    assert (ref.name, ref.size, ref.media_type, dict(ref.details)) == ("shot.png", 3, "image/png", details)
    assert ref.created_at.tzinfo is not None
    assert before - timedelta(seconds=5) <= ref.created_at <= datetime.now(UTC) + timedelta(seconds=5)
    assert await engine.artifacts.stat(ref.artifact_id, tenant_id=tenant) == ref
    found = await engine.artifacts.get(ref.artifact_id, tenant_id=tenant)
    assert (found.name, dict(found.details), found.ref) == ("shot.png", details, ref)
    import json

    plain = json.loads(json.dumps(ref.as_dict()))
    assert plain["artifact_id"] == ref.artifact_id
    assert plain["size"] == 3


# ---- the same bytes twice


async def test_the_same_bytes_twice_are_one(engine, tenant):
    first = await engine.artifacts.put(b"the same" * 100, media_type=TEXT, tenant_id=tenant)
    again = await engine.artifacts.put("the same" * 100, media_type=TEXT, tenant_id=tenant)
    assert first.artifact_id == again.artifact_id
    assert len(await engine.artifacts.list(tenant_id=tenant)) == 1
    await engine.artifacts.put(b"not the same", media_type=TEXT, tenant_id=tenant)
    assert len(await engine.artifacts.list(tenant_id=tenant)) == 2


async def test_the_same_bytes_twice_take_the_room_of_one(database, tenant, tmp_path):
    def files() -> list[Path]:
        return [file for file in tmp_path.rglob("*") if file.is_file() and file.stat().st_size >= 100_000]

    async with clew.ArtifactStore(database, url=str(tmp_path)) as store:
        data = os.urandom(100_000)
        await store.put(data, media_type=TEXT, tenant_id=tenant)
        assert len(files()) == 1
        await store.put(data, media_type=TEXT, tenant_id=tenant)
        await store.put(data, media_type="application/json", tenant_id=tenant)
        assert len(files()) == 1
        await store.put(data + b"!", media_type=TEXT, tenant_id=tenant)
        assert len(files()) == 2


async def test_the_same_bytes_at_the_same_time_are_one(engine, tenant):
    data = os.urandom(200_000)
    put = [engine.artifacts.put(data, media_type=TEXT, tenant_id=tenant) for _ in range(8)]
    refs = await asyncio.gather(*put)
    assert len({ref.artifact_id for ref in refs}) == 1
    assert len(await engine.artifacts.list(tenant_id=tenant)) == 1
    assert (await engine.artifacts.get(refs[0].artifact_id, tenant_id=tenant)).data == data


async def test_the_same_bytes_as_another_kind_of_thing_are_another(engine, tenant):
    page = "<html><body>hello</body></html>"
    html = await engine.artifacts.put(page, media_type="text/html", tenant_id=tenant)
    plain = await engine.artifacts.put(page, media_type=TEXT, tenant_id=tenant)
    assert html.artifact_id != plain.artifact_id
    assert (await engine.artifacts.get(html.artifact_id, tenant_id=tenant)).media_type == "text/html"
    assert (await engine.artifacts.get(plain.artifact_id, tenant_id=tenant)).media_type == TEXT


async def test_what_the_first_left_unsaid_the_next_fills_in(engine, tenant):
    await engine.artifacts.put(b"abc", media_type=TEXT, tenant_id=tenant)
    second = await engine.artifacts.put(b"abc", media_type=TEXT, tenant_id=tenant, name="a.txt", details={"n": 1})
    assert (second.name, dict(second.details)) == ("a.txt", {"n": 1})
    third = await engine.artifacts.put(b"abc", media_type=TEXT, tenant_id=tenant)
    assert third.name == "a.txt"


async def test_two_tenants_never_share_an_object(database, tenant, other, tmp_path):
    async with clew.ArtifactStore(database, url=str(tmp_path)) as store:
        data = os.urandom(100_000)
        ours = await store.put(data, media_type=TEXT, tenant_id=tenant, name="ours")
        theirs = await store.put(data, media_type=TEXT, tenant_id=other, name="theirs")
        assert len([file for file in tmp_path.rglob("*") if file.is_file() and file.stat().st_size >= 100_000]) == 2
        assert (await store.get(ours.artifact_id, tenant_id=tenant)).name == "ours"
        assert (await store.get(theirs.artifact_id, tenant_id=other)).name == "theirs"


# ---- what is not there


async def test_another_tenants_artifact_is_as_if_it_were_not(engine, tenant, other):
    ref = await engine.artifacts.put(b"secret", media_type=TEXT, tenant_id=tenant, name="secret.txt")
    unknown = "art_" + "a" * (len(ref.artifact_id) - 4)

    async def stream(artifact_id: str, tenant_id: str) -> list[bytes]:
        return [chunk async for chunk in engine.artifacts.stream(artifact_id, tenant_id=tenant_id)]

    looks: list[Any] = [
        lambda i, t: engine.artifacts.get(i, tenant_id=t),
        lambda i, t: engine.artifacts.stat(i, tenant_id=t),
        lambda i, t: engine.artifacts.read(i, tenant_id=t),
        stream,
    ]
    for look in looks:
        assert await look(ref.artifact_id, tenant), "its own tenant sees it"
        said = []
        for artifact_id in (ref.artifact_id, unknown):
            with pytest.raises(clew.NotFound) as caught:
                await look(artifact_id, other)
            said.append(str(caught.value).replace(artifact_id, "…"))
        assert said[0] == said[1]
    assert await engine.artifacts.list(tenant_id=other) == []


# ---- reading some of it


RANGES = [
    (0, 0),
    (0, 1),
    (5, 10),
    (1_048_570, 20),
    (1_048_576, 5),
    (2_999_990, 10),
    (2_999_990, 500),
    (3_000_000, 1),
    (9**9, 5),
]


async def test_ranges_are_those_of_the_bytes(engine, tenant):
    data = os.urandom(3_000_000)
    ref = await engine.artifacts.put(data, media_type="application/octet-stream", tenant_id=tenant)
    for start, length in RANGES:
        try:
            assert (
                await engine.artifacts.read(ref.artifact_id, start, length, tenant_id=tenant)
                == data[start : start + length]
            )
        except clew.InvalidInput:
            assert start >= len(data) or length == 0
    assert await engine.artifacts.read(ref.artifact_id, tenant_id=tenant) == data
    assert await engine.artifacts.read(ref.artifact_id, 2_000_001, tenant_id=tenant) == data[2_000_001:]
    streamed = b"".join([chunk async for chunk in engine.artifacts.stream(ref.artifact_id, tenant_id=tenant)])
    assert streamed == data


async def test_a_stream_is_the_same_as_a_put(engine, tenant):
    data = os.urandom(2_500_000)

    async def chunks() -> Any:
        for start in range(0, len(data), 70_001):
            yield data[start : start + 70_001]
            yield b""

    streamed = await engine.artifacts.put_stream(chunks(), media_type="video/webm", name="v", tenant_id=tenant)
    put = await engine.artifacts.put(data, media_type="video/webm", tenant_id=tenant)
    assert streamed.artifact_id == put.artifact_id
    assert (await engine.artifacts.get(streamed.artifact_id, tenant_id=tenant)).data == data


async def test_a_stream_of_nothing_is_an_empty_artifact(engine, tenant):
    async def nothing() -> Any:
        for chunk in ():
            yield chunk

    ref = await engine.artifacts.put_stream(nothing(), media_type=TEXT, tenant_id=tenant)
    assert ref.size == 0
    assert (await engine.artifacts.get(ref.artifact_id, tenant_id=tenant)).data == b""


async def test_a_stream_that_breaks_leaves_nothing(engine, tenant):
    async def broken() -> Any:
        yield b"x" * 1_000
        raise OSError("the camera is gone")

    with pytest.raises(OSError, match="camera"):
        await engine.artifacts.put_stream(broken(), media_type=TEXT, tenant_id=tenant)
    assert await engine.artifacts.list(tenant_id=tenant) == []


# ---- the list


async def test_the_list_is_newest_first_and_in_pages(engine, tenant):
    refs = [await engine.artifacts.put(f"number {n}", media_type=TEXT, tenant_id=tenant) for n in range(7)]
    expected = [ref.artifact_id for ref in reversed(refs)]
    assert [ref.artifact_id for ref in await engine.artifacts.list(tenant_id=tenant)] == expected
    pages = [await engine.artifacts.list(tenant_id=tenant, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [ref.artifact_id for ref in itertools.chain(*pages)] == expected


# ---- integrity


async def test_a_flipped_byte_is_noticed_and_mended_by_the_same_bytes(database, tenant, tmp_path):
    async with clew.ArtifactStore(database, url=str(tmp_path)) as store:
        data = os.urandom(300_000)
        ref = await store.put(data, media_type=TEXT, tenant_id=tenant)
        [file] = [file for file in tmp_path.rglob("*") if file.is_file() and file.stat().st_size == 300_000]
        file.chmod(0o600)
        file.write_bytes(data[:1_000] + bytes([data[1_000] ^ 1]) + data[1_001:])
        for look in (
            store.get(ref.artifact_id, tenant_id=tenant),
            store.read(ref.artifact_id, 990, 20, tenant_id=tenant),
        ):
            with pytest.raises(clew.Damaged):
                await look
        await store.put(data, media_type=TEXT, tenant_id=tenant)
        assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == data


async def test_a_damaged_stretch_takes_none_of_the_others_with_it(database, tenant, tmp_path):
    async with clew.ArtifactStore(database, url=str(tmp_path)) as store:
        data = os.urandom(3 * 1024 * 1024)
        ref = await store.put(data, media_type=TEXT, tenant_id=tenant)
        [file] = [file for file in tmp_path.rglob("*") if file.is_file() and file.stat().st_size == len(data)]
        file.chmod(0o600)
        with file.open("r+b") as opened:
            opened.seek(1024 * 1024 + 5)
            opened.write(bytes([data[1024 * 1024 + 5] ^ 255]))
        assert await store.read(ref.artifact_id, 0, 1024 * 1024, tenant_id=tenant) == data[: 1024 * 1024]
        assert await store.read(ref.artifact_id, 2 * 1024 * 1024, tenant_id=tenant) == data[2 * 1024 * 1024 :]
        with pytest.raises(clew.Damaged):
            await store.read(ref.artifact_id, 1024 * 1024, 10, tenant_id=tenant)


@pytest.mark.parametrize("how", ["gone", "too short", "too long"])
async def test_an_object_that_is_not_what_was_stored_is_never_given_out(database, tenant, tmp_path, how):
    async with clew.ArtifactStore(database, url=str(tmp_path)) as store:
        data = os.urandom(200_000)
        ref = await store.put(data, media_type=TEXT, tenant_id=tenant)
        [file] = [file for file in tmp_path.rglob("*") if file.is_file() and file.stat().st_size == len(data)]
        file.chmod(0o600)
        if how == "gone":
            file.unlink()
        else:
            file.write_bytes(data[:100] if how == "too short" else data + b"more")
        try:
            assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == data
        except clew.Damaged:
            pass
        else:
            assert how == "too long", "bytes beyond the end were never part of it"
        await store.put(data, media_type=TEXT, tenant_id=tenant)
        assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == data


# ---- how long


async def test_what_is_past_its_lifetime_is_collected_and_what_is_not_stays(database, tenant, tmp_path):
    async with clew.ArtifactStore(database, url=str(tmp_path), grace_s=0) as store:
        short = await store.put(b"short", media_type=TEXT, tenant_id=tenant, keep="ttl:1s")
        by_use = await store.put(b"by use", media_type=TEXT, tenant_id=tenant, keep="last_used:1s")
        ever = await store.put(b"ever", media_type=TEXT, tenant_id=tenant)
        days = await store.put(b"days", media_type=TEXT, tenant_id=tenant, keep=timedelta(days=3))
        both = await store.put(b"both", media_type=TEXT, tenant_id=tenant, keep="ttl:1s")
        await store.put(b"both", media_type=TEXT, tenant_id=tenant, keep="forever")
        named = await store.put(b"named", media_type=TEXT, tenant_id=tenant, keep="ttl:1s")
        async with clew.SessionStore(database) as sessions:
            await sessions.append("t", [user(f"See {named.artifact_id}, please")], tenant_id=tenant)
            await asyncio.sleep(1.2)
            would = await store.collect(tenant_id=tenant, dry_run=True)
            assert {*would.expired} == {short.artifact_id, by_use.artifact_id}
            assert (await store.get(short.artifact_id, tenant_id=tenant)).data == b"short", "it was only asked"
            gone = await store.collect(tenant_id=tenant)
            assert short.artifact_id in gone.expired
            assert gone.in_use == 1
            left = {ref.artifact_id for ref in await store.list(tenant_id=tenant)}
            assert {ever.artifact_id, days.artifact_id, both.artifact_id, named.artifact_id} <= left
            assert short.artifact_id not in left
            with pytest.raises(clew.NotFound):
                await store.get(short.artifact_id, tenant_id=tenant)
            await sessions.clear_session("t", tenant_id=tenant)
            assert named.artifact_id in (await store.collect(tenant_id=tenant)).expired


async def test_within_the_hour_nothing_is_collected(engine, tenant):
    ref = await engine.artifacts.put(b"soon over", media_type=TEXT, tenant_id=tenant, keep="ttl:1s")
    await asyncio.sleep(1.1)
    assert (await engine.artifacts.collect(tenant_id=tenant)).expired == ()
    assert (await engine.artifacts.get(ref.artifact_id, tenant_id=tenant)).data == b"soon over"


async def test_collecting_for_one_tenant_touches_no_other(database, tenant, other, tmp_path):
    async with clew.ArtifactStore(database, url=str(tmp_path), grace_s=0) as store:
        refs = {
            whose: await store.put(b"same", media_type=TEXT, tenant_id=whose, keep="ttl:1s")
            for whose in (tenant, other)
        }
        await asyncio.sleep(1.1)
        assert (await store.collect(tenant_id=tenant, deep=True)).expired == (refs[tenant].artifact_id,)
        assert (await store.get(refs[other].artifact_id, tenant_id=other)).data == b"same"


# ---- where the bytes are


async def test_the_setting_says_where(server, environment, monkeypatch, tenant, tmp_path):
    monkeypatch.setenv("CLEW_ARTIFACTS_URL", str(tmp_path / "elsewhere"))
    async with clew.open() as engine:
        ref = await engine.artifacts.put(b"here " * 10_000, media_type=TEXT, tenant_id=tenant)
    assert any(file.is_file() and file.stat().st_size == 50_000 for file in (tmp_path / "elsewhere").rglob("*"))
    async with clew.open() as engine:
        assert (await engine.artifacts.get(ref.artifact_id, tenant_id=tenant)).data == b"here " * 10_000


async def test_without_a_setting_it_is_a_folder_in_the_data_dir(server, environment, tenant):
    data = os.urandom(77_777)
    async with clew.open() as engine:
        await engine.artifacts.put(data, media_type=TEXT, tenant_id=tenant)
    files = [
        file for file in (environment / "artifacts").rglob("*") if file.is_file() and file.stat().st_size == 77_777
    ]
    assert any(file.read_bytes() == data for file in files)
    assert all(file.stat().st_mode & 0o077 == 0 for file in files), "others can't look into it"
    assert (environment / "artifacts").stat().st_mode & 0o077 == 0


async def test_an_engine_given_a_database_alone_keeps_its_artifacts_by_that_databases_settings(
    engine, settings, tenant
):
    """Not in the home of whoever runs it."""
    data = os.urandom(66_666)
    await engine.artifacts.put(data, media_type=TEXT, tenant_id=tenant)
    files = [file for file in (settings.data_dir / "artifacts").rglob("*") if file.is_file()]
    assert any(file.stat().st_size == 66_666 for file in files)


@pytest.mark.parametrize("url", ["ftp://x/y", "s3://", "http://", "s3://bucket?nonsense=1", "\0", "", "gs:"])
async def test_an_address_that_is_none_is_refused_with_a_sentence(database, url):
    with pytest.raises(clew.ClewError) as caught:
        async with clew.ArtifactStore(database, url=url) as store:
            await store.put(b"x", media_type=TEXT)
    assert str(caught.value).strip()


async def test_secrets_in_an_address_are_repeated_nowhere(database, tenant):
    url = "s3://bucket?endpoint=http://127.0.0.1:1&access_key_id=AKIA123&secret_access_key=hunter2&region=x"
    with pytest.raises(clew.ClewError) as caught:
        async with clew.ArtifactStore(database, url=url) as store:
            await store.put(b"x", media_type=TEXT, tenant_id=tenant)
    assert "hunter2" not in f"{caught.value} {caught.value!r} {store!r}"


# ---- without await


def test_without_await_it_is_the_same(server, settings, tenant, other):
    with clew.open_sync(settings=settings) as engine:
        ref = engine.artifacts.put("hello " * 100, media_type=TEXT, tenant_id=tenant)
        assert engine.artifacts.get(ref.artifact_id, tenant_id=tenant).text == "hello " * 100
        assert engine.artifacts.read(ref.artifact_id, 0, 5, tenant_id=tenant) == b"hello"
        assert engine.artifacts.stat(ref.artifact_id, tenant_id=tenant) == ref
        assert [found.artifact_id for found in engine.artifacts.list(tenant_id=tenant)] == [ref.artifact_id]
        assert engine.artifacts.collect(tenant_id=tenant).expired == ()
        with pytest.raises(clew.NotFound):
            engine.artifacts.get(ref.artifact_id, tenant_id=other)
        light = engine.artifacts.store_test_result({"log": "INFO all is well\n" * 1_000}, tenant_id=tenant)
        assert len(light["_artifact_refs"]) == 1
        assert b"".join(engine.artifacts.stream(ref.artifact_id, tenant_id=tenant)) == b"hello " * 100
