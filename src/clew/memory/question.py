"""A question, read once: its words, the people and months it names, and what it asks for."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from clew.memory.analysis import MonthYear, asks_when, content_stems, months, stem, words

QUESTION_MAX_TERMS: Final = 64
# A name this close behind another, with `and` or `or` between, shares its part in the sentence.
_JOINED_WITHIN_WORDS: Final = 2


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. `named` are the people in it who speak in the tenant's entries, in the order they are named."""

    text: str
    words: tuple[str, ...]
    stems: tuple[str, ...]
    named: tuple[str, ...]
    months: tuple[MonthYear, ...]
    asks_when: bool

    @classmethod
    def read(cls, text: str) -> "Question":
        """The question with nobody named yet: who speaks is known only to the store."""
        found = words(text)
        stems = dict.fromkeys(content_stems(found))
        return cls(text, tuple(found), tuple(stems)[:QUESTION_MAX_TERMS], (), tuple(months(text)), asks_when(text))

    def naming(self, speakers: Iterable[str]) -> "Question":
        """The same question, knowing which of its words name someone who speaks."""
        known = set(speakers)
        named = tuple(dict.fromkeys(word for word in map(bare_name, self.words) if word in known))
        return Question(self.text, self.words, self.stems, named, self.months, self.asks_when)

    @property
    def possible_names(self) -> list[str]:
        """The words that may be names."""
        return list(dict.fromkeys(bare_name(word) for word in self.words if stem(word) is not None))[
            :QUESTION_MAX_TERMS
        ]

    @property
    def topic(self) -> list[str]:
        """The words that say what it is about: no stop words, nobody's name."""
        said = dict.fromkeys(
            word for word in self.words if stem(word) is not None and bare_name(word) not in self.named
        )
        return list(said)[:QUESTION_MAX_TERMS]

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """Neighbouring stems, in either order."""
        stems = content_stems(self.words)
        return {(min(pair), max(pair)) for pair in pairwise(stems)}

    @property
    def without_names(self) -> str:
        """The text to embed: with a name in it, every greeting of that person would be near."""
        if not self.named:
            return self.text
        names = "|".join(map(re.escape, self.named))
        cut = re.sub(rf"\b(?:{names})(?:['’]s)?\b", " ", self.text, flags=re.IGNORECASE)
        cut = re.sub(r"\s+", " ", cut).strip()
        return cut if content_stems(words(cut)) else self.text

    @property
    def about(self) -> str | None:
        """The one person whose own words would answer: the only one named, or the first, the subject, of several."""
        if len(self.named) < 2:
            return self.named[0] if self.named else None
        places = [next(n for n, word in enumerate(self.words) if bare_name(word) == name) for name in self.named[:2]]
        between = self.words[places[0] + 1 : places[1]]
        joined = len(between) < _JOINED_WITHIN_WORDS and not {"and", "or"}.isdisjoint(between)
        return None if joined else self.named[0]


def bare_name(word: str) -> str:
    """A word without the ending of possession."""
    return word.removesuffix("'s")
