"""The polite and roundabout ways of giving an instruction, put plainly: "I'd rather you didn't" is "do not"."""

import re
from typing import Final

_WITH_IF: Final = (
    r"(?:i|we) would (?:really |much |also )?(?:rather|prefer(?: it)?(?: if| that)?|like it if|love it if"
    r"|appreciate(?: it)? if"
    r"|be (?:happy|happier|grateful|glad|thankful) if)"
    r"|it (?:would|will|might) (?:be|help)(?: (?:really|very|so|so much))?(?: (?:great|good|nice|lovely|helpful"
    r"|better|best"
    r"|ideal|cool|wonderful|me|us|a lot))* if|i would be (?:happy|happier|grateful) if|i wish"
)
# What stands for "please do", and what for "do not".
_FRAMES: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), plainly)
    for pattern, plainly in (
        (rf"^(?:{_WITH_IF}) you (?:could |would |can |will |might )?(?:please |also |just |maybe )*", ""),
        (r"^(?:would|do) you mind not ", "stop "),
        (r"^(?:(?:could|can|would|will) you )?(?:please )?(?:refrain|abstain) from ", "stop "),
        (r"^(?:i|we) (?:really )?(?:do not (?:want|need|expect)|would not (?:want|like)) you to ", "do not "),
        (
            r"^(?:i|we) (?:really )?(?:do not like (?:it )?|dislike (?:it )?|hate (?:it )?|can not stand (?:it"
            r" )?)when you ",
            "do not ",
        ),
        (r"^(?:i|we) (?:really )?do not (?:want|need)(?: to see)?(?: any| the)? ", "no "),
        (r"^(?:can|could|would|will) (?:you|we)(?: (?:please|kindly|maybe|also|just|try to|perhaps))* ", ""),
        (r"^(?:i|we) (?:want|need|would like|would love|would prefer|expect|prefer)(?: for)? you to ", ""),
        (r"^(?:i|we) prefer (?:that|it if|if) you ", ""),
        (r"^(?:i|we) (?:would )?ask (?:that )?you (?:to )?", ""),
        (r"^(?:it is|that is)? ?(?:important|essential|crucial) that you ", ""),
        (r"^let us (?=keep|stick|use|always|never|avoid|only)", ""),
        (r"^(?:make sure|be sure|take care|see to it)(?: that)?(?: you| to)* ", ""),
    )
)
_SCOPES: Final = re.compile(
    r"^(?:(?:for|in|during|within|throughout) (?:everyone|everybody|all (?:of us|users|customers|employees|staff)"
    r"|(?:the|our|this)(?: (?:whole|entire|rest of (?:the|this|our)))? (?:team|company|organi[sz]ation|department|chat"
    r"|conversation|thread|session|discussion)|the rest of (?:this|our|the) \w+)"
    r"(?: (?:on|in|at|of) (?:the|our|this) \w+| here| only)?|company-wide|team-wide"
    r"|(?:(?:it is|as per|per|by) )?(?:our |the )?(?:company|team|house|office) (?:policy|rule|style)(?: is)?(?: to)?) "
)
_PAST: Final = {
    "kept": "keep", "gave": "give", "wrote": "write", "made": "make", "spoke": "speak", "stuck": "stick",
    "left": "leave", "began": "begin", "told": "tell", "said": "say", "got": "get", "went": "go", "were": "be",
    "spelt": "spell", "used": "use", "cited": "cite", "included": "include", "quoted": "quote", "replied": "reply",
    "stopped": "stop", "referred": "refer", "apologized": "apologize", "apologised": "apologise",
    "provided": "provide", "rounded": "round", "skipped": "skip", "summarized": "summarize",
    "summarised": "summarise", "repeated": "repeat", "translated": "translate",
}  # fmt: skip


def put_plainly(plain: str) -> str:
    """The words of an instruction without the courtesy around it, and without whom it is for."""
    bare = _SCOPES.sub("", plain)
    bare = re.sub(r"^(?:please|kindly|also|and) ", "", bare)
    for frame, plainly in _FRAMES:
        if (found := frame.match(bare)) is not None:
            return _in_the_present(plainly + bare[found.end() :])
    return bare


def _in_the_present(said: str) -> str:
    """ "Did not use", "always cited": as what is to be done."""
    said = re.sub(r"^did not ", "do not ", said)
    opening = re.match(r"(?:(?:always|never|only|not) )?(\w+)", said)
    if opening is None:
        return said
    verb = opening[1]
    now = _PAST.get(verb, verb[:-2] if verb.endswith("ed") else verb)
    return said[: opening.start(1)] + now + said[opening.end(1) :]
