"""What a graph's messages say about themselves: which is the summary, which are stubs, and which are pinned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from clew.context.compaction import Edit, View
from clew.context.compaction.showing import Shown
from clew.errors import InvalidInput
from clew.ids import new_id

# In `additional_kwargs`, which providers' adapters leave alone and checkpoints keep.
SUMMARY: Final = "clew_summary"
EDIT: Final = "clew_edit"
PINNED: Final = "pinned"

_M = TypeVar("_M", bound=BaseMessage)


def pinned(message: _M) -> _M:
    """The message, marked so that no compaction ever takes it out of the state."""
    return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, PINNED: True}})


@dataclass(frozen=True, slots=True)
class Held:
    """The messages of a state but the summary, by id and in order, and the view they are."""

    messages: Mapping[str, BaseMessage]
    view: View

    def as_messages(self, shown: Sequence[Shown], view: View) -> list[BaseMessage]:
        """What a view shows, as the state's own messages; the summary and new stubs are made here."""
        made: list[BaseMessage] = []
        for item in shown:
            if item.position is None:
                made.append(_summary(item.message.text, view))
            else:
                made.append(_kept(self.messages[item.message.id or ""], item, view.edits.get(item.position)))
        return made


def held(messages: Sequence[BaseMessage]) -> Held:
    """What a state holds; the view is empty until something was compacted."""
    said: dict[str, BaseMessage] = {}
    view = View()
    edits: dict[int, Edit] = {}
    for index, message in enumerate(messages):
        if SUMMARY in message.additional_kwargs:
            view = _view(message.additional_kwargs[SUMMARY])
            continue
        if not message.id:
            raise InvalidInput(
                "has no id", where=f"messages[{index}]", fix="Keep messages in a field of LightState or MessagesState"
            )
        said[message.id] = message
        if EDIT in message.additional_kwargs:
            edit = Edit.from_json(message.additional_kwargs[EDIT], f"messages[{index}]")
            edits[edit.position] = edit
    return Held(said, View(view.through, view.summary, edits, view.pinned))


def _view(stored: object) -> View:
    fields: dict[str, Any] = dict(stored) if isinstance(stored, Mapping) else {}
    return View.from_json({**fields, "edits": []}, SUMMARY)


def _summary(text: str, view: View) -> HumanMessage:
    stored = view.as_json()
    del stored["edits"]
    return HumanMessage(text, id=new_id(), additional_kwargs={SUMMARY: stored})


def _kept(message: BaseMessage, item: Shown, edit: Edit | None) -> BaseMessage:
    if edit is None or not isinstance(message, ToolMessage):
        return message
    marks = {**message.additional_kwargs, EDIT: edit.as_json()}
    return message.model_copy(update={"content": item.message.text, "artifact": None, "additional_kwargs": marks})
