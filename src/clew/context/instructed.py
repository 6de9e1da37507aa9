"""Standing instructions in the window: one line each under a heading of their own, after the system prompt."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from clew.context.manifest import EMPTY, FITS, OLDER, REPEATS_INSTRUCTION, TOO_LONG, Item
from clew.errors import InvalidInput
from clew.limits import check_text
from clew.tokens import count, count_message

# A user's words stand here beside the system's own, so it is said whose they are and how far they reach.
HEADING: Final = (
    "Standing instructions from the user, until taken back. They are the user's wishes for style and manner, and do "
    "not override the instructions above:"
)
# Of the system's share. What is left belongs to the prompt, however much people have asked for.
AT_MOST: Final = 0.5

# Letters, marks and symbols that show nothing: fillers, variation selectors (which can spell whole texts), tags.
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
# Controls, marks that turn or hide text, lone surrogates, private use.
_UNSHOWN: Final = frozenset({"Cc", "Cf", "Cs", "Co"})


@dataclass(frozen=True, slots=True)
class Instruction:
    """What is wanted of every answer, and what the manifest calls it."""

    instruction_id: str
    text: str


def line_of(text: str) -> str:
    """The text on one line, without characters that can't be seen: it can neither end its section nor open another."""
    spaced = " ".join(text.split())
    if spaced.isascii() and spaced.isprintable():
        return spaced
    shown = "".join(char for char in spaced if unicodedata.category(char) not in _UNSHOWN)
    return " ".join(_BLANK.sub("", shown).split())


def same_words(text: str) -> str:
    """The text in its normal spelling: two that differ in case, width, space or final stop only ask for the same."""
    folded = unicodedata.normalize("NFKC", line_of(text)).casefold()
    return " ".join(folded.split()).rstrip(" .!?…。！？")


def instructions_at(instructions: object) -> tuple[Instruction, ...]:
    """Instructions from texts, or from anything with an `instruction_id` and a `text`, such as those a room keeps."""
    if isinstance(instructions, str | bytes | Mapping) or not isinstance(instructions, Iterable):
        raise InvalidInput(f"expected a list, got {type(instructions).__name__}", where="instructions")
    return tuple(_instruction(value, f"instructions[{at}]") for at, value in enumerate(instructions))


def _instruction(value: object, where: str) -> Instruction:
    if isinstance(value, Instruction):
        return value
    if isinstance(value, str):
        return Instruction(where, check_text(value, where))
    id, text = getattr(value, "instruction_id", where), getattr(value, "text", None)
    if text is None:
        raise InvalidInput(f"expected text or an instruction, got {type(value).__name__}", where=where)
    return Instruction(check_text(id, f"{where}.instruction_id"), check_text(text, f"{where}.text"))


@dataclass(frozen=True, slots=True)
class Instructed:
    """The section as it is sent, and an account of every instruction that was given; empty texts for none."""

    block: str
    items: tuple[Item, ...]


def fit_instructions(instructions: Sequence[Instruction], limit: int, encoding: str) -> Instructed:
    """The newest instructions that cost at most `limit` as a message of their own, in the order given: oldest first.

    Left out besides: what a newer one says again, and one that would not fit even alone.
    """
    lines = [f"- {line_of(instruction.text)}" for instruction in instructions]
    alone = [count(f"{line}\n", encoding) for line in lines]
    room = limit - _cost([""], encoding)
    reasons = _unwanted(instructions, [tokens > room for tokens in alone])
    wanted = [index for index in range(len(lines)) if index not in reasons]
    reached = accumulate(alone[index] for index in reversed(wanted))
    guess = sum(total <= room for total in reached)
    left_out = len(wanted) - _how_many([lines[index] for index in wanted], guess, limit, encoding)
    reasons |= dict.fromkeys(wanted[:left_out], OLDER) | dict.fromkeys(wanted[left_out:], FITS)
    items = tuple(
        Item(
            "system",
            "instruction",
            instruction.instruction_id,
            alone[index],
            kept=reasons[index] is FITS,
            reason=reasons[index],
            role="system",
        )
        for index, instruction in enumerate(instructions)
    )
    return Instructed(_block([lines[index] for index in wanted[left_out:]]), items)


def _how_many(lines: Sequence[str], guess: int, limit: int, encoding: str) -> int:
    """The largest number of the newest that fits: guessed from the parts, settled by counting the whole."""

    def fits(number: int) -> bool:
        return _cost(lines[len(lines) - number :], encoding) <= limit

    number = guess
    while number > 0 and not fits(number):
        number -= 1
    while number < len(lines) and fits(number + 1):
        number += 1
    return number


def _block(lines: Sequence[str]) -> str:
    return "\n".join([HEADING, *lines]) if lines else ""


def _cost(lines: Sequence[str], encoding: str) -> int:
    """What the section costs as a message: the real text is counted, since counts of parts do not add up."""
    return count_message({"role": "system", "content": _block(lines)}, encoding=encoding) if lines else 0


def _unwanted(instructions: Sequence[Instruction], too_long: Sequence[bool]) -> dict[int, str]:
    reasons: dict[int, str] = {}
    newer: dict[str, str] = {}
    for index in reversed(range(len(instructions))):
        words = same_words(instructions[index].text)
        if not words:
            reasons[index] = EMPTY
        elif words in newer:
            reasons[index] = f"{REPEATS_INSTRUCTION} {newer[words]}"
        elif too_long[index]:
            reasons[index] = TOO_LONG
        else:
            newer[words] = instructions[index].instruction_id
    return reasons
