"""Choosing what goes into a summary so that it never exceeds its tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from clew.errors import InvalidInput
from clew.tokens import count, truncate

# After the best beginning of the ranking is found, this many of the next are tried one by one in the room that is left.
FILLERS_TRIED: Final = 12
# However short the aim, this much is said after the lead, where the limit allows.
BODY_TOKENS_MIN: Final = 16
# A name longer than this is no name any more.
TOOL_NAME_TOKENS: Final = 16


@dataclass(frozen=True, slots=True)
class Sketch:
    """What a shape has to say: a lead that comes first, and pieces ranked by worth, of which as many as fit are drawn.

    `draw` takes the ranks chosen and returns their text in the order of the result, so a summary reads like what it
    stands for whatever was left out.
    """

    lead: str
    pieces: int = 0
    draw: Callable[[Sequence[int]], str] = lambda chosen: ""


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around a summary: whose result it is, and where all of it is."""

    head: str
    tail: str
    max_tokens: int
    encoding: str

    def around(self, *parts: str) -> str:
        return " ".join(part for part in (self.head, *parts, self.tail) if part)

    def fits(self, text: str) -> bool:
        return count(text, self.encoding) <= self.max_tokens


def framed(tool: str, reference: str | None, max_tokens: int, encoding: str) -> Frame:
    """The frame with as much of name and reference as `max_tokens` allows: the reference whole, the name if it fits."""
    tails = (
        ("",) if reference is None else (f"(full result: artifact {reference})", f"(artifact {reference})", reference)
    )
    name = truncate(tool, TOOL_NAME_TOKENS, encoding)
    for tail in tails:
        for head in (f"[{name}]", "") if name else ("",):
            frame = Frame(head, tail, max_tokens, encoding)
            if frame.fits(frame.around()):
                return frame
    raise InvalidInput(
        f"{max_tokens} tokens do not hold the reference {reference}", where="max_tokens", fix="Allow at least 40"
    )


def fit(sketch: Sketch, frame: Frame, aim_tokens: int) -> str:
    """The summary: about `aim_tokens`, a few more for a result whose lead alone is as long, never over the limit."""
    least = count(frame.around(sketch.lead), frame.encoding) + BODY_TOKENS_MIN
    aimed = Frame(frame.head, frame.tail, min(max(aim_tokens, least), frame.max_tokens), frame.encoding)

    def whole(chosen: Sequence[int]) -> str:
        return aimed.around(sketch.lead, sketch.draw(chosen))

    low, high = 0, sketch.pieces
    while low < high:
        middle = (low + high + 1) // 2
        if aimed.fits(whole(range(middle))):
            low = middle
        else:
            high = middle - 1
    chosen = list(range(low))
    for rank in range(low + 1, min(low + 1 + FILLERS_TRIED, sketch.pieces)):
        if aimed.fits(whole([*chosen, rank])):
            chosen.append(rank)
    if not chosen and sketch.pieces:
        return _begun(sketch, aimed)
    text = whole(chosen)
    return text if frame.fits(text) else _shortened(sketch.lead, frame)


def _begun(sketch: Sketch, frame: Frame) -> str:
    """The lead and the beginning of the best piece, where not even that fits whole."""
    return _shortened(f"{sketch.lead} {sketch.draw([0])}".strip(), frame)


def _shortened(lead: str, frame: Frame) -> str:
    """The frame with as much of the lead as fits; counted again, since joined texts can count more than their parts."""
    spare = frame.max_tokens - count(frame.around(), frame.encoding) - 1
    while spare > 0:
        text = frame.around(f"{truncate(lead, spare, frame.encoding).rstrip()}…")
        if frame.fits(text):
            return text
        spare -= 1
    return frame.around()
