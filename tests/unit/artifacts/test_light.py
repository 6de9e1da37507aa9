"""A test result made light: what is big is one reference away, what is small stays, nothing of the input changes."""

import base64
import copy
import hashlib
import io
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from clew.artifacts.ref import ArtifactRef, Lifetime
from clew.artifacts.test_results.light import LONG_TEXT_TOKENS, lighten
from clew.artifacts.test_results.pictures import THUMBNAIL_PX, picture_of, thumbnail
from clew.errors import InvalidInput, Unavailable
from clew.tokens import count

PAGE = (
    "<html><head><title>Shop</title><script>var x = 1;</script></head><body><h1>Your cart</h1><p>Total 12.50</p>"
    + '<div class="row"><span>item</span></div>' * 60
    + "</body></html>"
)
LONG = "The agent opened the page and looked around for a while, then pressed on. " * 60


@dataclass
class Shelf:
    """What was put, in memory, named as the store names it."""

    held: dict[str, bytes] = field(default_factory=dict)
    puts: list[str] = field(default_factory=list)
    fail_at: int | None = None

    async def put(
        self,
        data: bytes | str,
        *,
        media_type: str,
        name: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> ArtifactRef:
        if len(self.puts) == self.fail_at:
            raise Unavailable("the store is away")
        raw = data.encode() if isinstance(data, str) else data
        digest = hashlib.sha256(raw).hexdigest()
        key = base64.b32encode(hashlib.sha256(f"{media_type}\0{digest}".encode()).digest()).decode().lower()
        artifact_id = f"art_{key[:16]}"
        self.held[artifact_id] = raw
        self.puts.append(media_type)
        now = datetime.now(UTC)
        return ArtifactRef(artifact_id, media_type, len(raw), digest, name, now, dict(details or {}), Lifetime())


def picture(width: int, height: int, kind: str = "PNG", seed: int = 0, dots: int = 2_000) -> bytes:
    image = Image.new("RGB", (width, height), "white")
    dice = random.Random(seed)
    for _ in range(dots):
        image.putpixel((dice.randrange(width), dice.randrange(height)), tuple(dice.randbytes(3)))
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def only_ref(light: dict[str, Any]) -> dict[str, Any]:
    (ref,) = light["_artifact_refs"]
    return dict(ref)


async def test_a_result_with_nothing_big_comes_back_equal() -> None:
    result = {"test": "checkout", "steps": [{"n": 1, "ok": True, "ms": 12.5}], "error": None, "note": "é" * 50}
    shelf = Shelf()
    assert await lighten(result, shelf.put) == {**result, "_artifact_refs": []}
    assert shelf.puts == []


@pytest.mark.parametrize("prefix", ["", "data:image/png;base64,", "data:image/png;charset=utf-8;base64,"])
async def test_screenshots_keep_size_and_a_thumbnail_and_read_back_the_same(prefix: str) -> None:
    data, shelf = picture(1280, 720), Shelf()
    light = await lighten({"steps": [{}, {"screenshot": prefix + encoded(data)}]}, shelf.put)
    ref = only_ref(light)
    assert ref["path"] == "$.steps[1].screenshot"
    assert (ref["media_type"], ref["width"], ref["height"], ref["size"]) == ("image/png", 1280, 720, len(data))
    assert shelf.held[ref["artifact_id"]] == data
    assert light["steps"][1]["screenshot"].endswith(f"[artifact {ref['artifact_id']}]")
    small = picture_of(shelf.held[ref["thumbnail"]])
    assert small is not None
    assert (small.width, small.height) == (THUMBNAIL_PX, THUMBNAIL_PX * 720 // 1280)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
async def test_every_common_kind_of_picture_is_known_by_its_bytes(kind: str) -> None:
    data, shelf = picture(40, 30, kind), Shelf()
    ref = only_ref(await lighten({"shot": encoded(data)}, shelf.put))
    assert ref["media_type"] == f"image/{kind.lower()}"
    assert (ref["width"], ref["height"]) == (40, 30)


async def test_base64_that_is_no_picture_is_not_called_one() -> None:
    shelf = Shelf()
    short = {"a": "data:image/png;base64,AAAA", "b": "deadbeef" * 8, "c": encoded(b"plain words" * 5)}
    assert await lighten(short, shelf.put) == {**short, "_artifact_refs": []}
    damaged = encoded(picture(640, 480))[:-3] + "*!"
    ref = only_ref(await lighten({"shot": damaged}, shelf.put))
    assert ref["media_type"] == "text/plain"
    assert shelf.held[ref["artifact_id"]].decode() == damaged


async def test_raw_bytes_are_always_moved_out() -> None:
    shelf = Shelf()
    light = await lighten({"raw": b"\x00\x01", "none": b"", "view": memoryview(b"%PDF-1.7 x")}, shelf.put)
    assert [ref["media_type"] for ref in light["_artifact_refs"]] == ["application/octet-stream", "application/pdf"]
    assert light["none"] == ""
    json.dumps(light)


async def test_html_keeps_its_title_and_first_lines() -> None:
    shelf = Shelf()
    light = await lighten({"page": PAGE}, shelf.put)
    ref = only_ref(light)
    assert (ref["media_type"], ref["title"]) == ("text/html", "Shop")
    assert ref["text"].startswith("Your cart\nTotal 12.50")
    assert '"Shop"' in light["page"]
    assert "Your cart" in light["page"]
    assert shelf.held[ref["artifact_id"]].decode() == PAGE


async def test_logs_keep_their_error_lines() -> None:
    lines = [f"2026-01-01T10:00:{n % 60:02d}Z INFO heartbeat {n}" for n in range(200)]
    lines[77] = "2026-01-01T10:01:17Z ERROR the card 4421 was refused"
    light = await lighten({"log": "\n".join(lines)}, Shelf().put)
    assert "the card 4421 was refused" in light["log"]
    ref = only_ref(light)
    assert ref["lines"] == 200
    assert any("4421" in line for line in ref["errors"])


async def test_long_texts_are_moved_out_and_short_ones_stay() -> None:
    shelf = Shelf()
    assert count(LONG) > LONG_TEXT_TOKENS
    light = await lighten({"long": LONG, "short": LONG[:300]}, shelf.put)
    assert light["short"] == LONG[:300]
    assert len(light["long"]) < 500
    assert light["long"].endswith(f"[artifact {only_ref(light)['artifact_id']}]")
    assert shelf.held[only_ref(light)["artifact_id"]].decode() == LONG


async def test_a_huge_list_stays_a_list_with_its_count() -> None:
    steps = [{"step": n, "action": "click", "status": "failed" if n == 407 else "passed"} for n in range(800)]
    shelf = Shelf()
    light = await lighten({"steps": steps, "by_id": {f"id{n}": n for n in range(900)}}, shelf.put)
    assert light["steps"][0] == steps[0]
    assert "799 passed, 1 failed" in light["steps"][-1]
    assert "step=407" in light["steps"][-1]
    listed, mapped = light["_artifact_refs"]
    assert (listed["path"], listed["count"], mapped["count"]) == ("$.steps", 800, 900)
    assert json.loads(shelf.held[listed["artifact_id"]]) == steps
    assert light["by_id"]["id0"] == 0
    assert mapped["artifact_id"] in light["by_id"]["_more"]


async def test_a_screenshot_in_a_huge_list_is_still_listed() -> None:
    data, shelf = picture(64, 48), Shelf()
    steps = [{"step": n, "screenshot": encoded(data) if n == 300 else None} for n in range(400)]
    light = await lighten({"steps": steps}, shelf.put)
    assert {ref["path"] for ref in light["_artifact_refs"]} == {"$.steps[300].screenshot", "$.steps"}
    moved = json.loads(shelf.held[light["_artifact_refs"][-1]["artifact_id"]])
    assert light["_artifact_refs"][0]["artifact_id"] in moved[300]["screenshot"]


async def test_the_same_value_twice_is_stored_once_and_referenced_twice() -> None:
    data, shelf = picture(320, 200), Shelf()
    light = await lighten({"before": encoded(data), "after": f"data:image/png;base64,{encoded(data)}"}, shelf.put)
    first, second = light["_artifact_refs"]
    assert first["artifact_id"] == second["artifact_id"]
    assert (first["path"], second["path"]) == ("$.before", "$.after")
    assert second["thumbnail"] == first["thumbnail"]
    assert shelf.puts == ["image/jpeg", "image/png"]


async def test_the_input_is_never_changed() -> None:
    result = {"shot": encoded(picture(64, 48)), "log": LONG, "steps": [{"n": n} for n in range(500)], "t": (1, LONG)}
    before = copy.deepcopy(result)
    light = await lighten(result, Shelf().put)
    assert result == before
    assert light != {**before, "_artifact_refs": []}


async def test_a_light_result_passed_again_keeps_its_references() -> None:
    shelf = Shelf()
    light = await lighten({"shot": encoded(picture(640, 480)), "log": LONG, "page": PAGE}, shelf.put)
    puts = list(shelf.puts)
    assert await lighten(light, shelf.put) == light
    assert shelf.puts == puts
    more = await lighten({**light, "second": LONG[::-1]}, shelf.put)
    assert more["_artifact_refs"][: len(light["_artifact_refs"])] == light["_artifact_refs"]
    assert len(more["_artifact_refs"]) == len(light["_artifact_refs"]) + 1


async def test_values_without_a_json_form_are_carried_as_text() -> None:
    result = {
        "at": datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
        "day": date(2026, 1, 2),
        "price": Decimal("12.50"),
        "rate": float("nan"),
        "file": PurePosixPath("/tmp/x"),
        "tags": {"b", "a"},
    }
    light = await lighten(result, Shelf().put)
    assert light["at"] == "2026-01-02T03:04:00+00:00"
    assert (light["day"], light["price"], light["rate"]) == ("2026-01-02", "12.50", "nan")
    assert (light["file"], light["tags"]) == ("/tmp/x", ["a", "b"])
    json.dumps(light, allow_nan=False)


def _ring() -> dict[str, Any]:
    ring: dict[str, Any] = {"steps": [1]}
    ring["steps"].append(ring)
    return ring


def _deep() -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(100_000):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("result", "where"),
    [
        ([], "full_result"),
        ("text", "full_result"),
        (None, "full_result"),
        ({"a": [1, object()]}, r"\$\.a\[1\]"),
        ({"a": {(1, 2): 3}}, r"\$\.a"),
        ({"a": 10**400}, r"\$\.a"),
        ({"a b": object()}, r'\$\["a b"\]'),
        ({"log": LONG + "\ud800"}, r"\$\.log"),
        (_ring(), r"\$\.steps\[1\]"),
        (_deep(), "64"),
        ({"_artifact_refs": "none"}, "_artifact_refs"),
        ({"_artifact_refs": [1]}, "_artifact_refs"),
    ],
)
async def test_what_cannot_be_carried_is_refused_with_its_place(result: Any, where: str) -> None:
    with pytest.raises(InvalidInput, match=where):
        await lighten(result, Shelf().put)


@pytest.mark.parametrize("fail_at", [0, 1, 2])
async def test_a_failed_put_is_raised_and_the_input_is_whole(fail_at: int) -> None:
    result = {"shot": encoded(picture(64, 48)), "log": LONG}
    before = copy.deepcopy(result)
    with pytest.raises(Unavailable):
        await lighten(result, Shelf(fail_at=fail_at).put)
    assert result == before
    assert len((await lighten(result, Shelf(fail_at=3).put))["_artifact_refs"]) == 2


@pytest.mark.parametrize("as_list", [False, True])
async def test_a_browser_run_of_150_000_tokens_comes_out_under_1_500(as_list: bool) -> None:
    before, after = (picture(1280, 720, seed=seed, dots=8_500) for seed in (1, 2))
    urls = [f"https://shop.local/item/{n * 7919 % 100_003}" for n in range(1_000)]
    steps = [
        {"step": n, "action": "click", "status": "failed" if n == 411 else "passed", "url": url}
        for n, url in enumerate(urls)
    ]
    log = "\n".join(
        f"2026-01-01T10:00:00Z {'ERROR' if n == 411 else 'INFO'} step {n} {url}" for n, url in enumerate(urls)
    )
    run = {
        "test": "checkout",
        "screenshots": {"before": encoded(before), "after": f"data:image/png;base64,{encoded(after)}"},
        "steps": steps if as_list else log,
    }
    assert count(json.dumps(run)) > 140_000
    shelf = Shelf()
    light = await lighten(run, shelf.put)
    assert count(json.dumps(light)) < 1_500
    ids = {ref["path"]: ref["artifact_id"] for ref in light["_artifact_refs"]}
    assert shelf.held[ids["$.screenshots.before"]] == before
    assert shelf.held[ids["$.screenshots.after"]] == after
    assert "411" in str(light["steps"])


def test_damaged_and_huge_pictures_have_no_thumbnail() -> None:
    data = picture(640, 480)
    assert thumbnail(data) is not None
    for damaged in (
        data[:60],
        data[:200],
        data[:16] + b"\xff" * 8 + data[24:],
        b"\xff\xd8\xff" + b"\0" * 50,
        b"BM",
        b"",
    ):
        assert thumbnail(damaged) is None


@settings(deadline=None, max_examples=100)
@given(
    st.dictionaries(
        st.text(max_size=8).filter(lambda key: key != "_artifact_refs"),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=60),
            lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
            max_leaves=10,
        ),
        max_size=5,
    )
)
async def test_any_small_json_comes_back_equal(result: dict[str, Any]) -> None:
    light = await lighten(result, Shelf().put)
    refs = light.pop("_artifact_refs")
    assert refs or light == result


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
@settings(deadline=None, max_examples=150)
@given(
    st.binary(max_size=400), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"BM", b"II*\0"])
)
async def test_any_bytes_are_carried_whatever_they_begin_with(data: bytes, magic: bytes) -> None:
    shelf = Shelf()
    light = await lighten({"raw": magic + data, "text": encoded(magic + data)}, shelf.put)
    assert all(ref["artifact_id"] in shelf.held for ref in light["_artifact_refs"])
    if magic + data:
        assert shelf.held[light["_artifact_refs"][0]["artifact_id"]] == magic + data
