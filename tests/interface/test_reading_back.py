"""The tools a model follows a reference with: bounded, one tenant's, and never an exception."""

import asyncio
import base64
import inspect
import json
import re
import typing
from typing import Any

import pytest

import clew
from clew import tokens

from .conftest import user
from .test_isolate_tool import FINDINGS, LONG, reference
from .test_test_results import HTML, SHOT

TEXT = "text/plain"
LINES = "".join(f"line {n}: {'ERROR disk is full' if n % 100 == 0 else 'all is well'}\n" for n in range(1, 1_001))
SHOP = {
    "shop": "Acme",
    "items": [{"name": f"thing {n}", "price": n * 2, "tags": ["new"] if n % 2 else []} for n in range(1, 401)],
}


class Desk:
    """One tenant's three tools."""

    def __init__(self, engine: Any, tenant: str) -> None:
        self.tools = clew.read_back_tools(engine.artifacts, tenant_id=tenant)
        self.read, self.search, self.list = self.tools
        self._put = lambda data, media_type=TEXT, name=None: engine.artifacts.put(
            data, media_type=media_type, name=name, tenant_id=tenant
        )

    async def put(self, *given: Any, **more: Any) -> str:
        return str((await self._put(*given, **more)).artifact_id)


@pytest.fixture
def desk(engine, tenant) -> Desk:
    return Desk(engine, tenant)


def test_they_are_three_async_functions_with_types_and_docstrings(desk):
    assert [tool.__name__ for tool in desk.tools] == ["read_artifact", "search_artifact", "list_artifacts"]
    for tool in desk.tools:
        assert inspect.iscoroutinefunction(tool)
        assert tool.__doc__
        hints = typing.get_type_hints(tool)
        assert set(inspect.signature(tool).parameters) <= set(hints)
        assert hints["return"] is str


def test_langchain_and_pydantic_ai_take_them(desk):
    from langchain_core.tools import StructuredTool
    from pydantic_ai import Tool

    for tool in desk.tools:
        assert StructuredTool.from_function(coroutine=tool).args
        assert Tool(tool).name == tool.__name__


# ---- read_artifact


async def test_the_first_line_says_what_it_is_and_how_to_go_on(desk):
    artifact_id = await desk.put(LINES)
    first, *rest = (await desk.read(artifact_id, lines="1-40")).splitlines()
    assert first.startswith(f"[{artifact_id} text/plain, {len(LINES):,} bytes] lines 1-40 of 1,000.")
    assert 'Go on with lines="41-' in first
    assert rest == LINES.splitlines()[:40]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("1-3", (0, 3)),
        ("41-43", (40, 43)),
        ("999-", (998, 1_000)),
        ("-2", (998, 1_000)),
        ("7", (6, 7)),
        ("998-5000", (997, 1_000)),
    ],
)
async def test_lines(desk, lines, expected):
    artifact_id = await desk.put(LINES)
    _, *rest = (await desk.read(artifact_id, lines=lines)).splitlines()
    assert rest == LINES.splitlines()[slice(*expected)]


async def test_bytes(desk):
    artifact_id = await desk.put(LINES)
    assert (await desk.read(artifact_id, bytes="0-9")).endswith("\n" + LINES[:10])
    assert (await desk.read(artifact_id, bytes="14-19")).endswith("\n" + LINES[14:20])
    assert LINES[-30:-1] in await desk.read(artifact_id, bytes="-30")


async def test_following_what_it_says_reads_all_of_it(desk):
    """As a model would: from the first line of one answer to the next."""
    artifact_id = await desk.put(LINES)
    seen: list[str] = []
    more: dict[str, str] = {}
    for _ in range(60):
        first, *rest = (await desk.read(artifact_id, **more)).splitlines()
        seen += rest
        go_on = re.search(r'Go on with lines="([^"]+)"', first)
        if not go_on:
            break
        more = {"lines": go_on[1]}
    assert seen == LINES.splitlines()


