"""A label and its value, which is a statement without a verb: "Landlord: Mr. Dupont"."""

import re
from typing import Final

from clew.context.assertions.assertion import Assertion
from clew.context.assertions.values import values
from clew.context.speech import Sentence
from clew.context.speech.lexicon import ACTIONS, AUXILIARIES, NOUN_OR_VERB, PRONOUNS, TELLING, WH
from clew.context.speech.sentence import sentence as read_sentence


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


LABEL_MAX_WORDS: Final = 6
VALUE_MAX_WORDS: Final = 10

_LABELLED: Final = re.compile(r"^([^\W\d][\w' ./&-]{1,60}):\s+(\S.*)$")
_OWNED: Final = (("my",), ("the",), ("this",), ("our",), ("your",))
_RAISED: Final = re.compile(r"(?:error|exception|warning|failure|failed)$|^(?:def|class|https?)\b", re.IGNORECASE)
# What opens a text of some kind, and no fact.
_HEADINGS: Final = _set(
    "question questions task note todo subject re error example examples input output context answer hint warning if"
    " whether suppose maybe perhaps apparently imagine probably assume assuming possibly say exception traceback step"
    " steps here this these following below e.g ps edit summary title topic quote format"
)


def labelled(said: Sentence) -> Assertion | None:
    """The fact in a label and its value; None where the label asks, requests or only heads a text."""
    found = None if said.asks else _LABELLED.match(said.said)
    if found is None or not values(f"- {found[2]}"):
        return None
    label, value = read_sentence(found[1]), read_sentence(found[2])
    words = label.plain_words
    if not 0 < len(words) <= LABEL_MAX_WORDS or not 0 < len(value.words) <= VALUE_MAX_WORDS:
        return None
    acts = words[0] in TELLING or (words[0] in ACTIONS and (words[0] not in NOUN_OR_VERB or words[1:2] in _OWNED))
    if (
        acts
        or _RAISED.search(found[1])
        or any(word in WH or word in PRONOUNS or word in AUXILIARIES or word in _HEADINGS for word in words)
    ):
        return None
    name = found[1].strip()
    return Assertion("new_info", f"{name[:1].upper()}{name[1:]}: {found[2].rstrip(' .')}.", subject=name)
