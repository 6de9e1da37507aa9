"""Reading: whole, in part, as a stream; and never a byte that isn't what was stored."""

import os
from datetime import timedelta

import pytest

from clew.artifacts.objects.chunks import CHUNK_BYTES
from clew.errors import Damaged, InvalidInput, NotFound

SIZE = 5 * CHUNK_BYTES + 12_345


@pytest.fixture
async def big(store, tenant):
    data = os.urandom(SIZE)
    ref = await store.put(data, media_type="application/octet-stream", tenant_id=tenant)
    return ref.artifact_id, data


def _flip(path, position):
    with path.open("r+b") as file:
        file.seek(position)
        byte = file.read(1)[0]
        file.seek(position)
        file.write(bytes([byte ^ 0x10]))


@pytest.mark.parametrize(
    ("start", "length"),
    [
        (0, 0),
        (0, 1),
        (0, None),
        (10, 20),
        (CHUNK_BYTES - 1, 2),
        (CHUNK_BYTES, CHUNK_BYTES),
        (3, 3 * CHUNK_BYTES),
        (SIZE - 1, 1),
        (SIZE - 5, 100),
        (SIZE, 10),
        (SIZE + 1, None),
        (2**62, 2**62),
    ],
)
async def test_a_part_is_what_a_slice_of_the_whole_would_be(store, tenant, big, start, length):
    artifact_id, data = big
    wanted = data[start:] if length is None else data[start : start + length]
    assert await store.read(artifact_id, start, length, tenant_id=tenant) == wanted


async def test_a_stream_gives_all_of_it_in_order(store, tenant, big):
    artifact_id, data = big
    pieces = [piece async for piece in store.stream(artifact_id, tenant_id=tenant)]
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) <= CHUNK_BYTES


async def test_a_part_fetches_no_more_than_the_stretches_it_is_in(store, tenant, big, monkeypatch):
    artifact_id, _ = big
    asked = []
    blobs = store._opened_blobs()
    read = type(blobs).read

    async def noted(self, key, start, stop):
        asked.append((start, stop))
        return await read(self, key, start, stop)

    monkeypatch.setattr(type(blobs), "read", noted)
    await store.read(artifact_id, 2 * CHUNK_BYTES + 5, 10, tenant_id=tenant)
    assert asked == [(2 * CHUNK_BYTES, 3 * CHUNK_BYTES)]


async def test_a_flipped_byte_is_noticed_by_whoever_reads_it_and_by_nobody_else(store, tenant, big, objects):
    artifact_id, data = big
    [path] = objects()
    _flip(path, 3 * CHUNK_BYTES + 17)
    with pytest.raises(Damaged, match=artifact_id):
        await store.get(artifact_id, tenant_id=tenant)
    with pytest.raises(Damaged, match=artifact_id):
        await store.read(artifact_id, 3 * CHUNK_BYTES + 900_000, 5, tenant_id=tenant)
    with pytest.raises(Damaged):
        await store.read(artifact_id, 3 * CHUNK_BYTES - 1, 2, tenant_id=tenant)
    assert await store.read(artifact_id, 0, 3 * CHUNK_BYTES, tenant_id=tenant) == data[: 3 * CHUNK_BYTES]
    assert await store.read(artifact_id, 4 * CHUNK_BYTES, tenant_id=tenant) == data[4 * CHUNK_BYTES :]


@pytest.mark.parametrize("position", [0, CHUNK_BYTES, SIZE - 1])
async def test_a_stream_hands_on_no_damaged_stretch(store, tenant, big, objects, position):
    artifact_id, data = big
    [path] = objects()
    _flip(path, position)
    got = b""
    with pytest.raises(Damaged, match=artifact_id):
        async for piece in store.stream(artifact_id, tenant_id=tenant):
            got += piece
    assert data.startswith(got)
    assert len(got) <= position


