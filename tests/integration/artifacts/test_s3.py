"""Object stores by URL: S3's protocol over real HTTP, what goes wrong there, and secrets that stay secret."""

import logging
import os
import time

import pytest

from clew.artifacts import ArtifactStore
from clew.artifacts.objects.chunks import CHUNK_BYTES
from clew.errors import Damaged, InvalidInput, Misconfigured, NotFound, Unavailable

from .s3_server import s3_server

SECRET = "wJalrXUtnFEMI-hunter2"


@pytest.fixture
def bucket():
    with s3_server() as bucket:
        yield bucket


def _url(bucket, endpoint=None):
    keys = f"access_key_id=AKIAEXAMPLE&secret_access_key={SECRET}"
    return f"s3://bucket/clew?endpoint={endpoint or bucket.endpoint}&region=eu-central-1&{keys}"


@pytest.fixture
def store(database, bucket):
    return ArtifactStore(database, url=_url(bucket))


async def _chunks(data, size):
    for start in range(0, len(data), size):
        yield data[start : start + size]


def _objects(bucket):
    return {key: data for key, data in bucket.objects.items() if "/databases/" not in key}


async def test_bytes_go_to_s3_and_come_back(store, bucket, tenant):
    ref = await store.put(b"over the wire", media_type="text/plain", name="../../x", tenant_id=tenant)
    [(key, data)] = _objects(bucket).items()
    assert data == b"over the wire"
    assert key.startswith("clew/")
    assert ".." not in key
    assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == b"over the wire"
    await store.put(b"over the wire", media_type="text/plain", tenant_id=tenant)
    assert sum(line.startswith("PUT") and key in line for line in bucket.asked) == 1, "stored once"
    assert all(header.startswith("AWS4-HMAC-SHA256") for header in bucket.headers_seen), "signed"


async def test_a_stream_goes_up_in_parts_and_comes_down_in_ranges(store, bucket, tenant):
    data = os.urandom(20 * CHUNK_BYTES + 77)
    ref = await store.put_stream(_chunks(data, 3_000_000), media_type="application/octet-stream", tenant_id=tenant)
    assert list(_objects(bucket).values()) == [data]
    assert bucket.uploads == {}
    assert b"".join([piece async for piece in store.stream(ref.artifact_id, tenant_id=tenant)]) == data
    bucket.asked.clear()
    assert (
        await store.read(ref.artifact_id, 5 * CHUNK_BYTES + 3, 10, tenant_id=tenant) == data[5 * CHUNK_BYTES + 3 :][:10]
    )
    [asked] = bucket.asked
    assert asked.endswith(f"bytes={5 * CHUNK_BYTES}-{6 * CHUNK_BYTES - 1}")


async def test_a_stream_that_fails_leaves_no_upload_behind(store, bucket, tenant):
    async def failing():
        yield bytes(20_000_000)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await store.put_stream(failing(), media_type="text/plain", tenant_id=tenant)
    assert (bucket.uploads, _objects(bucket)) == ({}, {})


async def test_damage_in_s3_is_noticed_mended_and_told(store, bucket, tenant):
    data = os.urandom(3 * CHUNK_BYTES)
    ref = await store.put(data, media_type="application/octet-stream", tenant_id=tenant)
    [key] = _objects(bucket)
    bucket.objects[key] = data[:CHUNK_BYTES]
    with pytest.raises(Damaged):
        await store.read(ref.artifact_id, 2 * CHUNK_BYTES, 5, tenant_id=tenant)
    assert (await store.collect(tenant_id=tenant, deep=True)).damaged == (ref.artifact_id,)
    del bucket.objects[key]
    with pytest.raises(Damaged):
        await store.get(ref.artifact_id, tenant_id=tenant)
    await store.put_stream(_chunks(data, 1_000_000), media_type="application/octet-stream", tenant_id=tenant)
    assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == data
    assert (await store.collect(tenant_id=tenant, deep=True)).damaged == ()


async def test_collecting_deletes_in_s3_and_finds_strays_there(database, bucket, tenant):
    eager = ArtifactStore(database, url=_url(bucket), grace_s=0)
    ref = await eager.put(b"gone soon", media_type="text/plain", tenant_id=tenant, keep="ttl:0s")
    [key] = _objects(bucket)
    bucket.objects[key[:-1] + ("0" if key[-1] != "0" else "1")] = b"stray"
    done = await eager.collect(tenant_id=tenant, deep=True)
    assert (done.expired, done.orphans) == ((ref.artifact_id,), 1)
    assert _objects(bucket) == {}
    with pytest.raises(NotFound):
        await eager.get(ref.artifact_id, tenant_id=tenant)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(403, Misconfigured), (401, Misconfigured), (500, Unavailable), (400, Unavailable), (404, Misconfigured)],
)
async def test_what_s3_refuses_is_an_error_of_ours_without_a_secret(store, bucket, tenant, status, kind, caplog):
    caplog.set_level(logging.DEBUG)
    ref = await store.put(b"x", media_type="text/plain", tenant_id=tenant)
    bucket.failing = status
    with pytest.raises(kind) as refused:
        await store.put(b"y", media_type="text/plain", tenant_id=tenant)
    with pytest.raises(Damaged if status == 404 else kind):
        await store.get(ref.artifact_id, tenant_id=tenant)
    _no_secret_in(refused.value, caplog)
    bucket.failing = 0
    assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == b"x", "and it goes on when S3 does"


async def test_an_unreachable_store_is_unavailable_within_seconds_and_names_no_secret(database, tenant, caplog):
    caplog.set_level(logging.DEBUG)
    began = time.monotonic()
    with pytest.raises(Unavailable, match="no connection") as refused:
        await ArtifactStore(database, url=_url(None, "http://127.0.0.1:9")).put(
            b"x", media_type="a/b", tenant_id=tenant
        )
    assert time.monotonic() - began < 20
    assert refused.value.retryable
    _no_secret_in(refused.value, caplog)


async def test_credentials_may_come_from_the_environment(database, bucket, tenant, monkeypatch):
    environment = {"ACCESS_KEY_ID": "AKIAENV", "SECRET_ACCESS_KEY": SECRET, "ENDPOINT_URL": bucket.endpoint}
    for name, value in environment.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    store = ArtifactStore(database, url="s3://bucket?region=us-east-1")
    await store.put(b"x", media_type="text/plain", tenant_id=tenant)
    assert "AKIAENV" in bucket.headers_seen[0]


@pytest.mark.parametrize(
    "url",
    [
        f"s3://bucket?nonsense={SECRET}",
        f"s3://AKIA:{SECRET}@bucket",
        f"az://container/{SECRET}",
        f"ftp://bucket/{SECRET}",
        "s3://",
        "",
        "gs://",
        "s3://[bad",
        5,
        b"s3://bucket",
    ],
    ids=ascii,
)
async def test_a_url_that_cannot_be_used_is_refused_without_being_repeated(database, tenant, url):
    with pytest.raises(InvalidInput) as refused:
        await ArtifactStore(database, url=url).put(b"x", media_type="text/plain", tenant_id=tenant)
    assert SECRET not in f"{refused.value} {refused.value.__cause__} {refused.value.__context__ or ''}"


def _no_secret_in(error, caplog):
    told = f"{error} {error.__cause__}" + "".join(record.getMessage() for record in caplog.records)
    assert SECRET not in told
    assert "AKIAEXAMPLE" not in told
    assert "s3://bucket/clew" in str(error), "but it says which store"
