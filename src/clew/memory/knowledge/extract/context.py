"""Who is meant: “it”, “the company”, “she”, and short names, from what the same episode said before."""

import re
from collections.abc import Iterator
from typing import Final

from clew.memory.knowledge.extract.draft import Alias
from clew.memory.knowledge.extract.phrases import phrase_key, strip_determiner
from clew.memory.knowledge.extract.verbs import known_base, third_person

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
_IN_BRACKETS: Final = re.compile(
    r"\b(?P<entity>[A-Z][\w&-]*(?:\s+(?:(?:of|and|&)\s+)?[A-Z][\w&-]*)+)\s+"
    r"\([\"“]?(?P<alias>[A-Z][\w&-]*(?: [A-Z][\w&-]*)?)[\"”]?\)"
)
USER: Final = "user"
_NOT_MEANT: Final = frozenset({"it", "they", "he", "she", "this", "that", "there", "i", "we", "you", USER})
# What only people do, and what only companies and the like do or are told of, by the predicate.
_OF_PEOPLE: Final = re.compile(
    r"lives in|works at|is married to|reports to|moved|speaks?|was born.*|is born.*|plays?|likes?"
)
_OF_COMPANIES: Final = re.compile(
    r"acquired|bought|purchased|hired|launched|employs|headcount|number of employees|is located in|ceo|cfo|cto|revenue"
    r"|founded|sells|ships|ceo of.*",
    re.IGNORECASE,
)
_EMPLOYING: Final = frozenset({"works at", "joined", "acquired", "bought", "purchased", "founded", "left"})
_ASKING: Final = re.compile(
    r"(?:asked|asks|talked|talks|spoke|wrote|inquired|reported) (?:about|on)|discussed|mentioned"
)
_COMPANY_NAME: Final = re.compile(
    r"\b(?:Corp|Corporation|Inc|Ltd|LLC|GmbH|PLC|AG|Group|Holdings|Labs|Systems|Bank|Partners|Foods|Logistics|Media)\.?$"
)
# A name that somebody may be called by: not where it tells a place or a firm.
_MENTIONED: Final = re.compile(
    r"(?<!\bin )(?<!\bat )(?<!\bto )(?<!\bof )(?<!\bfrom )\b[A-Z][a-z][\w’'-]*(?:\s+[A-Z][\w’'-]*)*"
)
_NO_NAME: Final = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October"
    r"|November|December|The|An?|We|You|They|He|She|It|My|Our|Yesterday|Today|This|That|There|If|When|In|On|At"
)


