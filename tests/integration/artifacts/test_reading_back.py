"""What a model reads back: a part at a time, bounded, with the way on; and a sentence where something is wrong."""

import asyncio
import inspect
import json
import os
import re
import sys
import time
import tracemalloc
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew.artifacts.reading_back.asking as asking
from clew import InvalidInput
from clew.artifacts import ArtifactStore, ToolResultCache, isolate_tool, read_back_tools
from clew.artifacts.isolation.calls import ReadBack, is_read_back
from clew.artifacts.reading_back import READ_DEFAULT_TOKENS, READ_MAX_TOKENS
from clew.artifacts.reading_back.slices import LinePicker
from clew.errors import Unavailable
from clew.tokens import count

LINES = [
    f"{n:04d} {'ERROR disk full' if n % 300 == 7 else 'INFO all is well'} on host-{n % 9}" for n in range(1, 1_205)
]
LOG = "\n".join(LINES) + "\n"
DOCUMENT = {"items": [{"name": f"Item {n}", "price": n, "tags": ["a", "b"]} for n in range(500)], "total": 500}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8


class Reading:
    """The tools of one tenant, and a way to put something there."""

    def __init__(self, store: ArtifactStore, tenant: str) -> None:
        self.store = store
        self.tenant = tenant
        self.read, self.search, self.list = read_back_tools(store, tenant_id=tenant)

    async def put(self, data: Any, media_type: str = "text/plain", **more: Any) -> str:
        return (await self.store.put(data, media_type=media_type, tenant_id=self.tenant, **more)).artifact_id


@pytest.fixture
def reading(store: ArtifactStore, tenant: str) -> Reading:
    return Reading(store, tenant)


def body(answer: str) -> str:
    """What stands under the head line."""
    return answer.partition("\n")[2]


def way_on(answer: str, kind: str) -> str | None:
    found = re.search(rf'Go on with {kind}="([\d-]+)"', answer.partition("\n")[0])
    return found[1] if found else None


async def test_a_log_is_read_by_lines_from_start_to_end_and_nothing_is_left_out(reading: Reading):
    artifact = await reading.put(LOG)
    answer = await reading.read(artifact, lines="1-40")
    assert answer.startswith(
        f'[{artifact} text/plain, {len(LOG):,} bytes] lines 1-40 of 1,204. Go on with lines="41-80".'
    )
    assert body(answer) == "\n".join(LINES[:40]) + "\n"
    read, following = "", "1-"
    while following:
        answer = await reading.read(artifact, lines=following)
        assert count(answer) <= READ_DEFAULT_TOKENS
        read += body(answer)
        following = way_on(answer, "lines")
    assert read == LOG


@pytest.mark.parametrize(
    ("wanted", "first", "last"),
    [("1200-", 1_200, 1_204), ("7", 7, 7), ("-3", 1_202, 1_204), ("1203-99999", 1_203, 1_204)],
)
async def test_any_lines_can_be_read(reading: Reading, wanted: str, first: int, last: int):
    answer = await reading.read(await reading.put(LOG), lines=wanted)
    assert f"lines {first:,}-{last:,} of 1,204" in answer
    assert body(answer) == "\n".join(LINES[first - 1 : last]) + "\n"


async def test_a_line_longer_than_fits_goes_on_by_bytes_to_its_end(reading: Reading):
    long = "one\n" + " ".join(f"wörd{n}" for n in range(6_000)) + "\nlast\n"
    artifact = await reading.put(long)
    answer = await reading.read(artifact, lines="2-")
    assert "line 2 of 3 is longer than fits" in answer
    read = "one\n" + body(answer)
    following = way_on(answer, "bytes")
    while following:
        answer = await reading.read(artifact, bytes=following)
        assert count(answer) <= READ_DEFAULT_TOKENS
        read += body(answer)
        following = way_on(answer, "bytes")
    assert read == long


