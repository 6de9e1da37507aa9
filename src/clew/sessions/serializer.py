"""How a graph's state becomes bytes and comes back: only as types on a list, never by a constructor that bytes name."""

from collections.abc import Iterable
from typing import Any, Final

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from clew.errors import ClewError
from clew.messages import Message

# What the serializer writes. It can also read two older forms, `json` and `pickle`, which name constructors: our tables
# are younger than both, so that one found there was put there by somebody else.
_FORMS: Final = ("null", "bytes", "bytearray", "msgpack")


class StrictSerializer(JsonPlusSerializer):
    """LangGraph's serializer with an allow-list.

    A value of a type that is not on it comes back as the plain data it was stored as, and LangGraph logs its name.
    """

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value, unless it is in a form that we never write."""
        if data[0] not in _FORMS:
            raise ClewError(
                f"a checkpoint holds a value in the form {data[0]!r}, which Clew does not write and will not read",
                fix="Find out who wrote it; clear_session removes it",
            )
        return super().loads_typed(data)


def strict_serializer(types: Iterable[type] = ()) -> StrictSerializer:
    """A serializer for LangChain's and LangGraph's own types, plain data, `clew.Message`, and these."""
    return StrictSerializer(pickle_fallback=False, allowed_json_modules=None, allowed_msgpack_modules=[Message, *types])
