"""`store_test_result`: a run of 154,000 tokens becomes a light dict of the same shape, and every byte is kept."""

import base64
import copy
import io
import json
import random
from typing import Any

import pytest
from PIL import Image

import clew
from clew import tokens


def png(width: int = 320, height: int = 200, seed: int = 1, form: str = "PNG") -> bytes:
    """A picture that does not compress: noise."""
    noise = random.Random(seed).randbytes(width * height * 3)
    out = io.BytesIO()
    Image.frombytes("RGB", (width, height), noise).save(out, form)
    return out.getvalue()


SHOT = png()
B64 = base64.b64encode(SHOT).decode()
HTML = (
    "<!doctype html><html><head><title>Checkout – Acme</title><style>b{}</style><script>var secret = 1;</script></head>"
    "<body><h1>Your cart</h1><p>3 items, 59.90 €</p>"
    + "<div class='row'><span>Item</span></div>" * 600
    + "</body></html>"
)
LOG = "".join(
    f"2026-02-28T10:00:{n % 60:02} INFO step {n} ok\n"
    if n != 617
    else "2026-02-28T10:17:00 ERROR payment refused: 402\n"
    for n in range(1_500)
)
PROSE = "The shop opens, the cart is filled, and the total is what it should be. " * 300


def kept(light: dict[str, Any]) -> list[dict[str, Any]]:
    return list(light["_artifact_refs"])


async def _light(engine: Any, tenant: str, full: dict[str, Any], **more: Any) -> dict[str, Any]:
    before = copy.deepcopy(full)
    light = await engine.artifacts.store_test_result(full, tenant_id=tenant, **more)
    assert full == before, "the input was changed"
    assert light is not full
    json.dumps(light)
    for ref in kept(light):
        assert {"artifact_id", "media_type", "size"} <= set(ref)
        stored = await engine.artifacts.get(ref["artifact_id"], tenant_id=tenant)
        assert (stored.size, stored.media_type) == (ref["size"], ref["media_type"])
    return dict(light)


def _same_shape(full: Any, light: Any) -> bool:
    """The same keys and lengths where they were; what was taken out may be anything light."""
    if isinstance(full, dict) and isinstance(light, dict):
        return [key for key in light if key != "_artifact_refs"] == list(full) and all(
            _same_shape(value, light[key]) for key, value in full.items()
        )
    if isinstance(full, list) and isinstance(light, list):
        return len(full) == len(light) and all(_same_shape(a, b) for a, b in zip(full, light, strict=True))
    return isinstance(full, str) or (full == light and type(full) is type(light))


IMAGES = {
    "a data URL": f"data:image/png;base64,{B64}",
    "bare base64": B64,
    "in lines": "\n".join(B64[n : n + 76] for n in range(0, len(B64), 76)),
    "a data URL with parameters": f"data:image/png;name=a.png;base64,{B64}",
    "in capitals": f"DATA:IMAGE/PNG;BASE64,{B64}",
    "url-safe": base64.urlsafe_b64encode(SHOT).decode(),
    "without padding": B64.rstrip("="),
}


@pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)
async def test_a_screenshot_is_taken_out_and_identical_on_read_back(engine, tenant, image):
    light = await _light(engine, tenant, {"name": "login", "screenshot": image})
    [ref] = kept(light)
    assert ref["media_type"] == "image/png"
    assert (await engine.artifacts.get(ref["artifact_id"], tenant_id=tenant)).data == SHOT
    assert light["name"] == "login"
    assert B64[:200] not in str(light)
    assert tokens.count(json.dumps(light)) < 400


@pytest.mark.parametrize(("form", "media_type"), [("JPEG", "image/jpeg"), ("WEBP", "image/webp"), ("GIF", "image/gif")])
@pytest.mark.parametrize("prefix", [True, False])
async def test_other_forms_of_images_too(engine, tenant, form, media_type, prefix):
    data = png(form=form)
    text = base64.b64encode(data).decode()
    light = await _light(engine, tenant, {"shot": f"data:{media_type};base64,{text}" if prefix else text})
    [ref] = kept(light)
    assert ref["media_type"] == media_type
    assert (await engine.artifacts.get(ref["artifact_id"], tenant_id=tenant)).data == data


async def test_a_screenshot_keeps_width_height_and_a_thumbnail(engine, tenant):
    light = await _light(engine, tenant, {"screenshot": f"data:image/png;base64,{B64}"})
    [ref] = kept(light)
    stored = await engine.artifacts.get(ref["artifact_id"], tenant_id=tenant)
    known = {**dict(stored.details), **ref}
    assert (known["width"], known["height"]) == (320, 200)
    assert known["thumbnail"]
    assert "320" in str(light)
    assert "200" in str(light)


