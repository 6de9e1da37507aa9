"""`WorkingContextCompiler`: the promised interface to compiling."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from clew.context.budget import Allocation, Budget
from clew.context.compile import compile_context
from clew.context.compiled import Compiled
from clew.context.instructed import instructions_at
from clew.context.manifest import Looked
from clew.context.picking import Picking
from clew.context.reading import memories_at, session_at
from clew.context.task import Task
from clew.errors import InvalidInput
from clew.limits import check_text
from clew.logs import logger
from clew.tokens import DEFAULT_ENCODING, ENCODINGS

log: Final = logger("clew.context")


class WorkingContextCompiler:
    """Tier 2: what the model sees this time, within the budget of a model tier.

    `budgets` adds tiers or changes them (`{"long": 128_000}`), `shares` divides the budget in another way, and
    `allocation="flexible"` lets what one section leaves flow to those that need it.
    """

    TOKEN_BUDGETS: ClassVar[dict[str, int]] = {"fast": 8_000, "reasoning": 32_000}
    BUDGET_ALLOCATION: ClassVar[dict[str, float]] = {
        "system_prompt": 0.15,
        "session_history": 0.35,
        "relevant_context": 0.35,
        "task_and_buffer": 0.15,
    }

    def __init__(
        self,
        model_tier: str = "reasoning",
        *,
        allocation: Allocation = "fixed",
        budgets: Mapping[str, int] | None = None,
        shares: Mapping[str, float] | None = None,
        encoding: str | None = None,
    ) -> None:
        self._budgets = {**self.TOKEN_BUDGETS, **(budgets or {})}
        self._shares = self.BUDGET_ALLOCATION if shares is None else shares
        self._allocation: Allocation = allocation
        self.encoding = DEFAULT_ENCODING if encoding is None else encoding
        if self.encoding not in ENCODINGS:
            known = ", ".join(ENCODINGS)
            raise InvalidInput(f"unknown encoding {encoding!r}", where="encoding", fix=f"Use one of {known}")
        self._choose(model_tier)

    def _choose(self, model_tier: str) -> None:
        tokens = self._budgets.get(model_tier) if isinstance(model_tier, str) else None
        if tokens is None:
            known = ", ".join(sorted(self._budgets))
            raise InvalidInput(f"unknown tier {model_tier!r}", where="model_tier", fix=f"Use one of {known}")
        self.model_tier = model_tier
        self.budget = Budget.split(tokens, self._shares, self._allocation)

    def for_tier(self, model_tier: str) -> "WorkingContextCompiler":
        """The same compiler with the budget of another tier."""
        other = copy.copy(self)
        other._choose(model_tier)
        return other

    async def compile(
        self,
        system_prompt: str,
        session_messages: Iterable[Any],
        relevant_memories: Iterable[Any],
        task: Mapping[str, Any] | str,
    ) -> dict[str, Any]:
        """What to send, as plain JSON: `system_prompt`, `messages` (the history), `context` (the retrieved block),
        `task`, `token_usage`, `manifest`, and `sent_messages`, which is all of it, ready for a model."""
        compiled = self.compiled(system_prompt, session_messages, relevant_memories, task)
        log_compiled(compiled, model_tier=self.model_tier)
        return compiled.as_dict()

    def compiled(
        self,
        system_prompt: str,
        session_messages: Iterable[Any],
        relevant_memories: Iterable[Any],
        task: Mapping[str, Any] | str | Task,
        *,
        notes: Sequence[str] = (),
        instructions: Iterable[Any] = (),
        picking: Picking | None = None,
        selection: Looked | None = None,
    ) -> Compiled:
        """The same as an object that can be converted to any provider's form.

        `instructions` are standing ones, oldest first: texts, or what `StandingInstructions.active` gives. They stand
        at the end of the system prompt, one line each.
        """
        return compile_context(
            system_prompt=check_text(system_prompt, "system_prompt"),
            session=session_at(session_messages),
            memories=memories_at(relevant_memories),
            task=task if isinstance(task, Task) else Task.of(task),
            budget=self.budget,
            encoding=self.encoding,
            notes=notes,
            instructions=instructions_at(instructions),
            picking=picking,
            selection=selection,
        )


def log_compiled(compiled: Compiled, **who: str) -> None:
    """One line with the tokens by section; never with a text."""
    manifest = compiled.manifest
    dropped = sum(not item.kept for item in manifest.items)
    log.info(
        "context_compiled",
        **who,
        budget_tokens=manifest.budget,
        **{f"{name}_tokens": tokens for name, tokens in compiled.token_usage.items()},
        items_kept=len(manifest.items) - dropped,
        items_dropped=dropped,
        repairs=len(manifest.repairs),
        notes=len(manifest.notes),
    )