async def test_bytes_are_read_by_range(reading: Reading):
    artifact = await reading.put(LOG)
    assert body(await reading.read(artifact, bytes="0-3")) == LOG[:4]
    assert body(await reading.read(artifact, bytes="100-119")) == LOG[100:120]
    assert body(await reading.read(artifact, bytes="-10")) == LOG[-10:]
    assert "has no byte 99,999,999" in await reading.read(artifact, bytes="99999999-")


@given(st.text(st.sampled_from("ab\n é🎉\r"), max_size=60), st.integers(1, 12), st.integers(0, 12), st.integers(1, 9))
def test_lines_are_found_however_the_bytes_come(text: str, first: int, more: int, piece: int):
    data = text.encode()
    picker = LinePicker(first, first + more, 1_000)
    for start in range(0, len(data), piece):
        picker.feed(data[start : start + piece])
    lines = data.split(b"\n")
    ends = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    assert bytes(picker.data) == b"".join(ends[first - 1 : first + more])
    assert picker.total == len(ends)
    if picker.data:
        assert picker.start == len(b"".join(ends[: first - 1]))


@pytest.mark.parametrize("max_tokens", [200, 500, 2_000, 8_000, 10**9, -5, None, "many"])
async def test_what_is_read_is_bounded(reading: Reading, max_tokens: Any):
    artifact = await reading.put(LOG * 20)
    wanted = max(200, min(max_tokens, READ_MAX_TOKENS)) if isinstance(max_tokens, int) else READ_DEFAULT_TOKENS
    for more in ({}, {"bytes": "0-"}):
        tokens = count(await reading.read(artifact, max_tokens=max_tokens, **more))
        assert wanted - 150 <= tokens <= wanted
    document = await reading.put(json.dumps(DOCUMENT), "application/json")
    assert count(await reading.read(document, json_path="$..*", max_tokens=max_tokens)) <= wanted


async def test_json_is_read_by_path(reading: Reading):
    artifact = await reading.put(json.dumps(DOCUMENT), "application/json")
    assert json.loads(body(await reading.read(artifact, json_path="$.items[3]"))) == DOCUMENT["items"][3]
    assert body(await reading.read(artifact, json_path="$.total")) == "500"
    dear = await reading.read(artifact, json_path="$.items[?@.price > 497].name")
    assert "2 values" in dear
    assert body(dear).splitlines() == [
        "$['items'][498]['name']: \"Item 498\"",
        "$['items'][499]['name']: \"Item 499\"",
    ]
    every = await reading.read(artifact, json_path="$.items[*].name")
    assert "500 values" in every
    assert "Not all of it fits" in every
    assert "has nothing at" in await reading.read(artifact, json_path="$.nope")


async def test_a_result_that_was_isolated_is_read_by_lines_and_by_path(reading: Reading, tenant: str):
    tool = isolate_tool(lambda: DOCUMENT, ToolResultCache(reading.store), "query", tenant)
    summary = await tool()
    # A model may quote more than the id.
    quoted = summary[summary.index("(full result") :]
    assert '{"name": "Item 2", "price": 2, "tags": ["a", "b"]},' in await reading.read(quoted)
    assert body(await reading.read(quoted, json_path="$.items[7].name")) == '"Item 7"'
    assert '"Item 7"' in await reading.search(quoted, "item 7")


@pytest.mark.parametrize("path", ["$.[", "$..[?", "items[", "$[?@.a ==]", "$." + "a" * 900, "$[99999999999999999999]"])
async def test_a_path_that_is_none_is_told(reading: Reading, path: str):
    artifact = await reading.put('{"a": 1}', "application/json")
    answer = await reading.read(artifact, json_path=path)
    assert "the path is not one" in answer or "has nothing at" in answer


async def test_a_path_into_what_is_not_json_is_told(reading: Reading):
    assert "it is not JSON; read it by lines" in await reading.read(await reading.put(LOG), json_path="$.a")


