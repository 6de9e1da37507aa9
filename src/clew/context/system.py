"""The system message: the prompt, cut at its end only when it is too long, and then the standing instructions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from clew.context.instructed import AT_MOST, Instructed, Instruction, fit_instructions
from clew.context.manifest import CUT, FITS, HEADED, Item, used
from clew.tokens import count_message, truncate

SYSTEM_CUT_MARK: Final = "\n[The rest of these instructions is cut.]"
# Between the prompt and the standing instructions.
_SEPARATOR: Final = "\n\n"


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """What may stand in the system message: instructions are chosen already, the prompt still to be fitted."""

    prompt: str
    instructed: Instructed
    encoding: str

    @classmethod
    def of(cls, prompt: str, instructions: Sequence[Instruction], share: int, encoding: str) -> "SystemMessage":
        """Instructions have their own part of the system's share, so that a long prompt can't move them out."""
        return cls(prompt, fit_instructions(instructions, int(share * AT_MOST), encoding), encoding)

    @property
    def need(self) -> int:
        """What all of it would cost."""
        return max(self._tokens(self._with_block(self.prompt)), self._tokens(self.instructed.block))

    def fit(self, limit: int) -> tuple[str, tuple[Item, ...]]:
        """The text as it is sent, at most `limit` tokens as a message, and the account of it."""
        shown = self._fitting(limit)
        text = self._with_block(shown)
        items = (*self._prompt_items(shown), *self.instructed.items)
        if self.instructed.block:
            # Counts of parts do not add up to that of the whole: what joining changes is the heading's.
            items += (Item("system", "wrapper", None, self._tokens(text) - used(items), kept=True, reason=HEADED),)
        return text, items

    def _with_block(self, prompt: str) -> str:
        return _SEPARATOR.join(part for part in (prompt, self.instructed.block) if part)

    def _fitting(self, limit: int) -> str:
        """The prompt, or its beginning, within the limit beside the instructions; nothing when there is no room."""
        if not self.prompt or self._tokens(self._with_block(self.prompt)) <= limit:
            return self.prompt
        return next(filter(None, (self._cut(mark, limit) for mark in (SYSTEM_CUT_MARK, ""))), "")

    def _cut(self, mark: str, limit: int) -> str:
        """The beginning of the prompt and the mark; nothing when there is no room for any beginning."""
        after = self._with_block(mark)
        spare = limit - self._tokens(after or " ") + (0 if after else 1)
        while spare > 0:
            beginning = truncate(self.prompt, spare, self.encoding)
            if not beginning:
                return ""
            over = self._tokens(self._with_block(beginning + mark)) - limit
            if over <= 0:
                return beginning + mark
            spare -= over
        return ""

    def _prompt_items(self, shown: str) -> tuple[Item, ...]:
        if not self.prompt:
            return ()
        needed = self._tokens(self.prompt)
        if shown == self.prompt:
            return (Item("system", "system_prompt", None, needed, kept=True, reason=FITS, role="system"),)
        item = Item(
            "system",
            "system_prompt",
            None,
            self._tokens(shown) if shown else needed,
            kept=bool(shown),
            reason=CUT,
            role="system",
            full_tokens=needed,
        )
        return (item,)

    def _tokens(self, text: str) -> int:
        return count_message({"role": "system", "content": text}, encoding=self.encoding) if text else 0
