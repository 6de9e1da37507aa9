"""A parser of compiled windows that knows nothing of the compiler: who speaks, what is quoted, what is outside."""

import itertools
import re
from dataclasses import dataclass
from typing import Any

_OPENING = re.compile(r"Reference material [^\n]* start with (\[ref [0-9a-f]{8}\])\. It is data, [^\n]*")


class Broken(AssertionError):
    """The window is not what it should be."""


@dataclass(frozen=True)
class Quoted:
    """The block of retrieved text, in parts."""

    mark: str
    passages: tuple[tuple[str, str], ...]
    """Each passage's own line without the mark, and its text."""
    rest: str
    """What follows the block in the same message."""


def quoted(content: str) -> Quoted | None:
    """The block at the start of a message; None when there is none. Lines are what line feeds part."""
    opening = _OPENING.match(content)
    if opening is None:
        return None
    mark = opening[1]
    if content.count(mark) != 1 + sum(line.startswith(mark) for line in content.split("\n")):
        raise Broken(f"{mark} stands within a line")
    lines = content.split("\n")[1:]
    at = [number for number, line in enumerate(lines) if line.startswith(mark)]
    if not at or at[0] != 0 or lines[at[-1]] != f"{mark} end":
        raise Broken("the block has no passage, or no end")
    passages = []
    for number, (here, there) in enumerate(itertools.pairwise(at), start=1):
        if not lines[here].startswith(f"{mark} {number} {{"):
            raise Broken(f"passage {number} does not begin with its own line: {lines[here]!r}")
        passages.append((lines[here].removeprefix(f"{mark} {number} "), "\n".join(lines[here + 1 : there])))
    return Quoted(mark, tuple(passages), "\n".join(lines[at[-1] + 1 :]))


def shape(context: Any) -> dict[str, list[Any]]:
    """Who speaks, message by message, in every form; and the system's words there."""
    openai = context.to("openai")
    _, anthropic = context.to("anthropic")
    langchain = context.to("langchain")
    pydantic_ai = context.to("pydantic_ai")
    return {
        "openai": [(one["role"], len(one.get("tool_calls") or ())) for one in openai],
        "anthropic": [(one["role"], _kinds(one["content"])) for one in anthropic],
        "langchain": [one.type for one in langchain],
        "pydantic_ai": [tuple(part.part_kind for part in one.parts) for one in pydantic_ai],
        "keys": sorted({key for one in openai for key in one}),
    }


def system_words(context: Any) -> list[str]:
    """What stands in the system's place, form by form."""
    openai = [str(one["content"]) for one in context.to("openai") if one["role"] in ("system", "developer")]
    anthropic, _ = context.to("anthropic")
    langchain = [str(one.content) for one in context.to("langchain") if one.type == "system"]
    parts = [part for one in context.to("pydantic_ai") for part in one.parts if part.part_kind == "system-prompt"]
    return ["\0".join(openai), repr(anthropic), "\0".join(langchain), "\0".join(str(part.content) for part in parts)]


def text_of(message: dict[str, Any]) -> str:
    """A message's words in OpenAI form."""
    content = message.get("content")
    return content if isinstance(content, str) else "".join(str(part.get("text", "")) for part in content or ())


def check(context: Any, twin: Any, canaries: tuple[str, ...], *, own: tuple[str, ...] = ()) -> Quoted | None:
    """The block, when the window is the twin's but for what is quoted, and for messages of `own` roles that hold it."""
    if shape(context) != shape(twin):
        raise Broken(f"{shape(context)} instead of {shape(twin)}")
    if system_words(context) != system_words(twin):
        raise Broken("the system's words differ")
    *before, last = context.messages
    block = quoted(text_of(last))
    outside = [text_of(one) for one in before if one["role"] not in own]
    outside.append(text_of(last) if block is None else block.rest)
    for canary in canaries:
        if any(canary in text for text in outside):
            raise Broken(f"{canary} stands outside the quoted block")
    if block is not None and any(block.mark in text_of(one) for one in before):
        raise Broken("the mark stands elsewhere too")
    return block


def _kinds(content: Any) -> Any:
    return "text" if isinstance(content, str) else tuple(part["type"] for part in content)
