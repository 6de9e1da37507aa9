"""The labelled messages of `tests/data/messages.jsonl`, and the public CLINC150 where it is at hand.

What is held out was not looked at while the rules were written: some by a digest of their words, the last batch whole.
"""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

MESSAGES = Path(__file__).parents[2] / "data" / "messages.jsonl"
CLINC = Path(__file__).parents[4] / "shared" / "data" / "clinc150.json.gz"

GREETINGS = frozenset(("greeting", "goodbye", "thank_you"))
SMALL_TALK = GREETINGS | {
    "are_you_a_bot", "what_is_your_name", "how_old_are_you", "where_are_you_from", "who_made_you",
    "who_do_you_work_for",
    "what_are_your_hobbies", "do_you_have_pets", "what_can_i_ask_you", "tell_joke", "fun_fact", "meaning_of_life",
}  # fmt: skip


@cache
def labelled(*, held_out: bool) -> tuple[dict[str, Any], ...]:
    """The labelled messages of one part."""
    rows = [json.loads(line) for line in MESSAGES.read_text(encoding="utf-8").splitlines()]
    return tuple(row for row in rows if row["held_out"] is held_out)


def message_of(row: dict[str, Any]) -> Any:
    """The message as a caller would pass it."""
    if row.get("role") == "tool":
        return {"role": "tool", "tool_call_id": "call-1", "content": row["message"]}
    return row["message"]


def clinc() -> list[tuple[str, str]]:
    """The test part of CLINC150, its out-of-scope utterances among it, with their labels."""
    data = json.loads(gzip.decompress(CLINC.read_bytes()))
    return [(text, label) for text, label in data["test"] + data["oos_test"]]
