"""Who is meant: “it”, “the company”, “she”, and short names, from what the same episode said before."""

import re
from collections.abc import Iterator
from typing import Final

from clew.memory.knowledge.extract.draft import Alias
from clew.memory.knowledge.extract.phrases import phrase_key, strip_determiner

_COMPANY: Final = r"the (?:company|firm|startup|business|organi[sz]ation|vendor|supplier|corporation|agency)"
_THING: Final = re.compile(rf"^(?P<who>it|they|{_COMPANY})(?P<rest>['’]s\s.*|\s.+)$", re.IGNORECASE)
_PERSON: Final = re.compile(r"^(?P<who>he|she)(?P<rest>['’]s\s.*|\s.+)$", re.IGNORECASE)
_WHOSE: Final = re.compile(r"^(?P<who>its|his|her|their)\s+(?P<rest>.+)$", re.IGNORECASE)
_SPEAKER: Final = re.compile(r"^(?P<who>i|my|i['’]m|i['’]ve)\s+(?P<rest>.+)$", re.IGNORECASE)
_PREFIXED: Final = re.compile(r"^(?P<who>[A-Z]\w*(?: [A-Z]\w*)?):\s+(?P<rest>(?:I|My|I['’]m|I['’]ve)\s.+)$")
_NAME: Final = re.compile(r"\b[A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*)+\b")
_ALSO_KNOWN: Final = re.compile(
    r"\b(?P<entity>[A-Z][\w&.-]*(?:\s+[A-Z][\w&.-]*)*)\s*,?\s*"
    r"\(?(?:also known as|aka|a\.k\.a\.|formerly|known as|or simply|better known as|called)\s+"
    r"(?P<alias>[A-Z][\w&.-]*(?:\s+[A-Z][\w&.-]*)*)\)?"
)
_INITIALS: Final = re.compile(r"\b(?P<entity>[A-Z][\w&-]*(?:\s+(?:of\s+)?[A-Z][\w&-]*)+)\s+\((?P<alias>[A-Z]{2,6})\)")
USER: Final = "user"


class Context:
    """What an episode has named so far."""

    def __init__(self) -> None:
        self.speaker: str | None = None
        self._last: str | None = None
        self._last_name: str | None = None
        self._full_names: dict[str, set[str]] = {}
        self._aliases: dict[str, str] = {}

    def saw(self, subject: str) -> None:
        """Remember the subject of a clause, for the pronouns of the next."""
        if subject.lower() in ("it", "they", "he", "she", "this", "that", "there", USER):
            return
        self._last = subject
        if subject[:1].isupper():
            self._last_name = subject

    def learn(self, sentence: str) -> None:
        """Note the names and the aliases that a sentence tells."""
        for match in (*_ALSO_KNOWN.finditer(sentence), *_INITIALS.finditer(sentence)):
            self._aliases[phrase_key(match["alias"])] = phrase_key(match["entity"])
        for match in _NAME.finditer(sentence):
            full = re.sub(r"['’]s$", "", match[0])
            for part in (full.split()[0], full.split()[-1]):
                self._full_names.setdefault(part, set()).add(full)

    def resolved(self, text: str) -> str:
        """The text with the word it begins with replaced by whom that means, where the episode told it."""
        if match := _PREFIXED.match(text):
            # A transcript: who speaks stands before the colon.
            self.speaker, text = match["who"], match["rest"]
        if match := _SPEAKER.match(text):
            return self._as_speaker(match)
        for pattern, known in ((_PERSON, self._last_name), (_THING, self._last_name or self._last)):
            if (match := pattern.match(text)) and known:
                who = self._last if match["who"].lower() == "it" and self._last else known
                return f"{who}{self._rest(match)}"
        if (match := _WHOSE.match(text)) and (known := self._last_name or self._last):
            return f"{known}'s {match['rest']}"
        return self._with_full_name(text)

    def aliases(self) -> Iterator[Alias]:
        """The names that the episode says are one."""
        for alias, entity in self._aliases.items():
            if alias and entity and alias != entity:
                yield Alias(alias, entity)

    def _rest(self, match: re.Match[str]) -> str:
        rest = match["rest"]
        possessive = rest[:2] in ("'s", "’s") and match["who"].lower().startswith("the ")
        return rest if possessive or rest[:1] == " " else f" is{rest[2:]}"

    def _as_speaker(self, match: re.Match[str]) -> str:
        who, said, rest = self.speaker or USER, match["who"].lower(), match["rest"]
        if said == "my":
            return f"{who}'s {rest}"
        if said == "i":
            return f"{who} {re.sub(r'^am ', 'is ', re.sub(r'^have ', 'has ', rest))}"
        return f"{who} {'is' if said.endswith('m') else 'has'} {rest}"

    def _with_full_name(self, text: str) -> str:
        """“Ana” is “Ana Silva” when the episode names exactly one such person."""
        first = re.match(r"^(?P<name>[A-Z][\w-]*)(?P<after>['’]s\s|\s+)(?P<next>\S+)", strip_determiner(text))
        if first is None or text[: len(first["name"])] != first["name"] or first["next"][:1].isupper():
            return text
        full = self._full_names.get(first["name"], set())
        return f"{next(iter(full))}{text[len(first['name']) :]}" if len(full) == 1 else text
