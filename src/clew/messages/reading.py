"""Reading what came from outside: each value is taken by name, errors say where, and what nobody took is kept."""

import copy
import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from clew.errors import InvalidInput
from clew.limits import JSON_MAX_DEPTH
from clew.messages.message import ROLES, Message, Role


class Fields:
    """One JSON object from outside. Take what you know by name; `rest()` is what nobody took, and nothing is lost."""

    def __init__(self, value: object, where: str) -> None:
        if isinstance(value, BaseModel):  # the SDKs' own objects: people append response.content as it came
            value = value.model_dump(mode="json", exclude_unset=True)
        if not isinstance(value, Mapping):
            raise InvalidInput(f"expected an object, got {type(value).__name__}", where=where)
        self.where = where
        self._left: dict[Any, Any] = dict(value)

    def peek(self, key: str) -> Any:
        """The value, left where it is; None when absent."""
        return self._left.get(key)

    def has(self, key: str) -> bool:
        """Whether the key is there and not yet taken."""
        return key in self._left

    def take(self, key: str) -> Any:
        """The value, whatever it is; None when absent."""
        return self._left.pop(key, None)

    def text(self, key: str, *, fix: str | None = None, allow_empty: bool = True) -> str:
        """The text under a key that must be there."""
        where = f"{self.where}.{key}"
        if key not in self._left:
            raise InvalidInput("is missing", where=where, fix=fix)
        value = text_at(self._left[key], where, fix=fix)
        if not value and not allow_empty:
            raise InvalidInput("must not be empty", where=where, fix=fix)
        del self._left[key]
        return value

    def maybe_text(self, key: str) -> str | None:
        """The text under a key that may be absent. A null is left for `rest()`, so that it comes back as a null."""
        if self._left.get(key) is None:
            return None
        return self.text(key)

    def inner(self, key: str) -> "Fields":
        """The object under a key that must be there."""
        where = f"{self.where}.{key}"
        if key not in self._left:
            raise InvalidInput("is missing", where=where)
        return Fields(self._left.pop(key), where)

    def rest(self) -> dict[str, Any]:
        """A copy of everything not taken."""
        return cast(dict[str, Any], plain(self._left, self.where))


def text_at(value: object, where: str, *, fix: str | None = None) -> str:
    """The text itself, when it is text that can be written as UTF-8."""
    if not isinstance(value, str):
        raise InvalidInput(f"expected text, got {type(value).__name__}", where=where, fix=fix)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"holds a lone surrogate at position {error.start}",
                where=where,
                fix="Decode the source with errors='replace', or re-encode it",
            ) from None
    return value


def list_at(value: object, where: str, *, what: str = "a list") -> Sequence[Any]:
    """The items, when the value is a list or a tuple."""
    if isinstance(value, list | tuple):
        return value
    raise InvalidInput(f"expected {what}, got {type(value).__name__}", where=where)


def plain(value: object, where: str, depth_left: int = JSON_MAX_DEPTH) -> Any:
    """A copy of a JSON value that shares nothing with the caller's, so a frozen message stays as it is."""
    if depth_left == 0:
        raise InvalidInput(f"is nested deeper than {JSON_MAX_DEPTH} levels", where=where)
    match value:
        case None | bool() | int():
            return value
        case float():
            if not math.isfinite(value):
                raise InvalidInput(f"{value} is not a JSON number", where=where, fix="Send a finite number, or null")
            return value
        case str():
            return text_at(value, where)
        case list() | tuple():
            return [plain(item, f"{where}[{index}]", depth_left - 1) for index, item in enumerate(value)]
        case Mapping():
            return {_key(key, where): plain(item, f"{where}.{key}", depth_left - 1) for key, item in value.items()}
        case BaseModel():
            return plain(value.model_dump(mode="json", exclude_unset=True), where, depth_left)
    raise InvalidInput(f"{type(value).__name__} is not JSON", where=where, fix="Keep it elsewhere and send a reference")


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise InvalidInput(f"has the key {key!r}", where=where, fix="JSON keys are text")
    return text_at(key, f"{where} key")


def role_at(fields: Fields, allowed: Sequence[Role] = ROLES) -> Role:
    """The role, when it is one of those allowed."""
    names = ", ".join(allowed)
    value = fields.text("role", fix=f"Roles are {names}")
    if value not in allowed:
        raise InvalidInput(
            f"unknown role {shown(value)}", where=f"{fields.where}.role", fix=hint(value, allowed, "Roles")
        )
    return cast(Role, value)


def unknown_type(fields: Fields, value: str, known: Sequence[str]) -> InvalidInput:
    """The error for a part or block of a type that the format does not have."""
    return InvalidInput(
        f"unknown type {shown(value)}", where=f"{fields.where}.type", fix=hint(value, known, "Types here")
    )


def hint(value: str, known: Sequence[str], noun: str) -> str:
    """What would be right: the nearest known name, or all of them."""
    near = difflib.get_close_matches(value, known, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"{noun} are {', '.join(known)}"


def shown(value: object) -> str:
    """A value as an error shows it: quoted, and not too long."""
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def neutral_messages(messages: object) -> list[Message]:
    """The messages, when they are all ours."""
    if isinstance(messages, str | bytes | Mapping | Message) or not isinstance(messages, Iterable):
        raise InvalidInput(f"expected a list of messages, got {type(messages).__name__}", where="messages")
    checked = []
    for index, message in enumerate(messages):
        if not isinstance(message, Message):
            raise InvalidInput(
                f"expected a clew.Message, got {type(message).__name__}",
                where=f"messages[{index}]",
                fix="Convert it first, with from_openai or one of its siblings",
            )
        checked.append(message)
    return checked


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Turns a refusal by the message's own model into an error that says where in the input it arose."""
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
        raise InvalidInput(first["msg"], where=f"{where}{path}") from None


def add_fields(out: dict[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """`out` with the fields it does not have yet, copied; objects in both are joined. What we wrote ourselves wins."""
    for key, value in fields.items():
        if key not in out:
            out[key] = copy.deepcopy(value)
        elif isinstance(out[key], dict) and isinstance(value, Mapping):
            add_fields(out[key], value)
    return out
