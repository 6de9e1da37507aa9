"""Each shape on an example: what a reader needs to go on is in the summary."""

import base64
import io
import json
from dataclasses import dataclass
from typing import Any

import pytest
from PIL import Image

from clew.artifacts.shapes import kind_of, media_type_of, rendered, summarise
from clew.errors import InvalidInput
from clew.tokens import count

REFERENCE = "art_abcdefgh23456727"


def summary(result: Any, max_tokens: int = 100) -> str:
    text = summarise(result, tool="lookup", reference=REFERENCE, max_tokens=max_tokens)
    assert text.startswith("[lookup] ")
    assert text.endswith(f"(full result: artifact {REFERENCE})")
    assert count(text) <= max_tokens
    return text


def png(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(out, "PNG")
    return out.getvalue()


FINDINGS = [
    {"text": "Q3 revenue was $5.2M, up 18% on the year.", "confidence": 0.95, "source": "board-note.pdf"},
    {"text": "Q2 revenue was $4.8M after the correction of May.", "confidence": 0.91, "source": "q2.xlsx"},
    {"text": "Costs fell by 3% because of the move.", "confidence": 0.89, "source": "q2.xlsx"},
]


@pytest.mark.parametrize("result", [FINDINGS, {"query": "revenue", "findings": FINDINGS}, json.dumps(FINDINGS)])
def test_search_hits_keep_count_confidence_the_best_words_and_sources(result: Any) -> None:
    text = summary(result)
    assert kind_of(result) == "hits"
    assert "3 findings (conf: 0.89-0.95)" in text
    assert "Key: Q3 revenue was $5.2M" in text
    assert "board-note.pdf" in text


def test_documents_of_a_retriever_are_hits_too() -> None:
    result = [
        {"page_content": f"Passage {n} about vectors", "metadata": {"source": f"doc{n}.md", "score": n / 10}}
        for n in range(1, 9)
    ]
    text = summary(result)
    assert "8 results (score: 0.1-0.8)" in text
    assert "Passage 8" in text, "the best comes first"


RESERVATION = {
    "reservation_id": "XXDC1M",
    "status": "cancelled",
    "address": {"street": "12 Long Winding Road", "zip": "32131"},
    "legs": [
        {"from": "DEN", "to": "LAS", "number": "HAT084", "day": "2024-05-21", "price": 76},
        {"from": "LAS", "to": "PHX", "number": "HAT244", "day": "2024-05-21", "price": 62},
    ],
    "travellers": [{"first": "Olivia", "last": "Smith", "dob": "1974-06-23"}],
    "payments": [{"payment_id": "credit_card_5417084", "amount": 834}],
    "created_at": "2024-05-04T17:06:02",
    "remarks": None,
    "audit": [{"updated_at": f"2024-05-0{n}T10:11:12", "hash": f"9f86d081884c7d65{n}"} for n in range(1, 5)],
    "notified": {"mail": "olivia.smith1234@example.com", "phone": "+1 555 0100 2234"},
}


def test_a_record_keeps_ids_states_days_and_payments_before_addresses() -> None:
    text = summary(RESERVATION, max_tokens=80)
    for telling in ("XXDC1M", "cancelled", "HAT084", "HAT244", "2024-05-21", "credit_card_5417084"):
        assert telling in text
    assert "32131" in json.dumps(RESERVATION)
    assert "32131" not in text


def test_a_day_that_two_rows_share_is_said_once() -> None:
    assert summary(RESERVATION).count("2024-05-21") == 1


def test_records_keep_their_number_ids_and_the_range_of_prices() -> None:
    result = [{"id": f"i-{n:04x}", "region": "eu-west-1", "status": "running", "price": 10 + n} for n in range(30)]
    text = summary(result)
    assert kind_of(result) == "records"
    assert "30 records" in text
    assert "price 10-39" in text
    assert "i-0000" in text


def test_keys_in_capitals_are_columns_and_not_ids() -> None:
    result = [{"ID": n, "NAME": "Bob", "TOTAL": 12.5 + n, "NOTE": "paid in full by card"} for n in range(12)]
    assert "TOTAL=12.5" in summary(result)


def test_a_mapping_of_ids_reads_as_rows() -> None:
    result = {f"card_{n}731": {"brand": "visa", "amount": n * 11, "id": f"card_{n}731"} for n in range(1, 20)}
    text = summary(result)
    assert "card_1731" in text
    assert "card_2731" in text
    assert text.count("card_1731") == 1


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_tables_of_text_keep_columns_rows_and_ranges(mark: str) -> None:
    lines = [("id", "name", "price"), *((str(n), f"Item {n}", str(n * 1.5)) for n in range(1, 61))]
    result = "\n".join(mark.join(line) for line in lines)
    text = summary(result)
    assert kind_of(result) == "table"
    assert "60 rows × 3 columns (id, name, price)" in text
    assert "price 1.5-90" in text


def test_markdown_tables_and_lists_of_lists_are_tables() -> None:
    markdown = "| id | name |\n|---|:--|\n" + "".join(f"| A{n} | Bolt number {n} |\n" for n in range(40))
    assert "40 rows × 2 columns (id, name)" in summary(markdown)
    lists = [["id", "name"], *([f"A{n}", f"Bolt number {n}"] for n in range(40))]
    assert "40 rows × 2 columns (id, name)" in summary(lists)
    assert kind_of("One thing, and another.\nA second line, too, is prose.\nAnd a third, as well.") != "table"


PYTEST = """============================= test session starts ==============================
platform linux -- Python 3.11.2, pytest-9.0.0
collected 14 items

tests/test_cart.py ..........F..s                                        [100%]

=================================== FAILURES ===================================
>       assert total(10) == 12
E       assert 10 == 12

tests/test_cart.py:31: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total_has_tax - assert 10 == 12
=================== 1 failed, 12 passed, 1 skipped in 0.42s ===================="""
UNITTEST = """.F
FAIL: test_b (tests.T.test_b)
Traceback (most recent call last):
  File "t.py", line 7, in test_b
AssertionError: 1 != 2
Ran 2 tests in 0.001s

FAILED (failures=1)"""
JUNIT = (
    '<?xml version="1.0"?><testsuite name="s" tests="3" failures="1" errors="0" skipped="1" time="0.5">'
    '<testcase classname="a.B" name="c" time="0.1"/>'
    '<testcase classname="a.B" name="d"><failure message="expected 1 got 2">…</failure></testcase></testsuite>'
)


@pytest.mark.parametrize(
    ("result", "telling"),
    [
        (PYTEST, ["1 failed, 12 passed, 1 skipped", "test_total_has_tax"]),
        (UNITTEST, ["Ran 2 tests", "failures=1", "test_b"]),
        (JUNIT, ["tests 3", "failures 1", "skipped 1", "a.B.d: expected 1 got 2"]),
        (
            {"passed": 11, "failed": 1, "skipped": 2, "tests": [{"name": "pays", "status": "fail", "error": "12≠10"}]},
            ["11 passed, 1 failed, 2 skipped", "FAILED pays: 12≠10"],
        ),
        (
            [{"step": f"s{n}", "status": "failed" if n == 7 else "passed", "error": "no button" if n == 7 else None}
             for n in range(40)],
            ["39 passed, 1 failed", "FAILED s7: no button"],
        ),
    ],
)  # fmt: skip
def test_test_results_keep_their_counts_and_what_failed(result: Any, telling: list[str]) -> None:
    text = summary(result)
    assert kind_of(result) == "tests"
    for part in telling:
        assert part in text


PAGE = """<!DOCTYPE html><html><head><title>Shop &amp; Co</title><script>
var secret = 1; function track(page, user) { return send("/t", {page: page, user: user}); }
window.addEventListener("load", function () { track(location.href, document.cookie); });</script></head>
<body><!-- hidden --><h1>Your cart</h1><p>Total: 12.50</p><a href="/checkout">Pay</a>
<form method="post" action="/pay"><input type="text" name="card"></form></body></html>"""


def test_html_keeps_title_visible_text_links_and_fields() -> None:
    text = summary(PAGE)
    assert kind_of(PAGE) == "html"
    assert media_type_of(PAGE) == "text/html"
    for telling in ('"Shop & Co"', "Your cart", "Total: 12.50", "/checkout", "card(text)"):
        assert telling in text
    for hidden in ("secret", "hidden", "<h1>"):
        assert hidden in PAGE
        assert hidden not in text


def test_logs_keep_counts_span_and_error_lines() -> None:
    lines = [f"2026-01-01T10:00:{n:02d}Z INFO worker-{n % 3} heartbeat ok" for n in range(60)]
    lines[17] = "2026-01-01T10:00:17Z ERROR worker-2 gateway refused card 4421 (code 502)"
    text = summary("\n".join(lines))
    assert kind_of("\n".join(lines)) == "log"
    assert "60 lines" in text
    assert "1 ERROR, 59 INFO" in text
    assert "gateway refused card 4421 (code 502)" in text


def test_tracebacks_keep_what_was_raised_and_where() -> None:
    frames = "".join(f'  File "/app/m{n}.py", line {n}, in f{n}\n    f{n + 1}()\n' for n in range(1, 12))
    result = f"Traceback (most recent call last):\n{frames}KeyError: 'order_17'\n"
    text = summary(result)
    assert kind_of(result) == "traceback"
    assert "KeyError: 'order_17'" in text
    assert "/app/m11.py:11 f11" in text
    java = 'Exception in thread "main" java.lang.NullPointerException: no id\n\tat com.acme.App.run(App.java:14)\n'
    assert "NullPointerException: no id" in summary(java)


def test_diffs_keep_files_counts_and_changed_lines() -> None:
    result = (
        "diff --git a/src/cart.py b/src/cart.py\nindex 1..2 100644\n--- a/src/cart.py\n+++ b/src/cart.py\n"
        "@@ -10,7 +10,8 @@ def total(items):\n     subtotal = sum(items)\n-    return subtotal\n"
        "+    tax = subtotal * RATE\n+    return subtotal + tax\n"
    ) + " unchanged = 1\n" * 30
    text = summary(result)
    assert kind_of(result) == "diff"
    assert "1 file +2 -1" in text
    assert "src/cart.py" in text
    assert "+return subtotal + tax" in text


def test_file_views_keep_path_range_and_definitions() -> None:
    code = "".join(
        f"{n}:    {f'def handler_{n}(request):' if n % 20 == 0 else 'x = compute(x)'}\n" for n in range(301, 381)
    )
    result = f"[File: src/app/views.py (1997 lines total)]\n(300 more lines above)\n{code}(1617 more lines below)\n"
    text = summary(result)
    assert kind_of(result) == "console"
    assert "src/app/views.py lines 301-380 of 1997" in text
    assert "320: def handler_320(request):" in text


def test_shell_output_keeps_exit_status_and_errors() -> None:
    stdout = "make: entering directory\n" + "cc -c x.c\n" * 80 + 'x.c:14:3: error: expected ";"\nmake: *** Error 1\n'
    text = summary({"exit_code": 2, "stdout": stdout, "stderr": ""})
    assert "exit_code=2" in text
    assert 'x.c:14:3: error: expected ";"' in text
    assert text.count("cc -c x.c") <= 1


def test_prose_keeps_dates_names_and_amounts() -> None:
    filler = "".join(
        f"It then spoke of matter {'abcdefghij'[n % 10]} at some length and came to no conclusion. " for n in range(40)
    )
    text = summary(f"The committee met on 12 March 2026 in Lisbon. {filler}The budget was set at €4.2M.")
    assert "12 March 2026" in text
    assert "€4.2M" in text


def test_binary_results_say_kind_and_size() -> None:
    data = png(640, 480)
    encoded = base64.b64encode(data).decode()
    for result in (data, encoded, f"data:image/png;base64,{encoded}"):
        text = summary(result)
        assert kind_of(result) == "binary"
        assert media_type_of(result) == ("image/png" if isinstance(result, bytes) else "text/plain")
        assert "image/png 640×480" in text
        assert "kB" in text or "bytes" in text
    assert "application/octet-stream, 3 bytes" in summary(b"\x00\x01\x02")


def test_an_image_inside_a_document_is_named_and_not_quoted() -> None:
    encoded = base64.b64encode(png(640, 480)).decode()
    text = summary({"step": "open", "status": "failed", "screenshot": encoded, "url": "https://shop.local/cart"})
    assert "image/png" in text
    assert encoded[:20] not in text


@pytest.mark.parametrize(
    ("text", "kind", "media_type"),
    [
        ('{"id": "A1", "status": "done"}', "document", "application/json"),
        ("{'id': 'A1', 'status': 'done'}", "document", "text/plain"),
        ('{"id": "A1"}\n{"id": "A2"}\n', "records", "application/x-ndjson"),
        ("{not json}", "prose", "text/plain"),
    ],
)
def test_text_that_parses_is_treated_as_its_value(text: str, kind: str, media_type: str) -> None:
    assert kind_of(text) == kind
    assert media_type_of(text) == media_type
    assert ("A1" in summary(text)) == ("A1" in text)


def test_data_classes_are_documents() -> None:
    @dataclass
    class Order:
        order_id: str
        status: str

    assert "ORD-17" in summary(Order("ORD-17", "paid"))


def test_rendered_is_what_a_model_would_have_been_shown() -> None:
    assert rendered("as it is\n") == "as it is\n"
    assert rendered({"a": [1, "é", None]}) == '{"a": [1, "é", null]}'
    assert rendered({1, 2}) == "{1, 2}"


def test_the_aim_grows_with_the_result_and_ends_at_the_limit() -> None:
    rows = [{"id": f"item_{n}4421", "name": f"Thing {n}", "price": n * 7} for n in range(100)]
    short, long = summary(rows[:9]), summary(rows)
    assert count(short) < count(long) <= 100
    assert count(summary(rows, max_tokens=300)) > 150


def test_without_a_reference_none_is_named() -> None:
    assert "artifact" in summary([1, 2, 3])
    assert "artifact" not in summarise([1, 2, 3], tool="lookup", reference=None)


def test_a_reference_is_whole_or_refused() -> None:
    for max_tokens in range(10, 40):
        text = summarise("word " * 400, tool="lookup", reference=REFERENCE, max_tokens=max_tokens)
        assert REFERENCE in text
        assert count(text) <= max_tokens
    for impossible in (0, 3, -1, True, "9"):
        with pytest.raises(InvalidInput, match="max_tokens"):
            summarise("word " * 400, tool="lookup", reference=REFERENCE, max_tokens=impossible)  # type: ignore[arg-type]
