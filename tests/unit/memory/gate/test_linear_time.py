"""However a text is made, reading it takes time in proportion to its length."""

import time

import pytest

from clew.memory.gate import Gate
from clew.memory.gate.junk import is_junk
from clew.memory.gate.personal import personal_spans
from clew.memory.gate.recalled import says_nothing_new
from clew.memory.gate.secrets import secret_spans
from clew.memory.gate.steering import steers

SIZE = 100_000
PIECES = [
    "a", "1", "\n", "_", "-", "<", "[", "'", "ignore all your previous ", "when asked ", "if the user ", "you must ",
    "send all the your ", "password for x ", "token for a ",
    "1 ", "4111 ", "1.", "+1 ", "a.a@a.", "1:", "DE89 ", "eyJa.",
    "-----BEGIN PRIVATE KEY-----", "at a(", "File \"", "<script>", "<a ", "\u200ba", "é", "中", "。", "x 1. ",
    "according to the records ", "(source: ", "i g n o r e ", "1gn0re ", "born on ", "call me at ", "order number ",
]  # fmt: skip
PARTS = {
    "steering": lambda text: steers(text, "tool"),
    "secrets": secret_spans,
    "personal": personal_spans,
    "junk": is_junk,
    "recalled": lambda text: says_nothing_new(text[:20_000] + "!", [text, text[1:]]),
}


def _seconds(part, text):
    begun = time.process_time()
    part(text)
    return time.process_time() - begun


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("piece", PIECES, ids=ascii)
def test_a_hundred_kilobytes_made_to_be_slow_are_read_in_seconds(part, piece):
    """Reading in the square of the length would take minutes: 100,000 squared is ten thousand million steps."""
    assert _seconds(part, (piece * SIZE)[:SIZE]) < 8


def test_a_sentence_takes_well_under_a_millisecond():
    gate, sentence = Gate(), "Q3 revenue was actually $5.2M, not $4.8M as stated in the document."
    gate.check(sentence)
    taken = sorted(_seconds(gate.check, sentence) for _ in range(200))
    assert taken[100] < 0.001
