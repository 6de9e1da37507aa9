"""Sentences in a spelling that rules can be written for, and the way back to the words as they were said.

The plain form is lower case, without accents of typing: contractions are written out ("it's" is "it is"), drawn-out
letters are shortened ("heyyy"), common slips and abbreviations are spelled ("thx", "u", "dont"). Every word of it knows
where it came from, so what is kept of a message is always in its author's own spelling.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from clew.context.speech.spelling import spelled

# More is a document, and what it is about shows at its ends.
READ_MAX_CHARS: Final = 6_000
SENTENCES_MAX: Final = 40

_SPACE: Final = re.compile(r"[^\S\n]{2,}")
_FENCED: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_INVISIBLE: Final = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad]")
# Not after "Dr." or "e.g.", nor inside 5.2 or clew.dev, since an end is followed by space.
_END: Final = re.compile(
    r"(?<!\bdr\.)(?<!\bmr\.)(?<!\bms\.)(?<!\bmrs\.)(?<!\bst\.)(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bprof\.)(?<!\binc\."
    r")"
    r"(?<=[.!?…。！？])[\"'”’)\]]*\s+|(?<=[。！？])|\s*\n+\s*|;\s+|\s+[–—]\s+|\s+--+\s+",
    re.IGNORECASE,
)
_WORD: Final = re.compile(
    r"[$€£¥]?\d[\w.,:/%-]*[\w%]|\d%?|[^\W_](?:[\w]|['’.@&/+-](?=\w))*(?:\+\+|#)?|[$€£¥]", re.UNICODE
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word in plain spelling, and where in the sentence it was said."""

    plain: str
    start: int
    end: int


@dataclass(frozen=True)
class Sentence:
    """A sentence as it was said, with its words in plain spelling."""

    said: str
    words: tuple[Word, ...]

    @cached_property
    def plain(self) -> str:
        """The words in plain spelling, one space between them."""
        return " ".join(word.plain for word in self.words)

    @cached_property
    def plain_words(self) -> tuple[str, ...]:
        """The words in plain spelling."""
        return tuple(word.plain for word in self.words)

    @property
    def asks(self) -> bool:
        """Whether it ends in a question mark."""
        return self.said.rstrip(" \"'”’)]*_!.").endswith(("?", "？", "؟")) or self.said.startswith("¿")

    def without_first(self, count: int) -> "Sentence":
        """The sentence from its word number `count` on."""
        if count >= len(self.words):
            return Sentence("", ())
        start = self.words[count].start
        return Sentence(
            self.said[start:], tuple(Word(w.plain, w.start - start, w.end - start) for w in self.words[count:])
        )

    def at_comma(self) -> tuple["Sentence", "Sentence"]:
        """The sentence up to its first comma, and the rest; the second is empty where there is none."""
        comma = self.said.find(",")
        if comma < 0:
            return self, Sentence("", ())
        count = sum(word.end <= comma for word in self.words)
        return Sentence(self.said[:comma], self.words[:count]), self.without_first(count)

    def between(self, first: int, last: int) -> str:
        """What was said from word `first` up to and without word `last`."""
        chosen = self.words[first:last]
        return self.said[chosen[0].start : chosen[-1].end] if chosen else ""

    def word_at(self, place: int) -> int:
        """Which word stands at a place of the plain form."""
        return self.plain.count(" ", 0, place) + (1 if self.plain[place : place + 1] == " " else 0)


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text without its fenced code; of a long text, those at its start and its end."""
    if len(text) > READ_MAX_CHARS:
        half = READ_MAX_CHARS // 2
        text = text[:half] + "\n" + text[-half:]
    text = _SPACE.sub(" ", text)  # runs of it would make the search for ends quadratic
    shown = _INVISIBLE.sub("", _FENCED.sub("\n", text)).replace("’", "'").replace("‘", "'")
    found = [sentence(part) for part in _END.split(shown) if part and part.strip()]
    if len(found) > SENTENCES_MAX:
        found = found[: SENTENCES_MAX // 2] + found[-(SENTENCES_MAX // 2) :]
    return tuple(found)


def sentence(said: str) -> Sentence:
    """One sentence, read."""
    said = said.strip()
    words: list[Word] = []
    for match in _WORD.finditer(said):
        words += [Word(plain, match.start(), match.end()) for plain in spelled(match[0])]
    return Sentence(said, tuple(words))
