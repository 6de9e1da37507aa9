"""Storing: the same bytes once, whatever they are called, and nothing from outside in a path."""

import asyncio
import hashlib
import os
import stat
from datetime import UTC, datetime, timedelta

import pytest

from clew.artifacts import ArtifactStore, Lifetime
from clew.artifacts.objects.checks import NAME_MAX_BYTES, artifact_id_of
from clew.errors import Conflict, InvalidInput, Misconfigured, Unavailable
from clew.ids import new_id

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40


async def _chunks(*pieces):
    for piece in pieces:
        yield piece


async def test_what_was_put_comes_back_byte_for_byte(store, tenant):
    before = datetime.now(UTC) - timedelta(seconds=5)
    ref = await store.put(PNG, media_type="image/png", name="shot.png", tenant_id=tenant, details={"width": 640})
    found = await store.get(ref.artifact_id, tenant_id=tenant)
    assert found.data == PNG
    assert found.ref == ref
    assert (found.media_type, found.size, found.name, found.details) == (
        "image/png",
        len(PNG),
        "shot.png",
        {"width": 640},
    )
    assert found.sha256 == ref.sha256 == hashlib.sha256(PNG).hexdigest()
    assert before < ref.created_at < datetime.now(UTC) + timedelta(seconds=5)
    assert ref.created_at.utcoffset() == timedelta(0)
    assert "\\x89" not in repr(found), "a repr that ends up in a log holds no megabytes"


async def test_a_text_is_stored_as_utf_8_and_may_hold_anything_that_has_one(store, tenant):
    ref = await store.put("hällo \0 ✓", media_type="text/plain", tenant_id=tenant)
    found = await store.get(ref.artifact_id, tenant_id=tenant)
    assert found.data == "hällo \0 ✓".encode()
    assert found.text == "hällo \0 ✓"


@pytest.mark.parametrize(
    "data", [PNG, bytearray(PNG), memoryview(PNG), memoryview(PNG * 2)[::2]], ids=lambda d: type(d).__name__
)
async def test_anything_with_bytes_in_it_may_be_put(store, tenant, data):
    ref = await store.put(data, media_type="image/png", tenant_id=tenant)
    assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == bytes(data)


async def test_nothing_at_all_may_be_put_too(store, tenant):
    ref = await store.put(b"", media_type="text/plain", tenant_id=tenant)
    assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == b""
    assert [piece async for piece in store.stream(ref.artifact_id, tenant_id=tenant)] == []
    assert await store.put_stream(_chunks(), media_type="text/plain", tenant_id=tenant) == ref


async def test_the_same_bytes_twice_are_one_artifact_and_one_object(store, tenant, objects):
    first = await store.put(PNG, media_type="image/png", tenant_id=tenant)
    again = await store.put(PNG, media_type="image/png", name="named now", tenant_id=tenant, details={"a": 1})
    streamed = await store.put_stream(_chunks(PNG[:1000], PNG[1000:]), media_type="image/png", tenant_id=tenant)
    assert first.artifact_id == again.artifact_id == streamed.artifact_id
    assert (again.name, again.details) == ("named now", {"a": 1}), "what the first did not say is filled in"
    assert again.created_at == first.created_at
    assert len(objects()) == 1
    assert await store.put(PNG + b"!", media_type="image/png", tenant_id=tenant) != first
    assert len(objects()) == 2, "other bytes would be noticed"


async def test_the_same_bytes_as_something_else_are_another_artifact_on_the_same_object(store, tenant, objects):
    text = await store.put("<p>hi</p>", media_type="text/plain", tenant_id=tenant)
    page = await store.put("<p>hi</p>", media_type="text/html", tenant_id=tenant)
    assert text.artifact_id != page.artifact_id
    assert text.sha256 == page.sha256
    assert len(objects()) == 1
    assert (await store.stat(text.artifact_id, tenant_id=tenant)).media_type == "text/plain"


