"""Compiling: frozen data in, frozen data out. Equal inputs give equal bytes; there is no clock, chance or I/O here."""

from collections.abc import Sequence

from clew.context.budget import Budget
from clew.context.compiled import Compiled
from clew.context.history import History, SessionMessage, fit_history, history_need
from clew.context.instructed import Instruction, instructions_at
from clew.context.manifest import FITS, SECTIONS, Item, Looked, Manifest, Section, SectionUse, used
from clew.context.picking import Picking, pick_memories
from clew.context.retrieved import Memory, Retrieved, fit_memories, joined, memory_need
from clew.context.system import SystemMessage
from clew.context.task import Task
from clew.errors import BudgetExceeded
from clew.messages import Message
from clew.tokens import DEFAULT_ENCODING, count_message, count_priming


def compile_context(
    *,
    system_prompt: str,
    session: Sequence[SessionMessage] = (),
    memories: Sequence[Memory] = (),
    task: Task,
    budget: Budget,
    encoding: str = DEFAULT_ENCODING,
    notes: Sequence[str] = (),
    instructions: Sequence[Instruction | str] = (),
    picking: Picking | None = None,
    selection: Looked | None = None,
) -> Compiled:
    """What a model sees this time: never more than the budget, counted exactly, with a manifest of every choice.

    In the order of how rarely each part changes, so that a provider's cache finds the longest prefix: the system prompt
    with the standing instructions (oldest first) at its end, the history, then retrieved text and the task in the last
    message. Each section pays for its own frames; the last message's frame and the opening of the reply are the task's,
    the text around retrieved passages is memory's. `session` may be any newest stretch of the log that is longer than
    what fits: older messages change nothing but their own lines in the manifest. With `picking` the memories come in
    their order and stay within it; `selection` is for the manifest. `BudgetExceeded` when the task, or a mark for the
    latest user message, has no room.
    """
    opening = SystemMessage.of(system_prompt, instructions_at(instructions), budget.system, encoding)
    needs = _needs(opening, session, memories, task, budget, encoding)
    limits = budget.limits(needs)
    fits_memories = _check_task(task, needs["task"], limits["task"])
    system, system_items = opening.fit(limits["system"])
    history = fit_history(session, limits["session"], encoding)
    if budget.allocation == "flexible":
        limits["memory"] = budget.tokens - limits["task"] - used(system_items) - used(history.items)
    memory_limit = limits["memory"] if fits_memories else -1
    retrieved = _retrieved(memories, history, task.text, memory_limit, encoding, picking)
    last = joined(retrieved.text, task.text)
    task_tokens = _task_tokens(task.text, encoding, carries_memories=bool(retrieved.text))
    items = (*system_items, *history.items, *retrieved.items, _task_item(task_tokens))
    sections = tuple(_use(section, budget, limits, items) for section in SECTIONS)
    return Compiled(
        system_prompt=system,
        history=history.messages,
        context=retrieved.text,
        request_task=task,
        sent=(*_said("system", system), *history.messages, *_said("user", last)),
        manifest=Manifest(
            budget=budget.tokens,
            total=used(items),
            allocation=budget.allocation,
            encoding=encoding,
            sections=sections,
            items=items,
            repairs=history.repairs,
            notes=tuple(notes),
            selection=selection,
        ),
    )


def _needs(
    opening: SystemMessage,
    session: Sequence[SessionMessage],
    memories: Sequence[Memory],
    task: Task,
    budget: Budget,
    encoding: str,
) -> dict[Section, int]:
    """What each section would take; of history and memories only where what one leaves is another's."""
    flexible = budget.allocation == "flexible"
    return {
        "system": opening.need,
        "task": _task_tokens(task.text, encoding, carries_memories=bool(memories)),
        "session": history_need(session, encoding, budget.tokens) if flexible else 0,
        "memory": min(budget.tokens, memory_need(memories, task.text, encoding)) if flexible else 0,
    }


def _retrieved(
    memories: Sequence[Memory], history: History, task_text: str, limit: int, encoding: str, picking: Picking | None
) -> Retrieved:
    """What is shown of the memories beside this history."""
    spoken = [message.text for message in history.messages]
    if picking is None:
        return fit_memories(memories, spoken, task_text, limit, encoding)
    ids = [message.id for message in history.messages if message.id is not None]
    return pick_memories(memories, spoken, ids, task_text, limit, encoding, picking)


def _said(role: str, text: str) -> tuple[Message, ...]:
    """A message, unless there is nothing to say."""
    if not text:
        return ()
    return (Message(role="system" if role == "system" else "user", content=text),)


def _task_tokens(text: str, encoding: str, *, carries_memories: bool) -> int:
    """The opening of the reply, and the last message with the task alone in it; without either, no such message."""
    message = count_message({"role": "user", "content": text}, encoding=encoding) if text or carries_memories else 0
    return count_priming() + message


def _task_item(tokens: int) -> Item:
    return Item("task", "task", None, tokens, kept=True, reason=FITS, role="user")


def _check_task(task: Task, needed: int, available: int) -> bool:
    """Whether the last message can carry memories too. A task that has no room is an error, never left out."""
    if needed <= available:
        return True
    if not task.text and count_priming() <= available:
        return False
    raise BudgetExceeded(
        f"needs {needed:,} tokens, and {available:,} are available", where="task", fix="Shorten it or raise the budget"
    )


def _use(section: Section, budget: Budget, limits: dict[Section, int], items: Sequence[Item]) -> SectionUse:
    own = [item for item in items if item.section == section]
    kept = sum(item.kept for item in own if item.kind != "wrapper")
    dropped = sum(not item.kept for item in own)
    return SectionUse(section, budget.share(section), limits[section], used(own), kept, dropped)