async def test_the_thumbnail_is_a_small_picture(engine, tenant):
    light = await _light(engine, tenant, {"screenshot": base64.b64encode(png(1280, 720)).decode()})
    [ref] = kept(light)
    thumbnail = (
        ref.get("thumbnail") or (await engine.artifacts.get(ref["artifact_id"], tenant_id=tenant)).details["thumbnail"]
    )
    if isinstance(thumbnail, dict):
        thumbnail = thumbnail["artifact_id"]
    if str(thumbnail).startswith("art_"):
        data = (await engine.artifacts.get(thumbnail, tenant_id=tenant)).data
    else:
        data = base64.b64decode(str(thumbnail).rpartition(",")[2])
    small = Image.open(io.BytesIO(data))
    assert max(small.size) < 500
    assert abs(small.width / small.height - 16 / 9) < 0.1


async def test_html_keeps_its_title_and_its_first_visible_lines(engine, tenant):
    light = await _light(engine, tenant, {"dom": HTML, "url": "http://shop/checkout"})
    [ref] = kept(light)
    assert ref["media_type"] == "text/html"
    assert (await engine.artifacts.get(ref["artifact_id"], tenant_id=tenant)).data.decode() == HTML
    said = str(light)
    for word in ("Checkout – Acme", "Your cart", "59.90"):
        assert word in said
    assert "var secret" not in said
    assert light["url"] == "http://shop/checkout"


async def test_a_log_keeps_its_error_lines(engine, tenant):
    light = await _light(engine, tenant, {"console": LOG})
    [ref] = kept(light)
    assert (await engine.artifacts.get(ref["artifact_id"], tenant_id=tenant)).data.decode() == LOG
    assert "payment refused: 402" in str(light)
    assert "step 900 ok" not in str(light)


async def test_a_long_text_is_taken_out(engine, tenant):
    light = await _light(engine, tenant, {"report": PROSE})
    [ref] = kept(light)
    assert (await engine.artifacts.get(ref["artifact_id"], tenant_id=tenant)).data.decode() == PROSE
    assert "The shop opens" in str(light)


async def test_json_in_a_text_keeps_its_shape_and_counts(engine, tenant):
    body = json.dumps({"orders": [{"id": n, "total": n * 1.5, "note": "x" * 30} for n in range(500)], "page": 1})
    light = await _light(engine, tenant, {"response": body})
    [ref] = kept(light)
    assert (await engine.artifacts.get(ref["artifact_id"], tenant_id=tenant)).data.decode() == body
    assert "orders" in str(light["response"])
    assert "500" in str(light["response"])


SMALL: dict[str, Any] = {
    "empty": {},
    "plain": {"name": "login", "passed": True, "seconds": 1.5, "retries": 0, "error": None},
    "nested": {"steps": [{"name": "open", "ok": True}, {"name": "pay", "ok": False}], "tags": [], "env": {}},
    "a short log": {"log": "ERROR it broke"},
    "a short page": {"html": "<p>ok</p>"},
    "what only looks like base64": {"word": "internationalisation", "hash": "9f86d081884c7d659a2feaa0c55ad015" * 2},
    "a link": {"img": "https://example.com/a.png", "data": "data:text/plain,hello"},
    "unicode": {"京都": "👩‍👩‍👧‍👦"},
}


@pytest.mark.parametrize("full", SMALL.values(), ids=SMALL)
async def test_what_is_light_already_stays_as_it_is(engine, tenant, full):
    light = await _light(engine, tenant, full)
    assert {key: value for key, value in light.items() if key != "_artifact_refs"} == full
    assert kept(light) == []
    assert await engine.artifacts.list(tenant_id=tenant) == []


NESTED = {
    "suite": "checkout",
    "passed": False,
    "duration_s": 12.25,
    "count": 2**70,
    "nothing": None,
    "empty": [{}, [], ""],
    "runs": [
        {
            "browser": {
                "name": "chromium",
                "steps": [{"n": 1, "shot": f"data:image/png;base64,{B64}"}, {"n": 2, "log": LOG}],
            },
            "page": {"html": HTML},
        },
        {"browser": {"name": "firefox", "steps": [{"n": 1, "shot": base64.b64encode(png(seed=2)).decode()}]}},
        [[{"deep": PROSE}]],
    ],
}


async def test_what_is_left_has_the_same_shape(engine, tenant):
    light = await _light(engine, tenant, NESTED)
    assert _same_shape(NESTED, light)
    assert len(kept(light)) == 5
    assert len(json.dumps(light)) < len(json.dumps(NESTED)) / 20
    found = [(await engine.artifacts.get(ref["artifact_id"], tenant_id=tenant)).data for ref in kept(light)]
    assert sorted(found) == sorted([SHOT, png(seed=2), LOG.encode(), HTML.encode(), PROSE.encode()])


async def test_what_stands_in_the_place_says_where_it_went(engine, tenant):
    light = await _light(engine, tenant, NESTED)
    shot = light["runs"][0]["browser"]["steps"][0]["shot"]
    [image] = [ref for ref in kept(light) if ref["artifact_id"] in str(shot)]
    assert image["media_type"] == "image/png"


