"""How somebody finds a thing, which is no fact about it."""

import re
from typing import Final

from clew.context.speech import Sentence
from clew.context.speech.lexicon import EVALUATIVE


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ADVERB: Final = (
    r"(?:(?:so|very|really|quite|too|pretty|way|such|absolutely|totally|just|extremely|super|rather|as|a bit|a little"
    r"|incredibly|not|kind of|the|a|an|my|truly|even|much|more|most|less|far|always|still|that|all|feeling|getting"
    r"|also|doing|simply|clearly|definitely|complete|total|real|huge|big|utter|bit of a|one of the|by far) )*"
)
_JUDGED: Final = re.compile(
    rf"\b(?:is|are|was|were|am|be|been|being|looks?|looked|sounds?|sounded|tastes?|tasted|feels?|felt|smells?|smelled"
    rf"|gets?|got|became|becoming|getting|find|finds|found it|has|have|had) {_ADVERB}([\w-]+)(?: (\S+))?"
)
# Said of a thing these praise it or run it down.
_VERDICTS: Final = _set(
    "crime joke clown disaster nightmare mess shame scam masterpiece disgrace ripoff rip-off waste blessing treat"
    " dream legend idiot fool moron hero game-changer no-brainer godsend lifesaver must must-have scandal farce circus"
    " rubbish garbage trash crap overkill nonsense magic hell heaven torture bliss bomb goat greatest finest coolest"
    " smartest funniest dumbest ugliest prettiest nicest loveliest tastiest smoother smoothest sloppy lazy arrogant"
    " incompetent underwhelming overwhelming exhausting draining tiring depressing refreshing relaxing fascinating"
    " amusing embarrassing terrifying satisfying rewarding infuriating complex convoluted bloated clumsy sluggish"
    " lovable iconic legendary unprofessional shady hideous superior inferior"
)
_MAKES: Final = re.compile(r"\bmakes? (?:\w+ ){1,2}(\w+)$")
_TASTE: Final = re.compile(
    r"\b(?:strikes? me as|nothing beats|(?:beats|suits|fits) (?:any|every|all)\b|of all time$|is king\b|for the win\b"
    r"|(?:is|are|was|were) (?:\w+ )?(?:way|far|so much|much) \w+er\b|than (?:it|they) (?:solves?|is worth|are worth)"
    r"|too (?:much|many|often|little)$|(?:is|are|was|were|gets?|got)(?: \w+)? too (?!\d)\w+|(?:is|are|was|were)"
    r" (?:over|under)\w{3,}ed\b|(?:is|are) (?:pure|sheer|utter) \w+"
    r"|(?:is|are|was|were) (?:by far )?the most (?!recent|common|frequent|senior)\w+|(?:better|worse)\b(?!.*\d).*"
    r" than|deserves? (?:better|more)"
    r"|should have won|can not go wrong)\b"
)


def is_opinion(said: Sentence) -> bool:
    """Whether what is said of the subject is how somebody finds it."""
    if _TASTE.search(said.plain):
        return True
    if (made := _MAKES.search(said.plain)) is not None and made[1] in EVALUATIVE:
        return True
    for found in _JUDGED.finditer(said.plain):
        judged, after = found[1], found[2]
        if (judged in EVALUATIVE or judged in _VERDICTS or judged.endswith("ful")) and not (
            after is not None and after[0].isdigit()
        ):
            return True
    return False
