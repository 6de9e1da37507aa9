"""What has the words of a standing instruction and is none: a story, somebody else's rule, or a release from one."""

import re
from typing import Final

_TOLD: Final = re.compile(
    r"^(?:(?:i|we|they|he|she|it|people|it is|that is|this|there|that)(?: am| are| is| have| has| had| will"
    r"| would)? (?:always|never)|(?:always|never) (?:been|had|was|seen|heard|received|got|thought|knew|again|mind"
    r"|have i|did i)|never mind|as always|like always|call me(?: an?)? \w+ but\b)\b"
    r"|^you(?: have| had| just)* (?:always|never) (?:been|told|said|gave|did|wrote|let|had|knew|got|\w+ed)\b"
)
# "The doctor told me to never skip a dose", "…, the manual says": somebody else's rule.
_REPORTED: Final = re.compile(
    r"^(?!(?:i|we) ).*\b(?:told|asked|advised|warned|taught|ordered|reminded) (?:me|us|him|her|them)\b"
    r"|\b(?:says|said|wrote|recommends)$"
)
# "You can stop using bullet points": nothing is asked for, something no longer is.
_RELEASES: Final = re.compile(
    r"^you (?:(?:can|may|could)(?: now| also)* (?:stop|drop|forget|skip)|do not (?:need|have)|no longer (?:need|have)"
    r"|need not)\b"
    r"|^(?:there is )?no (?:more |longer )?need (?:to|for)\b|^(?:forget|scrap|undo|lift|disregard|never mind)"
    r"(?: about)? \w+"
)


def is_told(plain: str) -> bool:
    """Whether it tells what somebody always did, or whose rule it is."""
    return _TOLD.match(plain) is not None or _REPORTED.search(plain) is not None


def releases(plain: str) -> bool:
    """Whether it opens with what is no longer asked for."""
    return _RELEASES.match(plain) is not None
