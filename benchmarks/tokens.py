"""Why we count tokens the way we do: three engines on one corpus, side by side. `python benchmarks/tokens.py`

Everything is a ratio to tiktoken, or to prose, in the same run, because the machine is whatever it is.
"""

import base64
import gzip
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tiktoken
import tiktoken_ext.openai_public as public
from rich.console import Console
from rich.table import Table
from rs_bpe.bpe import openai as rs_bpe

from clew import tokens
from clew.tokens.engine import engine
from clew.tokens.table import packed_table, unpacked_table

ROOT = Path(__file__).resolve().parent.parent
TRACES = ROOT.parent / "shared" / "data" / "traces"
RND = random.Random(7)
WORDS = "the context of a model is what it sees and they don't keep more than 128 tokens, we'll see (maybe) in parts\n"
Count = Callable[[str], int]
console = Console(width=120)


def tiktoken_offline(name: str) -> tiktoken.Encoding:
    """tiktoken's own definition, with its download replaced by the shipped table."""
    lines = unpacked_table(name, packed_table(name)).splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines)}
    public.load_tiktoken_bpe = lambda *args, **kwargs: ranks
    return tiktoken.Encoding(**public.ENCODING_CONSTRUCTORS[name]())


def engines(name: str) -> dict[str, Count]:
    judge, other = tiktoken_offline(name), getattr(rs_bpe, name)()
    bare = engine(name)._tokenizer
    return {
        "tiktoken": lambda text: len(judge.encode_ordinary(text)),
        "rs-bpe": other.count,
        "splintr": lambda text: len(bare.encode_flat(text)) // 4,
        "clew": lambda text: tokens.count(text, name),
    }


def some(alphabet: str, count: int) -> str:
    return "".join(RND.choices(alphabet, k=count))


def corpus() -> dict[str, list[str]]:
    """Texts by kind: generated, and recorded agent runs where they are at hand."""
    texts = {
        "prose": [" ".join(RND.choices(WORDS.split(" "), k=2_000)) for _ in range(100)],
        "code": [path.read_text() for path in sorted((ROOT / "src").rglob("*.py"))],
        "Han, kana, Hangul": ["上下文引擎决定模型看到什么。トークンを数える。컨텍스트 엔진" * 200] * 5,
        "emoji": ["👩‍👩‍👧‍👦👍🏽🏳️‍🌈🇩🇪❤️‍🔥 ok 🤷🏿‍♂️" * 500] * 5,
        "control, NUL, marks": ["".join(map(chr, range(32))) * 300 + "e\u0301\u0302\0\0 <|endoftext|>" * 300],
        "random unicode": ["".join(chr(RND.choice(range(0xE000, 0x3_0000))) for _ in range(50_000))],
        "white space": ["".join(RND.choices(["  ", "\n", "\r\n", "\t", "\u3000", "x"], k=50_000))],
        "1 MB line": [some("abcdefghijklmnopqrstuvwxyz", 1_000_000), base64.b64encode(RND.randbytes(750_000)).decode()],
    }
    traces = sorted(TRACES.glob("*.gz"))
    if traces:
        texts["agent runs"] = strings([json.loads(gzip.decompress(path.read_bytes())) for path in traces])
    else:
        console.print("[yellow]No recorded agent runs at ../shared/data/traces: measured without them.[/]")
    return texts


def strings(value: Any) -> list[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inside for text in strings(item)]


def seconds(count: Count, texts: list[str], rounds: int = 2) -> float:
    """The best of a few rounds: the others measured somebody else's work. CPU time, nothing remembered."""
    taken = []
    for _ in range(rounds):
        for name in tokens.ENCODINGS:
            engine(name)._tokenizer.clear_cache()
        started = time.process_time()
        for text in texts:
            count(text)
        taken.append(time.process_time() - started)
    return min(taken)


