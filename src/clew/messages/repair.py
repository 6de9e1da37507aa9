"""Mending histories that a provider would refuse: every call gets its result, every result its call."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from clew.errors import InvalidInput
from clew.messages.message import Message, ToolCallPart, ToolResultPart
from clew.messages.reading import neutral_messages, shown

ChangeKind = Literal[
    "duplicate_message",
    "duplicate_call",
    "duplicate_result",
    "orphan_result",
    "moved_result",
    "closed_call",
    "opened_by_user",
]

DEAD_CALL_TEXT: Final = "Error: this call was never answered. It may or may not have had an effect."
PENDING_CALL_TEXT: Final = "Error: this call had not been answered when the conversation was sent."
OPENING_TEXT: Final = "[The beginning of this conversation is missing.]"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that was mended. `index` is a place in the list that was given."""

    kind: ChangeKind
    index: int
    call_id: str | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Repaired:
    """The mended history, and everything that was done to it, in the order of the places where it was done."""

    messages: tuple[Message, ...]
    changes: tuple[Change, ...]


def repair(messages: Iterable[Message], *, pending: Literal["close", "keep"] = "close") -> Repaired:
    """A history that a provider accepts, and what had to be changed for that; a healthy one comes back as it is.

    - A message whose id was seen before is dropped, whatever it says: a log is not rewritten.
    - A call that repeats an earlier one (same id, name and arguments) and has no result of its own is dropped. An id
      used again for another call, with its own result, is no damage: real models do it.
    - A result goes to the nearest call before it that has its id and waits, else to the first such call after it, and
      follows that call. A second result of an answered call is dropped, and so is one whose call does not exist.
    - A call without a result gets a synthetic error result when the conversation went on without it. Calls at the very
      end are pending: `pending="close"` answers them in the same way, because only then can the history be sent;
      `pending="keep"` leaves them for the caller that is about to run them.
    - A history that begins with the assistant gets an opening user message that says so. The words are kept, since they
      may be all that is left of what was agreed; dropping messages until a user speaks could drop everything.

    Nothing else changes: reasoning stays in its message, and messages that need no mending are the same objects.
    """
    if pending not in ("close", "keep"):
        raise InvalidInput(f"{shown(pending)} is not a choice", where="pending", fix="Use 'close' or 'keep'")
    mending = _Mending(neutral_messages(messages))
    mending.drop_repeated_messages()
    mending.match_results()
    mending.drop_repeated_calls()
    mended = mending.rebuilt(close_pending=pending == "close")
    return Repaired(tuple(mended), tuple(sorted(mending.changes, key=lambda change: change.index)))


@dataclass(slots=True)
class _Call:
    """One call of the history while its result is sought."""

    part: ToolCallPart
    index: int
    result: int | None = None
    dropped: bool = False


