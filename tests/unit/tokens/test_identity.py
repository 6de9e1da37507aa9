"""The same tokens as tiktoken, number by number, on text of every kind; and the table that this rests on."""

import base64
import gzip
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiktoken.model import MODEL_TO_ENCODING

from clew import tokens
from clew.errors import ClewError, InvalidInput
from clew.tokens import engine, runs, table

from .conftest import prose

RND = random.Random(11)
MEGABYTE = 1_000_000


def some(alphabet: str, chars: int) -> str:
    return "".join(RND.choices(alphabet, k=chars))


CORPUS = {
    "nothing": "",
    "prose": prose(50_000),
    "code": Path(runs.__file__).read_text(),
    "json": '{"a":[1,2,{"b":"c\\n"}],"é":null}' * 300,
    "Chinese": "人工智能正在改变世界。我们需要更好的工具，来管理上下文。" * 50,
    "Japanese": "吾輩は猫である。名前はまだ無い。トークンを数える。" * 50,
    "Korean": "컨텍스트 엔진은 모델이 보는 것을 결정합니다." * 50,
    "Arabic and Thai": "السلام عليكم ورحمة الله สวัสดีชาวโลก" * 50,
    "emoji": "👩‍👩‍👧‍👦👍🏽🏳️‍🌈🇩🇪🇫🇷❤️‍🔥 ok 🤷🏿‍♂️" * 100,
    "control characters": "".join(map(chr, range(32))) * 50 + "\x7f\x80\x9f\u2028\u2029\ufeff",
    "NULs": "a\0b\0\0\0c" * 100,
    "lone surrogates": "a\ud800b \udfff\ud83d\ude00 c\udc00\ud800",
    "combining marks": "Z̷̢̛a̶l̵g̸o̶ e\u0301\u0302\u0303 " * 50,
    "special tokens": "<|endoftext|><|fim_prefix|> <|endofprompt|><|im_start|>user\n<|im_end|>",
    "white space": "".join(RND.choices(["   ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "x", " "], k=5_000)),
    "contractions": "I'm WE'LL they'Ve 'twas O'Reilly's x'ſ ''s" * 20,
    "digits": "3" * 1_000 + " 1234567 ١٢٣٤ Ⅳ½²",
    "cases": "camelCaseHTTPServer ǅungla ÀÉÎõü 中A中a中 ʰXʰ" * 20,
    "random unicode": "".join(chr(c) for c in RND.choices(range(0x11_0000), k=30_000) if not 0xD800 <= c <= 0xDFFF),
    "random assigned": some("aZ0 \n'é中あ한ьا😀\u0301\u200d-_/.,", 30_000),
    "base64": base64.b64encode(RND.randbytes(60_000)).decode(),
    "a megabyte of letters": some("abcdefghijklmnopqrstuvwxyz", MEGABYTE),
    "a megabyte of one letter": "x" * MEGABYTE,
    "a megabyte of Han": some("的一是不了在人有我他这中大来上国", MEGABYTE // 3),
    "a megabyte of signs": some("=-+*/#!|", MEGABYTE),
    "a megabyte of base64": base64.b64encode(RND.randbytes(MEGABYTE * 3 // 4)).decode(),
}


@pytest.mark.parametrize("encoding", tokens.ENCODINGS)
@pytest.mark.parametrize("name", CORPUS)
def test_tokens_are_those_of_tiktoken(name, encoding, reference):
    expected = reference[encoding].encode_ordinary(CORPUS[name])
    assert tokens.encode(CORPUS[name], encoding) == expected
    assert tokens.count(CORPUS[name], encoding) == len(expected)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(), max_size=200), encoding=st.sampled_from(tokens.ENCODINGS))
def test_any_text_has_the_tokens_of_tiktoken_and_comes_back(text, encoding, reference):
    numbers = tokens.encode(text, encoding)
    assert numbers == reference[encoding].encode_ordinary(text)
    assert tokens.decode(numbers, encoding) == engine.mended(text)


RUNS = {
    "lower": "abc",
    "one letter": "x",
    "words": ["tion", "the", "ing", "é", "я"],
    "upper": "ABCÉЖ",
    "Han": "的一是不了在",
    "kana": "あいカキー",
    "Hangul": "한국어토큰",
    "Arabic": "ابتث",
    "signs": "=-/'\"",
    "boxes": "─│",
    "spaces": " ",
    "breaks": "\n",
    "tabs": "\t",
    "mixed breaks": "\r\n",
    "mixed": " \n",
}
NEIGHBOURS = [
    "",
    " ",
    "x",
    "X",
    "'",
    "’",
    "中",
    "中A",
    "é",
    "É",
    "=",
    "/",
    "\n",
    "\t",
    " \n",
    "5",
    "ʰ",
    "\u0301",
    "😀",
    "'s",
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(sorted(RUNS)),
    before=st.sampled_from(NEIGHBOURS),
    after=st.sampled_from(NEIGHBOURS),
    lead_chars=st.integers(0, 2_100),
    run_chars=st.integers(4_000, 60_000),
    seed=st.integers(0, 1_000),
    encoding=st.sampled_from(tokens.ENCODINGS),
)
def test_a_long_run_has_the_same_tokens_stitched_as_whole(
    kind, before, after, lead_chars, run_chars, seed, encoding, reference
):
    run = "".join(random.Random(seed).choices(RUNS[kind], k=run_chars))
    text = prose(lead_chars) + before + run + after + "中Bc /x"
    assert tokens.encode(text, encoding) == reference[encoding].encode_ordinary(text)


@pytest.mark.parametrize("encoding", tokens.ENCODINGS)
@pytest.mark.parametrize("kind", sorted(set(RUNS) - {"mixed"}))
def test_long_runs_are_found_and_stitched(kind, encoding):
    text = "".join(RND.choices(RUNS[kind], k=50_000))
    found = list(runs.long_runs(text))
    assert found
    assert runs.stitch(engine.engine(encoding)._tokenizer, text, found)


def test_prose_holds_no_long_run():
    assert not list(runs.long_runs(prose(100_000)))


def test_the_digests_are_those_that_tiktoken_checks():
    source = Path(sys.modules["tiktoken_ext.openai_public"].__file__ or "").read_text()
    assert all(digest in source for digest in table.TABLE_SHA256.values())


@pytest.mark.parametrize("encoding", tokens.ENCODINGS)
def test_a_flipped_byte_in_a_table_is_refused(encoding):
    unpacked = bytearray(table.unpacked_table(encoding, table.packed_table(encoding)))
    unpacked[len(unpacked) // 2] ^= 1
    with pytest.raises(ClewError, match="sha-256"):
        table.unpacked_table(encoding, gzip.compress(bytes(unpacked)))


@pytest.mark.parametrize("place", [3, 1_000, -3])
def test_a_flipped_byte_in_the_packed_file_is_refused_or_harmless(place):
    packed = bytearray(table.packed_table("cl100k_base"))
    packed[place] ^= 0xFF
    try:
        unpacked = table.unpacked_table("cl100k_base", bytes(packed))
    except ClewError:
        return
    assert unpacked == table.unpacked_table("cl100k_base", table.packed_table("cl100k_base"))


def test_tables_are_packed_without_a_date():
    assert all(table.packed_table(name)[4:8] == b"\0\0\0\0" for name in tokens.ENCODINGS)


OFFLINE = """
import socket, sys
def refuse(*args, **kwargs): raise AssertionError("the network was used")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
import clew.tokens
assert "splintr" not in sys.modules and not clew.tokens.engine._engines, "importing loads nothing"
print(clew.tokens.count("hello world", "cl100k_base"), clew.tokens.count("hello world"))
assert "tiktoken" not in sys.modules
"""


def test_counting_works_in_a_new_process_without_network_home_or_cache(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        env={"HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == (["2", "2"], "")
    assert not list(tmp_path.iterdir())


def test_an_engine_is_built_once_however_many_threads_ask(monkeypatch):
    built = []
    real = engine._build
    monkeypatch.setattr(engine, "_engines", {})
    monkeypatch.setattr(engine, "_build", lambda name: built.append(name) or real(name))
    threads = [threading.Thread(target=tokens.count, args=("x", "cl100k_base")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == ["cl100k_base"]


def test_the_cache_is_emptied_and_counts_stay_right(monkeypatch):
    monkeypatch.setattr(engine, "CACHE_TURNOVER_CHARS", 100)
    assert {tokens.count("word " * 30) for _ in range(5)} == {tokens.count("word " * 30)}


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda: tokens.count(b"bytes"), "text"),  # type: ignore[arg-type]
        (lambda: tokens.count(None), "text"),  # type: ignore[arg-type]
        (lambda: tokens.count("x", "gpt2"), "encoding"),
        (lambda: tokens.count("x", ["o200k_base"]), "encoding"),  # type: ignore[arg-type]
        (lambda: tokens.decode([10**9]), "tokens"),
        (lambda: tokens.decode([-1]), "tokens"),
        (lambda: tokens.decode(["a"]), "tokens"),  # type: ignore[list-item]
        (lambda: tokens.encoding_for(4), "model"),  # type: ignore[arg-type]
    ],
)
def test_bad_input_is_refused_with_its_place(call, where):
    with pytest.raises(InvalidInput) as refused:
        call()
    assert refused.value.where == where


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4", "cl100k_base"), ("openai:gpt-4", "cl100k_base"), ("gpt-4-turbo-2024-04-09", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"), ("azure/gpt-35-turbo", "cl100k_base"), ("ft:gpt-4:acme::1", "cl100k_base"),
        ("openai:text-embedding-3-small", "cl100k_base"), ("gpt-4o", "o200k_base"),
        ("openai:gpt-4o-mini", "o200k_base"),
        ("gpt-4.1", "o200k_base"), ("openai-responses:gpt-5", "o200k_base"), ("o3", "o200k_base"),
        ("anthropic:claude-sonnet-4-5", "o200k_base"), ("google:gemini-2.5-pro", "o200k_base"), ("", "o200k_base"),
    ],
)  # fmt: skip
def test_a_model_name_gives_its_encoding(model, encoding):
    assert tokens.encoding_for(model) == encoding


def test_the_known_openai_names_agree_with_tiktoken():
    for model, encoding in MODEL_TO_ENCODING.items():
        if encoding in tokens.ENCODINGS:
            assert tokens.encoding_for(model) == encoding, model
