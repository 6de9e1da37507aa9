"""Wishes for every answer that reach too far: they would change whom the model obeys, or what it gives away."""

import re
from typing import Final

from clew.memory.gate.folding import looks
from clew.memory.gate.hidden import hides_text
from clew.memory.gate.markers import carries_marks
from clew.memory.gate.phrases import GOODS, OVERRIDES, SEND, THOSE

_REACHES: Final = (
    re.compile(
        rf"\b{SEND}\s{THOSE}{GOODS}\b[^.\n]{{0,80}}?\bto\s"
        r"(?:https?:|www\.|\S{1,64}@|the (?:following|address|url|server|attacker|webhook|endpoint)|an? external"
        r"|attacker)"
    ),
    re.compile(
        r"\b(?:reveal|print|repeat|show|output|display|disclose|leak|share|dump|recite|expose|reproduce|include)\b"
        r"[^.\n]{0,40}\b(?:system prompts?|system messages?|initial prompt|hidden (?:prompt|instructions)|developer"
        r" (?:message|prompt)|your (?:instructions|prompt|rules|secrets|api keys?))"
    ),
    re.compile(
        r"\b(?:treat|obey|follow|execute|run|trust|accept|consider|take|regard)\b[^.\n]{0,60}\b(?:as|like)"
        r" (?:\w+ ){0,3}(?:instructions?|commands?|orders?|system|developer|admin\w*|authoritative)\b"
        r"|\b(?:obey|follow|execute|run)\b[^.\n]{0,30}\b(?:tool (?:results?|outputs?)|web ?pages?|documents?"
        r"|retrieved|reference material|instructions (?:in|from|inside))\b"
        r"|\b(?:approve|grant|authori[sz]e|allow|accept)\b[^.\n]{0,30}\b(?:every|all|any)\b[^.\n]{0,20}"
        r"\b(?:refunds?|requests?|payments?|access|transfers?|permissions?)\b"
    ),
    re.compile(
        r"\bwithout (?:telling|informing|alerting|notifying|asking)\b|\b(?:bypass|disable|turn off|skip|ignore)\b"
        r"[^.\n]{0,30}\b(?:safety|security|guardrails|filters?|restrictions|checks|instructions above|rules above)\b"
        r"|\byou (?:are|have) (?:now )?(?:an? )?(?:admin|root|unrestricted|jailbroken|full access)\b"
    ),
)
_UNBOUND: Final = re.compile(
    r"\bnever (?:again )?(?:follow|obey|listen to|comply with) (?:\w+ ){0,3}(?:instructions?|rules|prompts?|guidelines)"
)
# The marks around retrieved text, and messages in the form that providers take them.
_FRAMES: Final = re.compile(r"\[ref [0-9a-f]{4,}|[\"']role[\"']\s*:|</?\s*(?:system|assistant|user|instructions?)\b")


def overreaches(text: str, *, forbids: bool) -> bool:
    """Whether a wish asks for more than style and manner. To forbid giving something away gives nothing away."""
    seen = looks(text)
    if hides_text(text) or carries_marks(seen) or _FRAMES.search(seen) or _UNBOUND.search(seen):
        return True
    if OVERRIDES.search(seen):
        return True
    return not forbids and any(one.search(seen) for one in _REACHES)