async def test_words_are_found_with_their_lines(reading: Reading):
    artifact = await reading.put(LOG)
    answer = await reading.search(artifact, "disk error")
    assert '4 matching lines for "disk error", all here' in answer
    assert body(answer).splitlines()[0] == "7: 0007 ERROR disk full on host-7"
    one = await reading.search(artifact, '"full on" host-1', context_lines=1)
    assert body(one).splitlines() == [
        "306- 0306 INFO all is well on host-0",
        "307: 0307 ERROR disk full on host-1",
        "308- 0308 INFO all is well on host-2",
    ]
    some = await reading.search(artifact, "disk elephant", limit=2)
    assert "no line has all of" in some
    assert len(body(some).splitlines()) == 2
    assert "no line matches" in await reading.search(artifact, "elephant")
    few = await reading.search(artifact, "INFO", limit=3)
    assert "1,200 matching lines" in few
    assert "the first 3 here" in few


async def test_patterns_are_found_with_their_lines(reading: Reading):
    artifact = await reading.put(LOG)
    answer = await reading.search(artifact, r"^0[0-9]07 ERROR.*host-\d$", regex=True)
    assert [line.partition(":")[0] for line in body(answer).splitlines()] == ["7", "307", "607", "907"]
    assert "no line matches" in await reading.search(artifact, "error", regex=True)
    assert "4 matching lines" in await reading.search(artifact, "(?i)error", regex=True)


async def test_a_match_in_a_very_long_line_is_shown_with_its_surroundings(reading: Reading):
    artifact = await reading.put("x" * 500_000 + " needle " + "y" * 2_000_000)
    answer = await reading.search(artifact, "needle")
    assert " needle yyy" in answer
    assert count(answer) < 500


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "(?P<x>a)(?P<x>b)", "a{99999999999}", "\\"])
async def test_a_pattern_that_is_none_is_told(reading: Reading, pattern: str):
    assert "the pattern is not one" in await reading.search(await reading.put(LOG), pattern, regex=True)


def searchers() -> list[psutil.Process]:
    mine = psutil.Process().children(recursive=True)
    return [child for child in mine if any("seeker.py" in part for part in child.cmdline())]


