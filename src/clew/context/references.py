"""References to artifacts in what a model sees: shown only to one that can follow them."""

import re
from dataclasses import replace
from typing import Final

from clew.context.history import SessionMessage
from clew.ids import ARTIFACT_ID
from clew.messages import Part, TextPart, ToolResultPart

# How `clew.artifacts` writes them: behind a summary, in a text made light, and alone in a field of such a result.
_REFERENCE: Final = re.compile(
    rf" ?(?:\(full result: artifact {ARTIFACT_ID.pattern}\)|\[artifact {ARTIFACT_ID.pattern}\])"
)
_NOT_SHOWN: Final = "(not shown)"


def without_references(entry: SessionMessage) -> SessionMessage:
    """The entry with references taken out of a tool's result or a summary; what people and models said stays."""
    message = entry.message
    if (message.role != "tool" and entry.stands_for is None) or "art_" not in message.text:
        return entry
    parts = tuple(_hidden_in(part) for part in message.content)
    return replace(entry, message=message.model_copy(update={"content": parts}), tokens=None)


def _hidden_in(part: Part) -> Part:
    if isinstance(part, TextPart):
        return _hidden(part)
    if isinstance(part, ToolResultPart):
        content = tuple(_hidden(inner) if isinstance(inner, TextPart) else inner for inner in part.content)
        return part.model_copy(update={"content": content})
    return part


def _hidden(part: TextPart) -> TextPart:
    return part.model_copy(update={"text": ARTIFACT_ID.sub(_NOT_SHOWN, _REFERENCE.sub("", part.text))})
