"""Stream first, store light: who watches gets everything, before anything is stored, and can spoil nothing."""

import asyncio
import base64
import logging
import subprocess
import sys
import threading
import time

import pytest

from clew.errors import InvalidInput

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 200).decode()
RESULT = {"name": "checkout", "passed": False, "screenshot": PICTURE, "log": "step\n" * 5_000}


@pytest.fixture(autouse=True)
def short_wait(monkeypatch):
    monkeypatch.setattr("clew.artifacts.test_results.watching.WATCH_TIMEOUT_S", 0.5)


async def test_a_watcher_gets_the_full_result_before_anything_is_stored(store, tenant):
    seen = []

    async def watch(full_result):
        seen.append((full_result, await store.list(tenant_id=tenant)))

    light = await store.store_test_result(RESULT, tenant_id=tenant, watch=watch)
    [(full, stored_by_then)] = seen
    assert full == RESULT
    assert full["screenshot"] == PICTURE
    assert stored_by_then == []
    assert PICTURE not in str(light)
    assert len(await store.list(tenant_id=tenant)) == len(light["_artifact_refs"]) >= 2


class _Asynchronous:
    def __init__(self):
        self.seen = []

    async def __call__(self, full_result):
        self.seen.append(full_result)


async def test_a_plain_function_or_anything_callable_may_watch(store, tenant):
    plain, other = [], _Asynchronous()
    await store.store_test_result(RESULT, tenant_id=tenant, watch=plain.append)
    await store.store_test_result(RESULT, tenant_id=tenant, watch=other)
    assert plain == other.seen == [RESULT]


def _raise(full_result):
    raise SystemExit("a watcher's own business")


async def _raise_later(full_result):
    await asyncio.sleep(0)
    raise RuntimeError("secret of the watcher")


async def _cancel(full_result):
    raise asyncio.CancelledError


@pytest.mark.parametrize("watch", [_raise, _raise_later, _cancel], ids=lambda watch: watch.__name__)
async def test_a_watcher_that_raises_is_logged_and_harms_nothing(store, tenant, watch, caplog):
    caplog.set_level(logging.WARNING)
    light = await store.store_test_result(RESULT, tenant_id=tenant, watch=watch)
    assert light == await store.store_test_result(RESULT, tenant_id=tenant)
    await asyncio.sleep(0)
    assert "watcher" in caplog.text
    assert "secret" not in caplog.text


async def _hang(full_result):
    await asyncio.sleep(60)


async def _hang_whatever_happens(full_result):
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue


_let_go = threading.Event()


def _block(full_result):
    _let_go.wait(30)


@pytest.mark.parametrize("watch", [_hang, _hang_whatever_happens, _block], ids=lambda watch: watch.__name__)
async def test_a_watcher_that_hangs_is_left_behind(store, tenant, watch):
    _let_go.clear()
    began = time.monotonic()
    light = await store.store_test_result(RESULT, tenant_id=tenant, watch=watch)
    _let_go.set()
    assert 0.4 < time.monotonic() - began < 4
    assert light["_artifact_refs"]


def test_a_watcher_that_blocks_for_ever_does_not_keep_the_program_from_ending():
    code = (
        "import asyncio, time\n"
        "from clew.artifacts.test_results import watching\n"
        "watching.WATCH_TIMEOUT_S = 0.2\n"
        "asyncio.run(watching.shown_to(lambda result: time.sleep(600), {}))\n"
    )
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "left behind" in done.stderr
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("bad", [{"watch": 5}, {"watch": "print"}, {"tenant_id": "a/b"}, {"keep": "x"}], ids=str)
async def test_what_cannot_watch_is_refused(store, tenant, bad):
    with pytest.raises(InvalidInput):
        await store.store_test_result(RESULT, **{"tenant_id": tenant, **bad})
    for wrong in (None, [], "text", 5):
        with pytest.raises(InvalidInput):
            await store.store_test_result(wrong, tenant_id=tenant)