async def started() -> None:
    """Until a search is at work, and no longer a copy of this process."""
    async with asyncio.timeout(10):
        while not searchers():  # noqa: ASYNC110 - another process tells nobody when it is there
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"^(\w+\s?)*$", r"(x+x+)+y", r"(.*a){25}b"])
async def test_a_catastrophic_pattern_is_stopped_and_its_process_is_gone(
    reading: Reading, pattern: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(asking, "GRACE_S", 0.3)
    monkeypatch.setattr(asking.ask, "__kwdefaults__", {"seconds": 0.5})
    artifact = await reading.put("a" * 60 + "x" * 60 + " " + "word " * 40 + "!")
    started = time.monotonic()
    answer = await reading.search(artifact, pattern, regex=True)
    assert "took too long and was stopped" in answer
    assert time.monotonic() - started < 5
    assert searchers() == []
    assert "1 matching line" in await reading.search(artifact, "a+x+", regex=True), "the control: others work"


async def test_a_catastrophic_path_is_stopped_too(reading: Reading, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(asking, "GRACE_S", 1.0)
    monkeypatch.setattr(asking.ask, "__kwdefaults__", {"seconds": 0.5})
    artifact = await reading.put(json.dumps({"a": [{"b": "a" * 60 + "!"}]}), "application/json")
    assert "took too long" in await reading.read(artifact, json_path="$.a[?@.b =~ /^(a+)+$/]")
    assert searchers() == []


async def test_a_cancelled_search_leaves_no_process(reading: Reading):
    artifact = await reading.put("a" * 60 + "!")
    task = asyncio.create_task(reading.search(artifact, "(a+)+$", regex=True))
    await started()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert searchers() == []


async def test_the_searching_process_gets_no_secrets(reading: Reading, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET_OF_OURS", "hunter2")
    artifact = await reading.put("a" * 60 + "!")
    task = asyncio.create_task(reading.search(artifact, "(a+)+$", regex=True))
    await started()
    assert "SECRET_OF_OURS" not in searchers()[0].environ()
    assert os.environ["SECRET_OF_OURS"] == "hunter2"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_is_not_text_is_told_instead_of_shown(reading: Reading):
    for data, media_type in ((PNG, "image/png"), (PNG, "application/octet-stream")):
        artifact = await reading.put(data, media_type, name="shot.png", details={"width": 1280, "height": 720})
        for answer in (
            await reading.read(artifact),
            await reading.read(artifact, bytes="0-100"),
            await reading.read(artifact, json_path="$.a"),
            await reading.search(artifact, "PNG"),
        ):
            assert answer.startswith(f"[{artifact} {media_type}, {len(PNG):,} bytes]: not text")
            assert "width 1280" in answer
            assert "\x89" not in answer
    plain = await reading.put(b"only words", "application/octet-stream")
    assert body(await reading.read(plain)) == "only words", "the control: bytes that are text are read"


async def test_text_that_no_message_can_hold_is_made_fit(reading: Reading, tenant: str):
    odd = "NUL \0 and half \ud83d of it\n" * 60
    summary = await isolate_tool(lambda: odd, ToolResultCache(reading.store), "odd", tenant)()
    for answer in (
        await reading.read(summary),
        await reading.read(summary, bytes="0-"),
        await reading.search(summary, "half"),
    ):
        assert "half" in answer
        assert answer.encode()
        assert "\0" not in answer


async def test_artifacts_are_listed_newest_first(reading: Reading):
    assert await reading.list() == "There are no artifacts."
    ids = [await reading.put(f"text {n}", name=f"Report {n}\nof the day") for n in range(30)]
    answer = await reading.list()
    assert "There are more" in answer
    lines = body(answer).splitlines()
    assert [line.split()[0] for line in lines] == ids[::-1][:20]
    assert '"Report 29 of the day"' in lines[0]
    assert len(body(await reading.list(limit=100)).splitlines()) == 30
    found = await reading.list(name_contains="report 7")
    assert [line.split()[0] for line in body(found).splitlines()] == [ids[7]]
    assert await reading.list(name_contains="elephant") == 'No artifact has "elephant" in its name.'
    await reading.put("long", name="x" * 8_000)
    assert count(await reading.list(limit=100)) <= READ_DEFAULT_TOKENS


async def test_another_tenants_artifact_is_as_unknown_as_one_that_nobody_has(
    reading: Reading, store: ArtifactStore, other: str
):
    theirs = Reading(store, other)
    artifact = await theirs.put("their secret", name="their name")
    assert "their secret" in await theirs.read(artifact)
    for call in (reading.read, lambda one: reading.search(one, "secret")):
        assert await call(artifact) == await call("art_aaaaaaaaaaaaaaaa")
        assert "There is no artifact" in await call(artifact)
    assert "their" not in await reading.list()
    assert "their name" in await theirs.list()


ODD_ARGUMENTS = [
    {"lines": "forty"},
    {"lines": "0-5"},
    {"lines": "9-3"},
    {"lines": ""},
    {"lines": 5},
    {"lines": "9" * 30},
    {"bytes": "x"},
    {"bytes": [1]},
    {"json_path": ""},
    {"json_path": "$." + "a" * 5_000},
    {"json_path": "\ud800"},
    {"json_path": 5},
    {"lines": "1-2", "bytes": "1-2"},
    {"lines": "99999-"},
]


@pytest.mark.parametrize("arguments", ODD_ARGUMENTS, ids=str)
async def test_what_is_wrong_comes_back_as_a_sentence(reading: Reading, arguments: dict[str, Any]):
    answer = await reading.read(await reading.put('{"a": 1}', "application/json"), **arguments)
    assert 10 < len(answer) < 500
    assert answer.encode()
    assert "Traceback" not in answer


@pytest.mark.parametrize(
    "artifact_id", ["", "art_", "nonsense", None, 5, "art_" + "a" * 17, "../../etc/passwd", "\0", "x" * 10**6]
)
async def test_an_id_that_is_none_comes_back_as_a_sentence(reading: Reading, artifact_id: Any):
    expected = "There is no artifact of this id. list_artifacts shows those there are."
    assert await reading.read(artifact_id) == expected
    assert await reading.search(artifact_id, "x") == expected


@pytest.mark.parametrize(
    "arguments",
    [{"query": ""}, {"query": " "}, {"query": None}, {"query": "a\0"}, {"query": "x" * 5_000}, {"query": "\ud800"}],
    ids=str,
)
async def test_a_query_that_is_none_comes_back_as_a_sentence(reading: Reading, arguments: dict[str, Any]):
    assert (await reading.search(await reading.put(LOG), **arguments)).startswith("This did not work: query")


async def test_counts_out_of_bounds_are_brought_within(reading: Reading):
    artifact = await reading.put(LOG)
    answer = await reading.search(artifact, "INFO", context_lines=10**9, limit=10**9)
    assert count(answer) <= READ_DEFAULT_TOKENS
    assert "the first" in await reading.search(artifact, "INFO", limit=-5, context_lines=-5)
    assert "There are no" not in await reading.list(limit=0)


async def test_a_machine_that_starts_no_process_comes_back_as_a_sentence(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(asking.sys, "executable", "/nowhere/python")
    answer = await reading.search(await reading.put(LOG), "disk")
    assert answer.startswith("This did not work: no process can be started to search in")


async def test_a_store_that_fails_comes_back_as_a_sentence(reading: Reading, monkeypatch: pytest.MonkeyPatch):
    async def stat(*args: Any, **kwargs: Any) -> Any:
        raise Unavailable("the disk is on fire")

    monkeypatch.setattr(reading.store, "stat", stat)
    assert await reading.read("art_aaaaaaaaaaaaaaaa") == "This did not work: the disk is on fire"


async def test_an_empty_artifact_is_said_to_be(reading: Reading):
    artifact = await reading.put("")
    assert "has no line 1: it has 0" in await reading.read(artifact)
    assert "no line matches" in await reading.search(artifact, "x")


@pytest.mark.parametrize("name", ["read_artifact", "search_artifact", "list_artifacts"])
def test_the_tools_describe_themselves(reading: Reading, name: str):
    tool = {one.__name__: one for one in (reading.read, reading.search, reading.list)}[name]
    assert inspect.iscoroutinefunction(tool)
    assert is_read_back(tool)
    assert tool.__doc__
    for parameter in inspect.signature(tool).parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty


async def test_answers_are_marked(reading: Reading):
    for answer in (await reading.list(), await reading.read("nonsense")):
        assert isinstance(answer, ReadBack)


def test_only_a_store_can_be_read_back_from(store: ArtifactStore):
    with pytest.raises(InvalidInput, match="store"):
        read_back_tools("x")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="tenant_id"):
        read_back_tools(store, tenant_id="a b")


async def test_a_large_artifact_is_read_and_searched_in_bounded_memory(reading: Reading):
    line = b"an ordinary line of a very long log, number %d\n"

    async def chunks() -> Any:
        for block in range(64):
            yield b"".join(line % (block * 21_000 + n) for n in range(21_000))

    ref = await reading.store.put_stream(chunks(), media_type="text/plain", tenant_id=reading.tenant)
    assert ref.size > 64 * 1024 * 1024
    tracemalloc.start()
    answer = await reading.read(ref.artifact_id, lines="1300000-1300002")
    assert "number 1299999" in answer
    assert "number 1343999" in await reading.read(ref.artifact_id, bytes="-200")
    assert "too large to count" in await reading.read(ref.artifact_id, lines="-5")
    assert "number 1234567" in await reading.search(ref.artifact_id, "1234567")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 1024 * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are counted in /proc")
async def test_searches_leave_no_descriptor_open(reading: Reading):
    artifact = await reading.put(LOG)
    await reading.search(artifact, "disk")
    before = psutil.Process().num_fds()
    for _ in range(5):
        await reading.search(artifact, "disk")
    assert psutil.Process().num_fds() <= before + 1