async def test_one_endless_line_can_be_read_to_its_end(desk):
    text = "".join(f"{n} " for n in range(20_000))
    artifact_id = await desk.put(text)
    seen, more = "", {}
    for _ in range(200):
        first, _, rest = (await desk.read(artifact_id, **more)).partition("\n")
        seen += rest
        go_on = re.search(r'Go on with (lines|bytes)="([^"]+)"', first)
        if not go_on:
            break
        more = {go_on[1]: go_on[2]}
    numbers = set(re.findall(r"\d+", seen))
    assert {"0", "10000", "19999"} <= numbers
    assert len(numbers) >= 19_990


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$.shop", ["Acme"]),
        ("$.items[0].name", ["thing 1"]),
        ("$.items[?@.price > 796].name", ["thing 399", "thing 400"]),
        ("$.items[-1].price", ["800"]),
        ("$..tags[0]", ["new"]),
    ],
)
async def test_json_paths(desk, path, expected):
    artifact_id = await desk.put(json.dumps(SHOP), media_type="application/json")
    answer = await desk.read(artifact_id, json_path=path)
    for word in expected:
        assert word in answer.partition("\n")[2]
    assert tokens.count(answer) <= 2_000


async def test_a_json_path_that_finds_nothing_says_so(desk):
    artifact_id = await desk.put(json.dumps(SHOP), media_type="application/json")
    answer = await desk.read(artifact_id, json_path="$.nothing")
    assert answer.strip()
    assert "thing" not in answer.replace("nothing", "")


async def test_the_id_may_be_given_with_the_summary_around_it(engine, tenant, desk):
    summary = await clew.isolate_tool(lambda: FINDINGS, engine.tool_results, "kb", tenant)()
    for given in (summary, reference(summary), f"artifact {reference(summary)}", f" {reference(summary)} "):
        assert "report-7.pdf" in await desk.read(given)


BOUNDED: dict[str, Any] = {
    "everything": {},
    "all lines": {"lines": "1-"},
    "all bytes": {"bytes": "0-99999999"},
    "a small answer": {"max_tokens": 300},
    "the most": {"max_tokens": 8_000, "lines": "1-"},
    "more than the most": {"max_tokens": 10**9, "lines": "1-"},
}


@pytest.mark.parametrize("more", BOUNDED.values(), ids=BOUNDED)
@pytest.mark.parametrize(
    "text", [LINES * 20, "x" * 500_000, "京都 " * 100_000, "\n" * 100_000], ids=["lines", "one", "kanji", "empty"]
)
async def test_an_answer_is_bounded(desk, more, text):
    answer = await desk.read(await desk.put(text), **more)
    assert tokens.count(answer) <= min(more.get("max_tokens", 2_000), 8_000)
    assert answer.startswith("[art_")


@pytest.mark.parametrize(
    "max_tokens",
    [
        150,
    ],
)
async def test_a_very_small_answer_is_bounded_too(desk, max_tokens):
    answer = await desk.read(await desk.put(LINES), max_tokens=max_tokens)
    assert answer.startswith("[art_")
    assert tokens.count(answer) <= max_tokens


async def test_a_picture_is_described_not_shown(engine, tenant, desk):
    light = await engine.artifacts.store_test_result({"shot": base64.b64encode(SHOT).decode()}, tenant_id=tenant)
    answer = await desk.read(light["_artifact_refs"][0]["artifact_id"])
    assert re.match(rf"\[art_\w+ image/png, {len(SHOT):,} bytes\]", answer)
    assert "width 320" in answer
    assert "height 200" in answer
    assert tokens.count(answer) < 200


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\x00\x01" * 10_000, bytes(range(256)) * 100], ids=["what is no text", "all bytes"]
)
async def test_what_is_no_text_is_described(desk, data):
    for media_type in ("application/octet-stream", TEXT):
        answer = await desk.read(await desk.put(data, media_type=media_type))
        assert answer.startswith("[art_")
        assert tokens.count(answer) <= 2_000


async def test_an_empty_artifact_says_it_is_empty(desk):
    answer = await desk.read(await desk.put(""))
    assert answer.startswith("[art_")
    assert "0 bytes" in answer


# ---- search_artifact


async def test_words_are_found_in_any_case_with_their_line_numbers(desk):
    artifact_id = await desk.put(LINES)
    answer = await desk.search(artifact_id, "Disk error")
    found = answer.splitlines()[1:]
    assert len([line for line in found if "disk is full" in line]) == 10
    assert any("700" in line.partition("line 700")[0] for line in found if "line 700" in line)
    assert "all is well" not in answer


async def test_phrases_stand_together(desk):
    artifact_id = await desk.put("the disk is full\nfull is the disk\n")
    assert "full is the disk" in await desk.search(artifact_id, "disk full")
    assert "full is the disk" not in (await desk.search(artifact_id, '"disk is full"')).partition("\n")[2]


