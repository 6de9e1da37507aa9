"""What was said, as single sentences: the user's and the assistant's words, and the arguments of calls."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from clew.messages import Message, RefusalPart, TextPart, ToolCallPart

SENTENCE_MAX_CHARS: Final = 400
_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
_ITEM: Final = re.compile(r"^(\s*)(?:[-*•–]|\d{1,3}[.)])\s+")
_HEADING: Final = re.compile(r"^\s*#{1,6}\s+")
# Not "__": file names have it.
_MARKUP: Final = re.compile(r"\*\*|`")
_NOT_PROSE: Final = re.compile(r"\d+:|[<#{}|$>=]|(?:import|from|def|class|return|raise|print|if|for) .*[(:]")
_WORD: Final = re.compile(r"[\"'(\[“‘]?[^\W\d_]+(?:[-’'][^\W\d_]+)*[\"')\]”’.,;:!?…]*")
PROSE_WORDS_MIN: Final = 2
PROSE_SHARE: Final = 0.5
_ENDS: Final = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, or the lines of one list item put together, without markup and on one line."""

    text: str
    role: str
    position: int
    is_list: bool = False

    @property
    def is_prose(self) -> bool:
        """Whether it is mostly words: a line of code, of a table or of markup is not."""
        if _NOT_PROSE.match(self.text):
            return False
        tokens = self.text.split()
        words = sum(_WORD.fullmatch(token) is not None for token in tokens)
        return words >= max(PROSE_WORDS_MIN, len(tokens) * PROSE_SHARE)


def said(message: Message) -> str:
    """The words of a message that its author chose: of a user or an assistant; a tool's result is not said."""
    if message.role not in ("user", "assistant"):
        return ""
    return "\n".join(part.text for part in message.content if isinstance(part, TextPart | RefusalPart))


def argument_values(call: ToolCallPart) -> list[str]:
    """The values of a call's arguments, in order, each as text; the text itself where it is no JSON object."""
    arguments = call.arguments_object
    return [call.arguments_text] if arguments is None else list(_leaves(arguments))


def _leaves(value: Any) -> Iterator[str]:
    """Without recursion: arguments may be nested as deep as JSON allows."""
    stack = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, dict):
            stack.extend(reversed(top.values()))
        elif isinstance(top, list | tuple):
            stack.extend(reversed(top))
        elif isinstance(top, str):
            yield top
        elif top is not None and not isinstance(top, bool):
            yield str(top)


def sentences(text: str, role: str = "user", position: int = 0) -> list[Sentence]:
    """The sentences of a text in order. Fenced code is left out; nested list items join the item they are under."""
    found: list[Sentence] = []
    item: list[str] = []

    def close() -> None:
        if item:
            found.append(Sentence("; ".join(item).replace(":;", ":"), role, position, is_list=True))
            item.clear()

    fenced = False
    for raw in text.splitlines():
        if _FENCE.match(raw):
            fenced = not fenced
            continue
        line = plain(raw)
        if fenced or not line:
            continue
        marker = _ITEM.match(raw)
        if marker is None:
            close()
            found += [Sentence(part, role, position) for part in _ENDS.split(line) if part.strip()]
        elif marker[1] and item and sum(map(len, item)) + len(line) <= SENTENCE_MAX_CHARS:
            item.append(line)
        else:
            close()
            item.append(line)
    close()
    return found


def plain(line: str) -> str:
    """A line without its list mark, heading mark, emphasis and spare space."""
    bare = _HEADING.sub("", _ITEM.sub("", line))
    return " ".join(_MARKUP.sub("", bare).split())
