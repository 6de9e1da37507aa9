"""Plain prose: how long it is, how it begins, and the sentences with numbers, names and dates."""

from typing import Final

from clew.artifacts.shapes.cleaning import clean, looked_at, sentences
from clew.artifacts.shapes.fitting import Sketch
from clew.artifacts.shapes.lines import ranked_lines, sketch_lines

WORDS_COUNTED_CHARS: Final = 2_000_000


def sketch_prose(text: str) -> Sketch:
    """The number of words, counted on the whole text, then its most telling sentences."""
    words = len(text.split()) if len(text) < WORDS_COUNTED_CHARS else 0
    # A text without spaces has no words to speak of, and splitting a huge one costs more than its number is worth.
    size = f"{words:,} words" if words > len(text) / 40 else f"{len(text):,} characters"
    return sketch_lines(f"{size}:", ranked_lines(list(sentences(clean(looked_at(text))))), joint=" … ")