class _Mending:
    """One history under repair. Messages are known by their place in the list that was given."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._given = messages
        self._alive = list(range(len(messages)))
        self._calls: list[_Call] = []
        self.changes: list[Change] = []

    def _report(self, kind: ChangeKind, index: int, call_id: str | None, sentence: str) -> None:
        self.changes.append(Change(kind, index, call_id, sentence))

    def drop_repeated_messages(self) -> None:
        first_at: dict[str, int] = {}
        kept = []
        for index in self._alive:
            id = self._given[index].id
            if id is not None and first_at.setdefault(id, index) != index:
                sentence = f"Dropped message {index}: its id {shown(id)} is that of message {first_at[id]}."
                self._report("duplicate_message", index, None, sentence)
            else:
                kept.append(index)
        self._alive = kept

    def match_results(self) -> None:
        """Gives each result to the nearest waiting call before it, and what is left to the first one after it."""
        waiting: dict[str, list[_Call]] = {}
        left: list[int] = []
        for index in self._alive:
            message = self._given[index]
            for part in message.tool_calls:
                call = _Call(part, index)
                self._calls.append(call)
                waiting.setdefault(part.id, []).append(call)
            for result in message.tool_results:
                if calls := waiting.get(result.call_id):
                    # The nearest message before it; within that message, the first call that waits.
                    nearest = next(call for call in calls if call.index == calls[-1].index)
                    calls.remove(nearest)
                    nearest.result = index
                else:
                    left.append(index)
        for index in left:
            self._place_left_over(index, waiting)

    def _place_left_over(self, index: int, waiting: dict[str, list[_Call]]) -> None:
        call_id = self._given[index].tool_results[0].call_id
        later = [call for call in waiting.get(call_id, []) if call.index > index]
        if later:
            waiting[call_id].remove(later[0])
            later[0].result = index
            return
        self._alive.remove(index)
        if any(call.part.id == call_id for call in self._calls):
            sentence = f"Dropped message {index}: call {shown(call_id)} already has its result."
            self._report("duplicate_result", index, call_id, sentence)
        else:
            sentence = f"Dropped message {index}: it answers call {shown(call_id)}, which nobody made."
            self._report("orphan_result", index, call_id, sentence)

    def drop_repeated_calls(self) -> None:
        by_id: dict[str, list[_Call]] = {}
        for call in self._calls:
            by_id.setdefault(call.part.id, []).append(call)
        for calls in by_id.values():
            for position, call in enumerate(calls):
                others = [other for other in calls[:position] if not other.dropped]
                same = next((other for other in others if _same_call(other.part, call.part)), None)
                clash = next((other for other in others if other.index == call.index), None)
                if clash is not None or (same is not None and None in (call.result, same.result)):
                    self._drop_call(call, clash or same or calls[0])

    def _drop_call(self, call: _Call, earlier: _Call) -> None:
        call.dropped = True
        # The repeat stood nearer to the result, so it may have got the one that answers both.
        if call.result is not None and earlier.result is None:
            earlier.result = call.result
        elif call.result is not None:
            self._alive.remove(call.result)
            sentence = f"Dropped message {call.result}: the call it answers was a repeat."
            self._report("duplicate_result", call.result, call.part.id, sentence)
        sentence = (
            f"Dropped a call from message {call.index}: {shown(call.part.id)} is in message {earlier.index} already."
        )
        self._report("duplicate_call", call.index, call.part.id, sentence)

    def rebuilt(self, *, close_pending: bool) -> list[Message]:
        """The messages that are left, each result behind its call, with what is missing put in."""
        calls_at: dict[int, list[_Call]] = {}
        for call in self._calls:
            calls_at.setdefault(call.index, []).append(call)
        spoken = {
            index: message
            for index in self._alive
            if self._given[index].role != "tool"
            and (message := self._without_dropped(index, calls_at.get(index, []))) is not None
        }
        last = next(reversed(spoken), None)
        out: list[Message] = []
        order: list[int] = []
        for index, message in spoken.items():
            calls = [call for call in calls_at.get(index, []) if not call.dropped]
            found = sorted(call.result for call in calls if call.result is not None)
            order += [index, *found]
            out += [message, *(self._given[place] for place in found)]
            if index != last or close_pending:
                out += self._made_up([call for call in calls if call.result is None], is_last=index == last)
        self._report_moves(order)
        return self._opened(out, order)

    def _without_dropped(self, index: int, calls: Sequence[_Call]) -> Message | None:
        message = self._given[index]
        dropped = {id(call.part) for call in calls if call.dropped}
        if not dropped:
            return message
        content = tuple(part for part in message.content if id(part) not in dropped)
        # A turn of calls that were all repeats says nothing any more; its reasoning belonged to those calls.
        if all(part.type == "reasoning" for part in content):
            sentence = f"Dropped message {index}: it held nothing but repeated calls."
            self._report("duplicate_message", index, None, sentence)
            return None
        return message.model_copy(update={"content": content})

    def _made_up(self, calls: Sequence[_Call], *, is_last: bool) -> list[Message]:
        """Error results for calls that have none."""
        answers = []
        for call in calls:
            text = PENDING_CALL_TEXT if is_last else DEAD_CALL_TEXT
            result = ToolResultPart(call_id=call.part.id, name=call.part.name, content=text, is_error=True)
            answers.append(Message(role="tool", content=(result,)))
            sentence = f"Answered call {shown(call.part.id)} of message {call.index} with an error: it had no result."
            self._report("closed_call", call.index, call.part.id, sentence)
        return answers

    def _report_moves(self, order: Sequence[int]) -> None:
        """A result was moved when something that came after it now stands before it, or the other way round."""
        left = set(order)
        alive = [index for index in self._alive if index in left]
        if alive == list(order):
            return
        before = {index: alive[place - 1] if place else None for place, index in enumerate(alive)}
        for place, index in enumerate(order):
            results = self._given[index].tool_results
            if results and before[index] != (order[place - 1] if place else None):
                call_id = results[0].call_id
                sentence = f"Moved message {index} to follow the call {shown(call_id)} that it answers."
                self._report("moved_result", index, call_id, sentence)

    def _opened(self, out: list[Message], order: Sequence[int]) -> list[Message]:
        start = next((place for place, message in enumerate(out) if message.role not in ("system", "developer")), None)
        if start is None or out[start].role == "user":
            return out
        index = order[start]  # nothing was put in before the first call, so the places still agree
        sentence = f"Put a user message before message {index}: a conversation cannot begin with the assistant."
        self._report("opened_by_user", index, None, sentence)
        return [*out[:start], Message(role="user", content=OPENING_TEXT), *out[start:]]


def _same_call(one: ToolCallPart, other: ToolCallPart) -> bool:
    return one.name == other.name and one.arguments_text == other.arguments_text