async def test_a_regular_expression_only_when_asked(desk):
    artifact_id = await desk.put("price 12.50\nprice 12x50\na.*b\n")
    with_regex = await desk.search(artifact_id, r"12\.\d+", regex=True)
    assert "price 12.50" in with_regex
    assert "12x50" not in with_regex
    assert "a.*b" in await desk.search(artifact_id, "a.*b")
    assert "price" not in (await desk.search(artifact_id, "p.*e")).partition("\n")[2]


async def test_lines_around_a_hit(desk):
    artifact_id = await desk.put(LINES)
    answer = await desk.search(artifact_id, '"line 500:"', context_lines=2)
    for n in (498, 499, 500, 501, 502):
        assert f"line {n}:" in answer
    assert "line 497:" not in answer


async def test_a_limit_on_hits_and_what_is_left_out_is_said(desk):
    artifact_id = await desk.put(LINES)
    answer = await desk.search(artifact_id, "well", limit=5)
    assert answer.count("all is well") == 5
    assert tokens.count(await desk.search(artifact_id, "well", limit=1_000)) <= 2_000


async def test_nothing_found_is_said(desk):
    answer = await desk.search(await desk.put(LINES), "unicorn")
    assert answer.strip()
    assert "all is well" not in answer


async def test_a_search_in_megabytes(desk):
    text = "".join(f"row {n} of many\n" for n in range(200_000)) + "the needle\n"
    async with asyncio.timeout(10):
        answer = await desk.search(await desk.put(text), "needle")
    assert "the needle" in answer
    assert "200001" in answer.replace(",", "")


# ---- list_artifacts


async def test_the_list_is_newest_first(desk):
    ids = [await desk.put(f"{n}", name=f"file-{n}.txt") for n in range(4)]
    answer = await desk.list()
    assert [answer.index(artifact_id) for artifact_id in reversed(ids)] == sorted(answer.index(i) for i in ids)
    assert "file-2.txt" in answer
    assert ids[0] not in await desk.list(limit=2)
    named = await desk.list(name_contains="FILE-1")
    assert ids[1] in named
    assert ids[2] not in named


async def test_an_empty_list_says_so(desk):
    assert (await desk.list()).strip()
    assert "art_" not in await desk.list()


async def test_a_list_is_bounded(desk):
    for n in range(30):
        await desk.put(f"{n}", name=f"{n} " + "long name " * 60)
    for limit in (20, 1_000):
        assert tokens.count(await desk.list(limit=limit)) <= 2_000


# ---- what is wrong comes back as a sentence