async def test_many_at_once_with_the_same_bytes_end_up_as_one(store, tenant, objects):
    refs = await asyncio.gather(*(store.put(PNG, media_type="image/png", tenant_id=tenant) for _ in range(12)))
    assert len({ref.artifact_id for ref in refs}) == 1
    assert len(objects()) == 1
    assert (await store.get(refs[0].artifact_id, tenant_id=tenant)).data == PNG


async def test_an_id_that_stands_for_other_bytes_is_a_conflict_and_never_wrong_data(store, tenant, database, objects):
    """80 bits don't collide by themselves: a row is put in the way."""
    there = await store.put(b"first come", media_type="text/plain", tenant_id=tenant)
    digest = hashlib.sha256(b"late").digest()
    async with database.tenant(tenant) as connection:
        await connection.execute(
            "INSERT INTO clew.artifacts (tenant_id, artifact_id, blob_id, media_type) "
            "SELECT tenant_id, %s, blob_id, 'text/plain' FROM clew.artifacts WHERE artifact_id = %s",
            (artifact_id_of("text/plain", digest), there.artifact_id),
        )
    with pytest.raises(Conflict):
        await store.put(b"late", media_type="text/plain", tenant_id=tenant)
    assert len(objects()) == 1, "what the refused one had written is gone"


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("ttl:1h", "forever", "forever"),
        ("forever", "ttl:1h", "forever"),
        ("last_used:1h", "last_used:2h", "last_used:2h"),
        ("last_used:2h", "last_used:1h", "last_used:2h"),
        ("ttl:1h", "last_used:30m", "last_used:1h"),
        ("ttl:2d", "ttl:1h", "ttl:2d"),
    ],
)
async def test_what_is_put_twice_is_kept_for_as_long_as_either_wanted(store, tenant, first, second, kept):
    await store.put(PNG, media_type="image/png", keep=first, tenant_id=tenant)
    assert (await store.put(PNG, media_type="image/png", keep=second, tenant_id=tenant)).keep == Lifetime.of(kept)


async def test_a_ttl_put_again_counts_from_now(store, tenant, database):
    ref = await store.put(PNG, media_type="image/png", keep="ttl:1h", tenant_id=tenant)
    await _age(database, tenant, ref.artifact_id, "1 day")
    again = await store.put(PNG, media_type="image/png", keep="ttl:1h", tenant_id=tenant)
    assert again.keep.kind == "ttl"
    assert again.keep.seconds == pytest.approx(25 * 3600, abs=60)


NAMES = [
    "../../etc/passwd",
    "/etc/passwd",
    "a\nb\x1b[31m\x07",
    "x" * 4_096,
    "C:\\con",
    "",
    "名前 ✓",
    "%2e%2e/%00",
    "~root",
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:20])
async def test_a_name_from_outside_is_a_label_and_never_a_path(store, tenant, name, folder, objects):
    ref = await store.put(name.encode() + b"!", media_type="text/plain", name=name, tenant_id=tenant)
    assert (await store.stat(ref.artifact_id, tenant_id=tenant)).name == name
    [path] = objects()
    assert path.parent.parent == folder
    assert new_id()[:6] == path.name[:6], "the object's name is an id of ours"


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ({"name": "a\0b"}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"name": "x" * (NAME_MAX_BYTES + 1)}, "name"),
        ({"name": 7}, "name"),
        ({"data": "\udfff"}, "data"),
        ({"data": None}, "data"),
        ({"data": 5}, "data"),
        ({"data": ["a"]}, "data"),
        ({"media_type": "png"}, "media_type"),
        ({"media_type": ""}, "media_type"),
        ({"media_type": "text/pl\0ain"}, "media_type"),
        ({"media_type": "text/../../x y"}, "media_type"),
        ({"media_type": "a/" + "b" * 300}, "media_type"),
        ({"media_type": None}, "media_type"),
        ({"details": {"x": float("inf")}}, "details.x"),
        ({"details": {"x": "\0"}}, "details.x"),
        ({"details": {1: 2}}, "details"),
        ({"details": [1]}, "details"),
        ({"details": {"x": ["y" * 1024] * 2048}}, "details"),
        ({"keep": "for a while"}, "keep"),
        ({"keep": "ttl:"}, "keep"),
        ({"keep": "ttl:-5s"}, "keep"),
        ({"keep": "ttl:999999999999w"}, "keep"),
        ({"keep": timedelta(seconds=-1)}, "keep"),
        ({"keep": None}, "keep"),
        ({"tenant_id": "a/b"}, "tenant_id"),
        ({"tenant_id": "../x"}, "tenant_id"),
        ({"tenant_id": None}, "tenant_id"),
    ],
    ids=lambda value: ascii(value)[:40],
)
async def test_what_cannot_be_stored_is_refused_with_the_place(store, tenant, field, given, folder):
    call = {"data": b"x", "media_type": "text/plain", "tenant_id": tenant} | field
    with pytest.raises(InvalidInput) as refused:
        await store.put(call.pop("data"), **call)
    assert refused.value.where == given
    assert not folder.exists(), "nothing was even begun"


