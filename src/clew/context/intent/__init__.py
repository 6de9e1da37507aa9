"""What a message wants, told offline: whether anything has to be looked up before it is answered."""

from clew.context.intent.classify import classify_intent
from clew.context.intent.intent import Intent, IntentKind

__all__ = ["Intent", "IntentKind", "classify_intent"]
