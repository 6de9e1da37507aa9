"""What a person only shows: somebody else's words, quoted, forwarded or pasted. They are not the person's own."""

import re
from typing import Final

_QUOTED_LINE: Final = re.compile(r"^\s*(?:>|\|)")
_HEADER: Final = re.compile(r"^\s*(?:from|to|cc|subject|date|sent|reply-to)\s*:\s*\S", re.IGNORECASE)
_FORWARDED: Final = re.compile(
    r"^\s*(?:-{2,}\s*(?:original|forwarded)|begin forwarded message|on .{4,80} wrote:\s*$)", re.IGNORECASE
)
_SPOKEN_LINE: Final = re.compile(r"^\s*(?:user|assistant|system|human|ai|bot|agent|developer|tool)\s*:", re.IGNORECASE)
# "Someone wrote to me: …", "the page says: …": what follows the colon is theirs.
_REPORTED: Final = re.compile(
    r"\b(?:wrote|writes|said|says|told|tells|reads|sent|states|asked|got|received|saw|found|posted|goes|says)\b"
    r"[^:\n.!?]{0,60}:",
    re.IGNORECASE,
)
# "Please proofread: …", "translate this sentence: …": what follows is what is to be worked on.
_WORKED_ON: Final = re.compile(
    r"\b(?:proofread|translate|summari[sz]e|rewrite|rephrase|paraphrase|check|correct|edit|review|improve|shorten"
    r"|explain|analy[sz]e|classify|fix|convert|here is|here are|here's|this is|the following|below|text|email|e-mail"
    r"|message|quote|example|prompt)\b[^:\n]{0,80}:",
    re.IGNORECASE,
)
_HEADERS_OF_A_MAIL: Final = 2


def own_words(text: str) -> str:
    """The text up to what is quoted in it, without quoted lines in between.

    For what would hold from now on: when in doubt, words are taken for somebody else's.
    """
    kept: list[str] = []
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if _FORWARDED.match(line) or _begins_a_mail(lines[place:]):
            break
        if _QUOTED_LINE.match(line) or _SPOKEN_LINE.match(line):
            continue
        shown = _REPORTED.search(line) or _WORKED_ON.search(line)
        if shown is not None:
            kept.append(line[: shown.start()])
            break
        kept.append(line)
    return "\n".join(kept)


def _begins_a_mail(lines: list[str]) -> bool:
    """Whether headers of a mail follow each other here."""
    return all(len(lines) > n and _HEADER.match(lines[n]) for n in range(_HEADERS_OF_A_MAIL))