async def test_a_shortened_or_missing_object_is_damage(store, tenant, big, objects):
    artifact_id, data = big
    [path] = objects()
    os.truncate(path, 2 * CHUNK_BYTES + 1)
    with pytest.raises(Damaged, match=artifact_id):
        await store.get(artifact_id, tenant_id=tenant)
    with pytest.raises(Damaged):
        await store.read(artifact_id, 5 * CHUNK_BYTES, 5, tenant_id=tenant)
    assert await store.read(artifact_id, CHUNK_BYTES, 100, tenant_id=tenant) == data[CHUNK_BYTES : CHUNK_BYTES + 100]
    path.unlink()
    with pytest.raises(Damaged, match="not in the object store"):
        await store.get(artifact_id, tenant_id=tenant)
    assert (await store.stat(artifact_id, tenant_id=tenant)).size == SIZE, "what is known of it is still known"


async def test_what_is_too_big_for_memory_is_read_in_parts(store, tenant, big, monkeypatch):
    artifact_id, data = big
    monkeypatch.setattr("clew.artifacts.objects.reading.READ_MAX_BYTES", CHUNK_BYTES)
    with pytest.raises(InvalidInput, match="stream"):
        await store.get(artifact_id, tenant_id=tenant)
    with pytest.raises(InvalidInput, match="stream"):
        await store.read(artifact_id, tenant_id=tenant)
    assert await store.read(artifact_id, 5, 100, tenant_id=tenant) == data[5:105]


@pytest.mark.parametrize(
    "given",
    [
        "",
        "nonsense",
        "art_",
        "art_" + "a" * 17,
        "art_" + "A" * 16,
        "art_aaaa\0aaaaaaaaaaa",
        "../x",
        None,
        5,
        b"art_aaaaaaaaaaaaaaaa",
    ],
    ids=ascii,
)
async def test_what_is_no_id_is_invalid_input_everywhere(store, tenant, given):
    for call in (store.get, store.stat, store.read):
        with pytest.raises(InvalidInput):
            await call(given, tenant_id=tenant)
    with pytest.raises(InvalidInput):
        async for _ in store.stream(given, tenant_id=tenant):
            pass


async def test_an_id_that_nobody_has_is_not_found_everywhere(store, tenant):
    unknown = "art_" + "a" * 16
    for call in (store.get, store.stat, store.read):
        with pytest.raises(NotFound):
            await call(unknown, tenant_id=tenant)
    with pytest.raises(NotFound):
        async for _ in store.stream(unknown, tenant_id=tenant):
            pass


@pytest.mark.parametrize(("start", "length"), [(-1, 1), (0, -1), ("0", 1), (0, 1.5), (True, 1), (2**63, 1)], ids=str)
async def test_a_part_that_makes_no_sense_is_refused(store, tenant, big, start, length):
    with pytest.raises(InvalidInput):
        await store.read(big[0], start, length, tenant_id=tenant)


async def test_the_list_is_newest_first_and_in_pages(store, tenant):
    refs = [await store.put(f"number {n}", media_type="text/plain", tenant_id=tenant) for n in range(5)]
    assert await store.list(tenant_id=tenant) == refs[::-1]
    assert await store.list(tenant_id=tenant, limit=2, offset=1) == refs[::-1][1:3]
    for bad in ({"limit": 0}, {"limit": 10**9}, {"offset": -1}, {"limit": "5"}):
        with pytest.raises(InvalidInput):
            await store.list(tenant_id=tenant, **bad)


async def test_reading_notes_the_use_and_rarely_writes(store, tenant, database):
    ref = await store.put(b"used", media_type="text/plain", tenant_id=tenant)

    async def used_at():
        async with database.tenant(tenant) as connection:
            return (await (await connection.execute("SELECT used_at FROM clew.artifacts")).fetchone())[0]

    async def long_ago():
        async with database.tenant(tenant) as connection:
            await connection.execute("UPDATE clew.artifacts SET used_at = used_at - interval '2 minutes'")

    fresh = await used_at()
    await store.get(ref.artifact_id, tenant_id=tenant)
    assert await used_at() == fresh, "used a moment ago: nothing to write"
    for use in (store.get, store.read, store.stat):
        await long_ago()
        stale = await used_at()
        await use(ref.artifact_id, tenant_id=tenant)
        assert await used_at() > stale + timedelta(seconds=60)
    await long_ago()
    stale = await used_at()
    await store.list(tenant_id=tenant)
    assert await used_at() == stale, "to be listed is not to be used"