async def test_more_than_put_holds_in_memory_is_for_put_stream(store, tenant, monkeypatch):
    monkeypatch.setattr("clew.artifacts.objects.checks.PUT_MAX_BYTES", 1000)
    with pytest.raises(InvalidInput, match="put_stream"):
        await store.put(bytes(1001), media_type="text/plain", tenant_id=tenant)
    ref = await store.put_stream(_chunks(bytes(1001)), media_type="text/plain", tenant_id=tenant)
    assert ref.size == 1001


@pytest.mark.parametrize("chunks", [["text"], [b"fine", None]], ids=str)
async def test_a_stream_of_something_else_is_refused_and_leaves_nothing(store, tenant, chunks, database, objects):
    with pytest.raises(InvalidInput):
        await store.put_stream(_chunks(*chunks), media_type="text/plain", tenant_id=tenant)
    with pytest.raises(InvalidInput):
        await store.put_stream(chunks, media_type="text/plain", tenant_id=tenant)
    assert objects() == []
    assert await _blob_rows(database, tenant) == 0


async def test_a_stream_whose_source_fails_leaves_nothing_and_its_error_is_the_callers_own(
    store, tenant, database, objects
):
    async def failing():
        yield bytes(20_000_000)
        raise ConnectionResetError("the source is gone")

    with pytest.raises(ConnectionResetError, match="the source is gone"):
        await store.put_stream(failing(), media_type="text/plain", tenant_id=tenant)
    assert objects() == []
    assert await _blob_rows(database, tenant) == 0
    await store.put_stream(_chunks(b"fine"), media_type="text/plain", tenant_id=tenant)
    assert await _blob_rows(database, tenant) == len(objects()) == 1, "a source that doesn't fail leaves something"


async def test_a_cancelled_stream_leaves_nothing(store, tenant, database, objects):
    begun = asyncio.Event()

    async def endless():
        yield bytes(9_000_000)
        begun.set()
        await asyncio.sleep(60)

    task = asyncio.create_task(store.put_stream(endless(), media_type="text/plain", tenant_id=tenant))
    await begun.wait()
    assert await _blob_rows(database, tenant) == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await _blob_rows(database, tenant) == 0
    assert objects() == []


async def test_a_stream_too_slow_for_the_collector_renews_its_row(store, eager, tenant, monkeypatch, database):
    monkeypatch.setattr("clew.artifacts.objects.writing.RENEW_AFTER_S", 0.0)
    times = []

    async def slow():
        for piece in (b"a", b"b", b"c"):
            times.append(await _begun_at(database, tenant))
            yield piece

    await store.put_stream(slow(), media_type="text/plain", tenant_id=tenant)
    assert times == sorted(set(times)), "each time a later one"
    assert len(times) == 3