class Context:
    """What an episode has named so far."""

    def __init__(self) -> None:
        self.speaker: str | None = None
        self._last: str | None = None
        self._last_name: str | None = None
        self._company: str | None = None
        self._person: str | None = None
        self._people: set[str] = set()
        # The names that the last sentence with any was about, and those that it mentioned; and this one's.
        self._before: tuple[list[str], list[str]] = ([], [])
        self._now: tuple[list[str], list[str]] = ([], [])
        self._full_names: dict[str, set[str]] = {}
        self._aliases: dict[str, str] = {}

    def saw(self, subject: str, predicate: str = "", told: str = "") -> None:
        """Remember what a clause is about, for the pronouns of the next."""
        if told and _ASKING.fullmatch(predicate):
            # Whoever asked about something: “it” is what was asked about.
            self._last = strip_determiner(told)
            return
        if predicate in _EMPLOYING and told[:1].isupper():
            self._company = told
        if subject.lower() in _NOT_MEANT:
            return
        self._last = subject
        if subject[:1].isupper():
            self._saw_name(subject, predicate)

    def _saw_name(self, name: str, predicate: str) -> None:
        self._last_name = name
        if _OF_PEOPLE.fullmatch(predicate):
            self._people.add(name)
            self._person = name
        elif _OF_COMPANIES.fullmatch(predicate) or _COMPANY_NAME.search(name):
            self._company = name
        self._now[0].append(name)

    def learn(self, sentence: str) -> None:
        """Note the names and the aliases that a sentence tells."""
        for match in _ALSO_KNOWN.finditer(sentence):
            self._aliases[phrase_key(match["alias"])] = phrase_key(match["entity"])
        for match in _IN_BRACKETS.finditer(sentence):
            if _shortens(match["alias"], match["entity"]):
                self._aliases[phrase_key(match["alias"])] = phrase_key(match["entity"])
        found = [match for match in _MENTIONED.finditer(sentence) if not _NO_NAME.fullmatch(match[0])]
        # The first word has a capital anyhow: alone it is a name only where the clause turns out to be about it.
        self._now[1].extend(match[0] for match in found if match.start() > 0 or " " in match[0])
        for match in _NAME.finditer(sentence):
            full = re.sub(r"['’]s$", "", match[0])
            for part in (full.split()[0], full.split()[-1]):
                self._full_names.setdefault(part, set()).add(full)

    def ends(self) -> None:
        """A sentence has ended: whom it named can be meant by the next."""
        if self._now[0] or self._now[1]:
            self._before = self._now
        self._now = ([], [])

    def resolved(self, text: str) -> str:
        """The text with the word it begins with replaced by whom that means, where the episode told it."""
        if match := _PREFIXED.match(text):
            # A transcript: who speaks stands before the colon.
            self.speaker, text = match["who"], match["rest"]
        if match := _SPEAKER.match(text):
            return self._as_speaker(match)
        for pattern in (_PERSON, _THING, _WHOSE):
            match = pattern.match(text)
            known = self._meant(match["who"].lower()) if match else None
            if match and known:
                return f"{known}'s {match['rest']}" if pattern is _WHOSE else f"{known}{self._rest(match)}"
        text = re.sub(r"\b(is|was) my (?=[a-z])", lambda found: f"{found[1]} {self.speaker or USER}'s ", text)
        return self._with_full_name(text)

    def _meant(self, word: str) -> str | None:
        """Whom a pronoun means; None where that can't be told."""
        if word in ("he", "she", "his", "her"):
            return self._meant_person()
        company = self._company or (self._last_name if self._last_name not in self._people else None)
        if word.startswith("the "):
            return company
        if word in ("it", "its"):
            return self._last if self._last and self._last not in self._people else company
        return self._last_name or self._last

    def _meant_person(self) -> str | None:
        """Whom the last sentence was about; else the only one that it mentions; else the last who is a person."""
        about, mentioned = ([name for name in names if self._may_be_person(name)] for names in self._before)
        if about:
            return about[-1]
        return mentioned[0] if len(mentioned) == 1 else self._person

    def _may_be_person(self, name: str) -> bool:
        return name in self._people or (name != self._company and not _COMPANY_NAME.search(name))

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
            verb, _, after = rest.partition(" ")
            plain = {"am": "is", "have": "has"}.get(verb) or (third_person(verb) if known_base(verb) else verb)
            return f"{who} {plain} {after}"
        return f"{who} {'is' if said.endswith('m') else 'has'} {rest}"

    def _with_full_name(self, text: str) -> str:
        """“Ana” is “Ana Silva” when the episode names exactly one such person."""
        first = re.match(r"^(?P<name>[A-Z][\w-]*)(?P<after>['’]s\s|\s+)(?P<next>\S+)", strip_determiner(text))
        if first is None or text[: len(first["name"])] != first["name"] or first["next"][:1].isupper():
            return text
        full = self._full_names.get(first["name"], set())
        return f"{next(iter(full))}{text[len(first['name']) :]}" if len(full) == 1 else text


def _shortens(alias: str, entity: str) -> bool:
    """Whether a name in brackets is the one before it, made short: its initials, or some of its words."""
    initials = "".join(letter for letter in entity if letter.isupper())
    words = entity.split()
    return (len(alias) > 1 and alias == initials) or (alias != entity and all(word in words for word in alias.split()))