def compare(name: str, texts: dict[str, list[str]], counters: dict[str, Count]) -> None:
    table = Table(title=f"{name}: speed as a ratio to tiktoken, and whether every count is the same")
    table.add_column("texts")
    table.add_column("tokens", justify="right")
    for column in counters:
        table.add_column("tiktoken, M tokens/s" if column == "tiktoken" else column, justify="right")
    for kind, items in texts.items():
        expected = [counters["tiktoken"](text) for text in items]
        base = seconds(counters["tiktoken"], items)
        row = [kind, f"{sum(expected):,}", f"{sum(expected) / base / 1e6:.1f}"]
        for label in list(counters)[1:]:
            same = [counters[label](text) for text in items] == expected
            row.append(f"{base / seconds(counters[label], items):.1f}× {'same' if same else '[red]DIFFERENT[/]'}")
        table.add_row(*row)
    console.print(table)


def hard_texts(size: int) -> dict[str, str]:
    return {
        "one letter": "a" * size,
        "two letters": "ab" * (size // 2),
        "random letters": some("abcdefghijklmnopqrstuvwxyz", size),
        "spaces": " " * size,
        "line breaks": "\n" * size,
        "= signs": "=" * size,
        "slashes": "/" * size,
        "one digit": "7" * size,
        "Han, no spaces": some("的一是不了在人有我他这中大来上国", size // 3),
        "base64": base64.b64encode(RND.randbytes(size * 3 // 4)).decode(),
        "spaces and breaks": " \n" * (size // 2),
        "accents": "\u0301" * (size // 2),
    }


# tiktoken ends in a panic on 1 MB of spaces; rs-bpe takes the same time per byte at any size.
SIZES = {"tiktoken": 100_000, "rs-bpe": 1_000_000, "splintr": 10_000_000, "clew": 10_000_000}


def linearity(name: str, counters: dict[str, Count], real: list[str], hard_by_size: dict[int, dict[str, str]]) -> None:
    """Time per byte against ordinary text."""
    text = "\n".join(real)
    per_byte = {label: seconds(count, [text]) / len(text.encode()) for label, count in counters.items()}
    table = Table(title=f"{name}: time per byte as a ratio to what the same engine takes for ordinary text")
    table.add_column("text")
    for label in counters:
        table.add_column(
            f"{label} at {SIZES[label] / 1e6:g} MB\n({per_byte[label] * 1e9:.0f} ns = 1×)", justify="right"
        )
    for kind in hard_by_size[100_000]:
        row = [kind]
        for label, count in counters.items():
            hard = hard_by_size[SIZES[label]][kind]
            taken = seconds(count, [hard], 1) / len(hard.encode())
            row.append(f"{taken / per_byte[label]:.1f}×")
        table.add_row(*row)
    console.print(table)


LOAD = "import time, clew.tokens as t; a = time.perf_counter(); t.count('x', {!r}); print(time.perf_counter() - a)"


def load_times() -> None:
    table = Table(title="Load time: the first count in a new process")
    table.add_column("encoding")
    table.add_column("seconds", justify="right")
    for name in tokens.ENCODINGS:
        command = [sys.executable, "-c", LOAD.format(name)]
        taken = [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(3)]
        table.add_row(name, f"{min(taken):.2f}")
    console.print(table)


def truncation(real: list[str]) -> None:
    text = ("\n".join(real) * 20)[:10_000_000]
    whole = seconds(tokens.count, [text], 1)
    table = Table(title="Truncating 10 MB: time as a part of counting it")
    table.add_column("kept tokens", justify="right")
    table.add_column("from the start", justify="right")
    table.add_column("from the end", justify="right")
    for limit in (100, 10_000, 1_000_000):
        start = seconds(lambda text, n=limit: len(tokens.truncate(text, n)), [text], 1)
        end = seconds(lambda text, n=limit: len(tokens.truncate(text, n, keep="end")), [text], 1)
        table.add_row(f"{limit:,}", f"{start / whole:.2%}", f"{end / whole:.2%}")
    console.print(table)


def main() -> None:
    texts = corpus()
    load_times()
    hard_by_size = {size: hard_texts(size) for size in set(SIZES.values())}
    for name in tokens.ENCODINGS:
        counters = engines(name)
        compare(name, texts, counters)
        linearity(name, counters, texts.get("agent runs", texts["prose"]), hard_by_size)
    truncation(texts["prose"])


if __name__ == "__main__":
    main()