async def test_a_screenshot_taken_twice_is_stored_once(engine, tenant):
    light = await _light(engine, tenant, {"a": B64, "b": f"data:image/png;base64,{B64}", "c": [B64]})
    assert {ref["artifact_id"] for ref in kept(light)} == {kept(light)[0]["artifact_id"]}
    assert len([ref for ref in await engine.artifacts.list(tenant_id=tenant) if ref.size == len(SHOT)]) == 1


async def test_making_light_twice_is_making_light_once(engine, tenant):
    once = await _light(engine, tenant, NESTED)
    twice = await _light(engine, tenant, once)
    assert {**twice, "_artifact_refs": None} == {**once, "_artifact_refs": None}
    assert [ref["artifact_id"] for ref in kept(twice)] == [ref["artifact_id"] for ref in kept(once)]


async def test_bytes_and_tuples_are_results_too(engine, tenant):
    full = {"raw": SHOT, "steps": ({"n": 1}, {"shot": B64})}
    light = await engine.artifacts.store_test_result(full, tenant_id=tenant)
    assert {(await engine.artifacts.get(ref["artifact_id"], tenant_id=tenant)).data for ref in kept(light)} == {SHOT}
    assert len(light["steps"]) == 2
    assert light["steps"][0] == {"n": 1}


async def test_a_run_of_154_000_tokens_takes_less_than_4_000(engine, tenant):
    """Two screenshots and a step log, of which 150,000 tokens are tool results."""
    shots = [png(230, 180, seed) for seed in (1, 2)]
    full = {
        "test": "checkout with a coupon",
        "passed": False,
        "steps": [
            {"n": n, "action": f"click #button-{n}", "ok": n != 31, "ms": 20 + n, "log": LOG[: 400 + n]}
            for n in range(40)
        ],
        "error": "AssertionError: expected 53.91, got 59.90",
        "screenshots": [
            base64.b64encode(shots[0]).decode(),
            f"data:image/png;base64,{base64.b64encode(shots[1]).decode()}",
        ],
        "console": LOG,
        "dom": HTML,
    }
    assert tokens.count(json.dumps(full)) > 154_000
    light = await _light(engine, tenant, full)
    assert tokens.count(json.dumps(light, ensure_ascii=False)) < 4_000
    found = [await engine.artifacts.get(ref["artifact_id"], tenant_id=tenant) for ref in kept(light)]
    assert [artifact.data for artifact in found if artifact.media_type == "image/png"] == shots
    for word in ("checkout with a coupon", "expected 53.91, got 59.90", "payment refused: 402", "Your cart"):
        assert word in str(light)


async def test_two_such_runs_a_day_long_leave_the_window_light(engine, tenant, thread_id):
    """The same agent, run after run: what a model is sent stays small."""
    thread = engine.tenant(tenant).thread(thread_id)
    for run in range(6):
        full = {
            "run": run,
            "shots": [base64.b64encode(png(230, 180, 10 * run + n)).decode() for n in (1, 2)],
            "log": LOG,
        }
        light = await engine.artifacts.store_test_result(full, tenant_id=tenant)
        call = {"id": f"call_{run}", "type": "function", "function": {"name": "run_test", "arguments": "{}"}}
        await thread.append(
            [
                {"role": "user", "content": f"Run test {run}"},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"call_{run}", "content": json.dumps(light)},
            ]
        )
    context = await thread.compile("What failed?", tools=thread.tools())
    assert context.token_usage["session"] < 8_000


# ---- stream first, store light


async def test_whoever_watches_gets_the_full_result_first(engine, tenant):
    seen: list[Any] = []

    async def watch(full: dict[str, Any]) -> None:
        seen.append((full["screenshot"], await engine.artifacts.list(tenant_id=tenant)))

    light = await engine.artifacts.store_test_result({"screenshot": B64}, tenant_id=tenant, watch=watch)
    assert seen == [(B64, [])], "before anything is stored"
    assert len(kept(light)) == 1


async def test_a_plain_function_may_watch_and_one_that_fails_changes_nothing(engine, tenant, caplog):
    seen: list[Any] = []

    def broken(full: dict[str, Any]) -> None:
        seen.append(full["screenshot"])
        raise RuntimeError("the browser went away")

    with caplog.at_level("WARNING"):
        light = await engine.artifacts.store_test_result({"screenshot": B64}, tenant_id=tenant, watch=broken)
    assert seen == [B64]
    assert len(kept(light)) == 1
    assert caplog.records


async def test_who_watches_cannot_change_what_is_stored(engine, tenant):
    def vandal(full: dict[str, Any]) -> None:
        full.clear()
        full["screenshot"] = "nothing"

    light = await engine.artifacts.store_test_result({"screenshot": B64, "n": [1]}, tenant_id=tenant, watch=vandal)
    assert len(kept(light)) == 1
    assert light["n"] == [1]


async def test_another_tenant_sees_none_of_it(engine, tenant, other):
    light = await _light(engine, tenant, {"screenshot": B64})
    with pytest.raises(clew.NotFound):
        await engine.artifacts.get(kept(light)[0]["artifact_id"], tenant_id=other)