async def test_a_stream_that_was_taken_for_dead_is_unavailable_and_not_half_stored(store, eager, tenant, objects):
    async def collected_meanwhile():
        yield bytes(9_000_000)
        assert (await eager.collect(tenant_id=tenant)).orphans == 1
        yield b"the rest"

    with pytest.raises(Unavailable):
        await store.put_stream(collected_meanwhile(), media_type="text/plain", tenant_id=tenant)
    assert await store.list(tenant_id=tenant) == []
    await eager.collect(tenant_id=tenant, deep=True)
    assert objects() == []


@pytest.mark.parametrize("big", [False, True], ids=["small", "big"])
@pytest.mark.parametrize("how", ["missing", "short", "flipped"])
async def test_putting_the_bytes_again_mends_a_damaged_object(store, tenant, objects, how, big):
    data = PNG * (1000 if big else 1)
    ref = await store.put(data, media_type="image/png", tenant_id=tenant)
    [path] = objects()
    _damage(path, how)
    await store.put(data, media_type="image/png", tenant_id=tenant)
    if how == "flipped" and big:
        assert path.read_bytes() != data, "of a long object only the size is asked"
        return
    assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == data
    assert objects() == [path]


async def test_streaming_the_bytes_again_mends_one_too(store, tenant, objects):
    ref = await store.put(PNG, media_type="image/png", tenant_id=tenant)
    [path] = objects()
    path.unlink()
    await store.put_stream(_chunks(PNG), media_type="image/png", tenant_id=tenant)
    assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == PNG
    assert objects() == [path]


async def test_only_this_account_can_look_into_the_folder(store, tenant, folder, objects):
    previous = os.umask(0)
    try:
        await store.put(PNG, media_type="image/png", tenant_id=tenant)
        await store.put_stream(_chunks(PNG, PNG), media_type="image/png", tenant_id=tenant)
    finally:
        os.umask(previous)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in objects()}
    assert modes == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, objects()[0].parent)} == {0o700}


async def test_a_write_is_flushed_to_the_disk_file_and_folder_before_it_counts(store, tenant, monkeypatch, objects):
    flushed = []
    monkeypatch.setattr("clew.artifacts.objects.blobs._flush", flushed.append)
    await store.put(PNG, media_type="image/png", tenant_id=tenant)
    [path] = objects()
    assert flushed.index(path) < len(flushed) - 1 - flushed[::-1].index(path.parent)
    assert path.parent.parent in flushed, "the tenant's folder is new, and itself an entry"


async def test_a_folder_that_cannot_be_made_is_a_matter_of_configuration(database, tenant, tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("here already")
    with pytest.raises((Misconfigured, Unavailable), match="file"):
        await ArtifactStore(database, url=str(in_the_way / "artifacts")).put(b"x", media_type="a/b", tenant_id=tenant)


async def test_in_memory_two_stores_of_a_process_share_the_objects(database, tenant):
    name = f"memory://{tenant}"
    ref = await ArtifactStore(database, url=name).put(PNG, media_type="image/png", tenant_id=tenant)
    assert (await ArtifactStore(database, url=name).get(ref.artifact_id, tenant_id=tenant)).data == PNG


async def _age(database, tenant, artifact_id, by):
    """As if it had been stored and used that much earlier. The application may not: the owner does."""
    async with database.owner() as connection, connection.transaction():
        await connection.execute("SELECT set_config('clew.tenant_id', %s, true)", (tenant,))
        await connection.execute(
            "UPDATE clew.artifacts SET created_at = created_at - %s::interval, used_at = used_at - %s::interval "
            "WHERE artifact_id = %s",
            (by, by, artifact_id),
        )


async def _blob_rows(database, tenant):
    async with database.tenant(tenant) as connection:
        return (await (await connection.execute("SELECT count(*) FROM clew.blobs")).fetchone())[0]


async def _begun_at(database, tenant):
    async with database.tenant(tenant) as connection:
        return (await (await connection.execute("SELECT created_at FROM clew.blobs")).fetchone())[0]


def _damage(path, how):
    data = path.read_bytes()
    match how:
        case "missing":
            path.unlink()
        case "short":
            path.write_bytes(data[:-1])
        case "flipped":
            path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