WRONG: dict[str, Any] = {
    "an unknown id": lambda d, i: d.read("art_aaaaaaaaaaaaaaaa"),
    "no id": lambda d, i: d.read(""),
    "a path": lambda d, i: d.read("../../etc/passwd"),
    "None": lambda d, i: d.read(None),
    "a number": lambda d, i: d.read(5),
    "NUL": lambda d, i: d.read("art_\0"),
    "a surrogate": lambda d, i: d.read("art_\ud800"),
    "lines that are none": lambda d, i: d.read(i, lines="some"),
    "lines backwards": lambda d, i: d.read(i, lines="40-1"),
    "line zero": lambda d, i: d.read(i, lines="0-0"),
    "lines beyond the end": lambda d, i: d.read(i, lines="5000-6000"),
    "a number as lines": lambda d, i: d.read(i, lines=5),
    "a list as lines": lambda d, i: d.read(i, lines=[1, 5]),
    "huge lines": lambda d, i: d.read(i, lines="1-" + "9" * 500),
    "bytes that are none": lambda d, i: d.read(i, bytes="x"),
    "bytes beyond the end": lambda d, i: d.read(i, bytes="999999-"),
    "both": lambda d, i: d.read(i, lines="1-2", bytes="0-5"),
    "a path that is none": lambda d, i: d.read(i, json_path="$.["),
    "a path in what is no JSON": lambda d, i: d.read(i, json_path="$.a"),
    "a path of a kilometre": lambda d, i: d.read(i, json_path="$" + ".a" * 50_000),
    "no tokens": lambda d, i: d.read(i, max_tokens=0),
    "negative tokens": lambda d, i: d.read(i, max_tokens=-5),
    "words as tokens": lambda d, i: d.read(i, max_tokens="many"),
    "no query": lambda d, i: d.search(i, ""),
    "None as query": lambda d, i: d.search(i, None),
    "a pattern that is none": lambda d, i: d.search(i, "(", regex=True),
    "a query of a megabyte": lambda d, i: d.search(i, "x" * 1_000_000),
    "NUL as query": lambda d, i: d.search(i, "\0"),
    "a surrogate as query": lambda d, i: d.search(i, "\ud800"),
    "a search in nothing": lambda d, i: d.search("art_aaaaaaaaaaaaaaaa", "x"),
    "no hits": lambda d, i: d.search(i, "line", limit=0),
    "negative hits": lambda d, i: d.search(i, "line", limit=-1),
    "words as a limit": lambda d, i: d.search(i, "line", limit="x"),
    "negative context": lambda d, i: d.search(i, "line", context_lines=-1),
    "huge context": lambda d, i: d.search(i, "line", context_lines=10**9),
    "no items": lambda d, i: d.list(limit=0),
    "huge list": lambda d, i: d.list(limit=10**30),
    "a word as a list's limit": lambda d, i: d.list(limit="x"),
    "NUL as a name": lambda d, i: d.list(name_contains="\0"),
    "a wildcard as a name": lambda d, i: d.list(name_contains="%"),
    "a number as a name": lambda d, i: d.list(name_contains=5),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
async def test_what_is_wrong_comes_back_as_a_sentence(desk, call):
    artifact_id = await desk.put(LINES)
    async with asyncio.timeout(15):
        answer = await call(desk, artifact_id)
    assert isinstance(answer, str)
    assert answer.strip()
    assert tokens.count(answer) <= 2_000
    assert "Traceback" not in answer
    assert answer.encode()


# ---- tenants


async def test_another_tenants_artifact_is_as_if_it_were_not(engine, tenant, other, desk):
    artifact_id = await desk.put("the secret is swordfish", name="secret.txt")
    assert "swordfish" in await desk.read(artifact_id)
    theirs = Desk(engine, other)
    for call in (theirs.read, lambda i: theirs.search(i, "secret")):
        said = [(await call(i)).replace(i, "…") for i in (artifact_id, "art_aaaaaaaaaaaaaaaa")]
        assert said[0] == said[1]
        assert "swordfish" not in said[0]
    assert "art_" not in await theirs.list()


async def test_the_handles_tools_are_the_same_and_a_threads_recall_too(engine, tenant, thread_id, desk):
    artifact_id = await desk.put(LINES)
    handle = {tool.__name__: tool for tool in engine.tenant(tenant).tools()}
    assert {"read_artifact", "search_artifact", "list_artifacts"} <= set(handle)
    assert "line 7:" in await handle["read_artifact"](artifact_id, lines="7")
    thread = {tool.__name__: tool for tool in engine.tenant(tenant).thread(thread_id).tools()}
    assert {"read_artifact", "search_artifact", "list_artifacts", "recall_messages"} <= set(thread)


# ---- references are for those who can follow them


async def test_a_reference_is_only_shown_to_a_model_that_has_these_tools(engine, tenant, thread_id):
    thread = engine.tenant(tenant).thread(thread_id)
    with clew.tool_call("call_1", thread_id):
        summary = await engine.tenant(tenant).isolate(lambda: FINDINGS, "kb")()
    call = {"id": "call_1", "type": "function", "function": {"name": "kb", "arguments": "{}"}}
    await thread.append(
        [
            user("How was Q3?"),
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": summary},
        ]
    )
    with_tools = await thread.compile("Answer", tools=thread.tools())
    assert reference(summary) in str(with_tools.messages)
    without = await thread.compile("Answer")
    assert "15 findings" in str(without.messages), "the rest of the summary is there"
    assert "art_" not in str(without.messages)


# ---- summaries keep what a model needs


TRACE = (
    "Traceback (most recent call last):\n"
    + "".join(f'  File "/app/layer{n}.py", line {n}, in call{n}\n    return call{n + 1}()\n' for n in range(60))
    + '  File "/app/cart.py", line 42, in total\n    return price * quantity\n'
    "TypeError: unsupported operand type(s) for *: 'NoneType' and 'int'\n"
)
DIFF = "".join(
    f"diff --git a/src/mod{n}.py b/src/mod{n}.py\n--- a/src/mod{n}.py\n+++ b/src/mod{n}.py\n"
    f"@@ -1,3 +1,3 @@\n-old = {n}\n+new = {n}\n ctx\n"
    for n in range(12)
)
LOG = "".join(f"2026-01-01T00:00:{n % 60:02}Z INFO worker {n} ok\n" for n in range(800)) + (
    "2026-01-01T00:15:00Z ERROR worker 7: connection refused to db-3:5432\n"
)
TESTS = {
    "passed": 97,
    "failed": 2,
    "skipped": 1,
    "tests": [
        {"name": f"test_{n}", "status": "failed" if n in (41, 77) else "passed", "seconds": 0.1} for n in range(100)
    ],
}
CSV = "order_id,customer,total\n" + "".join(f"{1000 + n},customer {n},{n * 3}.50\n" for n in range(300))
JSON_DOC = {
    "version": "3.1",
    "servers": [{"url": "http://a"}],
    "paths": {f"/p{n}": {"get": {"id": n}} for n in range(150)},
}

SHAPES: dict[str, tuple[Any, list[str]]] = {
    "records": ([{"sku": f"A-{n}", "stock": n, "warehouse": "Lisbon"} for n in range(120)], ["120", "A-0", "Lisbon"]),
    "search hits with confidence": (FINDINGS, ["15", "0.94", "$5.2M", "report-"]),
    "search hits with scores": (
        {
            "query": "revenue",
            "results": [{"title": f"Doc {n}", "url": f"https://x/{n}", "score": 0.9 - n / 100} for n in range(30)],
        },
        ["30", "0.9", "Doc 0"],
    ),
    "a table of text": (CSV, ["300", "order_id", "total"]),
    "test results": (TESTS, ["97", "2", "test_41", "test_77"]),
    "HTML": (HTML, ["Checkout – Acme", "Your cart"]),
    "a log with an error": (LOG, ["connection refused to db-3:5432"]),
    "a traceback": (TRACE, ["TypeError", "unsupported operand", "cart.py"]),
    "a diff": (DIFF, ["12 files"]),
    "a JSON document": (JSON_DOC, ["version", "3.1", "paths", "150"]),
    "JSON in text": (json.dumps(JSON_DOC), ["version", "paths", "150"]),
    "a page of JSON": (
        {
            "next_cursor": "tok_99",
            "total_count": 5120,
            "users": {f"u{n}": {"age": n, "city": "Lisbon"} for n in range(150)},
        },
        ["tok_99", "5120", "users", "150"],
    ),
    "a dict of many": ({f"key {n}": f"value {n} " * 5 for n in range(100)}, ["100", "key 0"]),
    "a list of numbers": ([1.5, 2.5] * 500, ["1,000", "1.5"]),
    "a run of tests in text": (
        "collected 100 items\n"
        + "tests/test_a.py .....\n" * 300
        + "FAILED tests/test_a.py::test_pay - assert 59.9 == 53.91\n"
        "=== 1 failed, 99 passed in 3.20s ===\n",
        ["1 failed", "99 passed", "test_pay"],
    ),
    "prose": ("The board approved the budget of $5.2M on 3 March. " + LONG, ["The board approved the budget of $5.2M"]),
    "binary": (SHOT, ["image/png", "320", "200"]),
    "binary of no kind": (b"\x00\x01\xfe" * 5_000, ["octet-stream", "15"]),
}


@pytest.mark.parametrize(("result", "words"), SHAPES.values(), ids=SHAPES)
async def test_a_summary_keeps_what_a_model_needs(engine, tenant, result, words):
    summary = await clew.isolate_tool(lambda: result, engine.tool_results, "tool", tenant)()
    assert isinstance(summary, str)
    assert summary.startswith("[tool] ")
    assert tokens.count(summary) <= 100
    missing = [word for word in words if word not in summary.replace("×", "x")]
    assert missing == [], summary
    assert await engine.tool_results.get_tool_result(reference(summary), tenant_id=tenant) == result
    again = await clew.isolate_tool(lambda: result, engine.tool_results, "tool", tenant)()
    assert again == summary, "the same result is summarised in the same words"


# ---- without await


def test_without_await_they_are_the_same(server, settings, tenant, thread_id):
    with clew.open_sync(settings=settings) as engine:
        ref = engine.artifacts.put(LINES, media_type=TEXT, tenant_id=tenant)
        tools = {tool.__name__: tool for tool in engine.tenant(tenant).tools()}
        assert "line 7:" in tools["read_artifact"](ref.artifact_id, lines="7")
        assert "disk is full" in tools["search_artifact"](ref.artifact_id, "disk")
        assert ref.artifact_id in tools["list_artifacts"]()
        thread = engine.tenant(tenant).thread(thread_id)
        thread.append(user("the word is swordfish"))
        recall = {tool.__name__: tool for tool in thread.tools()}["recall_messages"]
        assert "swordfish" in recall("swordfish")
