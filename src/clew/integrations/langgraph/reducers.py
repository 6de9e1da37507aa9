"""How each field of a state takes an update: public, to annotate the fields of one's own.

    class State(LightState):
        visited: Annotated[list[dict[str, Any]], append_unique("url", most=200)]

Every one of them is bounded, refuses what is not light (`lightness`), leaves the old value as it was, and takes plain
data, so that a checkpoint gives back what went in. LangGraph's `Overwrite` replaces a value without asking a reducer.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, RemoveMessage, convert_to_messages
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

from clew.errors import InvalidInput
from clew.integrations.langgraph.lightness import MESSAGE_MAX_CHARS, check_light
from clew.limits import check_count, check_text

HISTORY_MAX: Final = 100
REFERENCES_MAX: Final = 500
PATTERNS_MAX: Final = 200
ELEMENTS_MAX: Final = 500
MESSAGES_MAX: Final = 10_000
_MOST: Final = 100_000

Fields = dict[str, Any]
_T = TypeVar("_T")


def light_messages(left: list[AnyMessage], right: Any) -> list[AnyMessage]:
    """The messages after an update, as LangGraph's `add_messages` has it: a known id replaces, `RemoveMessage` removes.

    What is added must be light, and removing what is not there changes nothing: a compaction may have been quicker.
    """
    try:
        added = convert_to_messages(right if isinstance(right, list) else [right])
    except (NotImplementedError, ValueError, TypeError, KeyError) as error:
        raise InvalidInput("holds something that is no message", where="messages") from error
    for index, message in enumerate(added):
        _check_message(message, f"messages[{index}]")
    there = {message.id for message in [*left, *added] if not isinstance(message, RemoveMessage)}
    there.add(REMOVE_ALL_MESSAGES)
    wanted: list[Any] = [m for m in added if not isinstance(m, RemoveMessage) or m.id in there]
    merged: list[AnyMessage] = add_messages(left, wanted)  # type: ignore[arg-type,assignment]
    if len(merged) > MESSAGES_MAX:
        raise InvalidInput(
            f"{len(merged):,} messages don't belong in a state; the limit is {MESSAGES_MAX:,}",
            where="messages",
            fix="Add a compaction_node to the graph",
        )
    return merged


def _check_message(message: BaseMessage, where: str) -> None:
    check_light(message.content, f"{where}.content", max_chars=MESSAGE_MAX_CHARS)
    check_light(getattr(message, "artifact", None), f"{where}.artifact")
    for number, call in enumerate(getattr(message, "tool_calls", ())):
        check_light(call["args"], f"{where}.tool_calls[{number}].args", max_chars=MESSAGE_MAX_CHARS)
    if not isinstance(message, AIMessage):
        # What a provider adds to a model's message is its own, and must go back to it as it was.
        check_light(message.additional_kwargs, f"{where}.additional_kwargs")


def append_bounded(most: int = HISTORY_MAX) -> Callable[[list[Any], Any], list[Any]]:
    """A reducer that appends one item or a list of them, and keeps the newest `most`."""
    check_count(most, "most", most=_MOST)

    def append(left: list[Any], right: Any) -> list[Any]:
        added = right if isinstance(right, list) else [right]
        return [*left, *check_light(added, "update")][-most:]

    return append


def append_unique(key: str, most: int = REFERENCES_MAX) -> Callable[[list[Fields], Any], list[Fields]]:
    """A reducer for a list of items that are one when their `key` is: known ones keep their place and take new fields.

    An item is a mapping, or has `as_dict()` as an `ArtifactRef` has.
    """
    check_count(most, "most", most=_MOST)

    def append(left: list[Fields], right: Any) -> list[Fields]:
        merged = {item[key]: item for item in left}
        for item in _items(right, "update"):
            name = _named(item, key, "update")
            merged[name] = merged.get(name, {}) | item
        return list(merged.values())[-most:]

    return append


def merge_by(key: str, most: int = ELEMENTS_MAX) -> Callable[[dict[str, Fields], Any], dict[str, Fields]]:
    """A reducer for things looked up by name, `{name: fields}`: an update is that, or items that hold `key`.

    New fields win over old ones; the `most` most recently updated stay.
    """
    check_count(most, "most", most=_MOST)

    def merge(left: dict[str, Fields], right: Any) -> dict[str, Fields]:
        return _moved_to_end(left, _by_name(right, key), most, lambda known, new: known | new)

    return merge


def merge_counted(key: str = "pattern", most: int = PATTERNS_MAX) -> Callable[[dict[str, Fields], Any], dict[str, Any]]:
    """A reducer for what happens again and again: as `merge_by`, and `count` says how often.

    An update counts once, or as often as its own `count` says.
    """
    check_count(most, "most", most=_MOST)

    def merge(left: dict[str, Fields], right: Any) -> dict[str, Any]:
        updates = {name: {**fields, "count": _count(fields, name)} for name, fields in _by_name(right, key).items()}
        return _moved_to_end(
            left, updates, most, lambda known, new: known | new | {"count": known.get("count", 0) + new["count"]}
        )

    return merge


def current(key: str = "name") -> Callable[[Fields, Any], Fields]:
    """A reducer for the one thing at hand: fields of the same `key` are added to it, another `key` replaces it.

    An update without the key adds to whatever is at hand; an empty one, or None, puts it away.
    """

    def update(left: Fields, right: Any) -> Fields:
        if right is None or right == {}:
            return {}
        fields = _fields(right, "update")
        same = key not in fields or fields[key] == left.get(key)
        return {**left, **fields} if same else fields

    return update


def last_wins(left: _T, right: _T) -> _T:
    """The newest value; without a reducer two nodes of one step could not both write the field."""
    return check_light(right, "update")  # type: ignore[no-any-return]


def _items(value: Any, where: str) -> list[Fields]:
    one = isinstance(value, Mapping) or hasattr(value, "as_dict")
    if not one and not isinstance(value, list | tuple):
        raise InvalidInput(f"expected an item or a list of them, got {type(value).__name__}", where=where)
    listed: Iterable[Any] = [value] if one else value
    return [_fields(item, f"{where}[{index}]") for index, item in enumerate(listed)]


def _fields(value: Any, where: str) -> Fields:
    plain = value.as_dict() if hasattr(value, "as_dict") else value
    if not isinstance(plain, Mapping):
        raise InvalidInput(f"expected fields, got {type(plain).__name__}", where=where)
    checked: Fields = check_light(dict(plain), where)
    return checked


def _named(item: Fields, key: str, where: str) -> str:
    name = item.get(key)
    if not isinstance(name, str):
        raise InvalidInput(f"has no {key}", where=where, fix=f"Give it one: it is by its {key} that it is known")
    return check_text(name, f"{where}.{key}", allow_empty=False)


def _by_name(value: Any, key: str) -> dict[str, Fields]:
    """`{name: fields}` of an update that is already so, or of items that each hold the key."""
    if isinstance(value, Mapping) and key not in value:
        named = {}
        for name, fields in value.items():
            check_text(check_light(name, "update key"), "update key", allow_empty=False)
            named[name] = _fields(fields, f"update.{name[:80]}")
        return named
    merged: dict[str, Fields] = {}
    for item in _items(value, "update"):
        name = _named(item, key, "update")
        rest = {field: inner for field, inner in item.items() if field != key}
        merged[name] = merged.get(name, {}) | rest
    return merged


def _moved_to_end(
    left: dict[str, Fields], updates: dict[str, Fields], most: int, merged: Callable[[Fields, Fields], Fields]
) -> dict[str, Any]:
    kept = {name: fields for name, fields in left.items() if name not in updates}
    newest = {name: merged(left.get(name, {}), fields) for name, fields in updates.items()}
    return dict(list((kept | newest).items())[-most:])


def _count(fields: Fields, name: str) -> int:
    return check_count(fields.get("count", 1), f"update.{name[:80]}.count", least=0, most=2**53)
