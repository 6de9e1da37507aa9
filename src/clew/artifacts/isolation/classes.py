"""Instances of a program's own classes, taken apart and put together again.

A class is found by its name among what is loaded already, and only if it is what it was: an enumeration, a Pydantic
model, a dataclass or a named tuple. Nothing is imported because stored data names it.
"""

import dataclasses
import sys
from collections.abc import Mapping
from enum import Enum, Flag
from typing import Any, Final

from pydantic import BaseModel, RootModel

from clew.errors import ClewError, Misconfigured

CLASS_KINDS: Final = ("enum", "model", "dataclass", "namedtuple")


class NotExact(ValueError):
    """This result can't be kept so that it comes back as it was; the text says why."""


def kind_of_class(cls: type) -> str | None:
    """Which of the kinds of class this is that can be put together again."""
    if issubclass(cls, Enum):
        return "enum"
    if issubclass(cls, BaseModel):
        return "model"
    if dataclasses.is_dataclass(cls):
        return "dataclass"
    if issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple):
        return "namedtuple"
    return None


def name_of_class(cls: type) -> str:
    """`module:Name` of a class that can be found again by it."""
    name = f"{cls.__module__}:{cls.__qualname__}"
    if _find(name) is not cls:
        raise NotExact(f"its class {cls.__qualname__} can't be found by name: it is not at the top of a module")
    return name


def loaded_class(name: str, kind: str) -> type:
    """The class of this name, when it is loaded and of the kind that it was."""
    found = _find(name)
    module = name.partition(":")[0]
    if found is None:
        raise Misconfigured(
            f"this result holds an instance of {name!a}, which is not loaded",
            fix=f"Import {module!a} first: Clew imports nothing because stored data names it",
        )
    if not isinstance(found, type) or kind_of_class(found) != kind:
        raise _changed(name)
    return found


def parts_of(value: Any, kind: str) -> dict[str, Any]:
    """What an instance is made of, by name."""
    if kind == "enum":
        return {"member": value.value if isinstance(value, Flag) else value.name}
    if kind == "model":
        return _model_parts(value)
    if kind == "namedtuple":
        return {"fields": dict(zip(value._fields, value, strict=True))}
    names = [field.name for field in dataclasses.fields(value)]
    if set(getattr(value, "__dict__", ())) - set(names):
        raise NotExact(f"this {type(value).__name__} has attributes that are no fields")
    try:
        return {"fields": {name: getattr(value, name) for name in names}}
    except AttributeError as error:
        raise NotExact(f"this {type(value).__name__} has a field without a value") from error


def instance(name: str, kind: str, parts: Mapping[str, Any]) -> Any:
    """An instance made of its parts."""
    cls = loaded_class(name, kind)
    try:
        return _BUILDERS[kind](cls, parts)
    except ClewError:
        raise
    except Exception as error:  # a model's validators are the caller's code and may raise anything
        raise _changed(name) from error


def _find(name: str) -> Any:
    """What is loaded under a name. Looked up in dictionaries, since asking a module may make it import something."""
    module, _, path = name.partition(":")
    place = getattr(sys.modules.get(module), "__dict__", {})
    if path in place:  # a generic model, such as Page[shop.Order], is there under a name with dots in it
        return place[path]
    *outer, last = path.split(".")
    for step in outer:
        inner = place.get(step)
        place = vars(inner) if isinstance(inner, type) else {}
    return place.get(last)


def _changed(name: str) -> Misconfigured:
    return Misconfigured(f"{name!a} is no longer the class that this result was made with")


def _model_parts(value: BaseModel) -> dict[str, Any]:
    held = value.__dict__
    # What else is in there are cached properties, which make themselves again.
    parts: dict[str, Any] = {"fields": {name: held[name] for name in type(value).model_fields if name in held}}
    if value.model_fields_set != {*parts["fields"], *(value.__pydantic_extra__ or ())}:
        parts["set"] = sorted(value.model_fields_set)
    if value.__pydantic_extra__:
        parts["extra"] = value.__pydantic_extra__
    if value.__pydantic_private__:
        parts["private"] = value.__pydantic_private__
    return parts


def _model(cls: type[BaseModel], parts: Mapping[str, Any]) -> BaseModel:
    fields, extra = parts["fields"], parts.get("extra") or {}
    given = fields["root"] if issubclass(cls, RootModel) else {**fields, **extra}
    made = cls.model_validate(given, by_alias=False, by_name=True)
    names = set(parts["set"]) if "set" in parts else {*fields, *extra}
    object.__setattr__(made, "__pydantic_fields_set__", names)
    if "private" in parts:
        object.__setattr__(made, "__pydantic_private__", dict(parts["private"]))
    return made


def _dataclass(cls: type[Any], parts: Mapping[str, Any]) -> Any:
    """Field by field, past `__init__` and `__post_init__`: the values are what those once made."""
    fields = parts["fields"]
    if {field.name for field in dataclasses.fields(cls)} != set(fields):
        raise ValueError("other fields")
    made = object.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def _namedtuple(cls: type[Any], parts: Mapping[str, Any]) -> Any:
    if list(cls._fields) != list(parts["fields"]):
        raise ValueError("other fields")
    return tuple.__new__(cls, parts["fields"].values())


def _enum(cls: type[Any], parts: Mapping[str, Any]) -> Any:
    return cls(parts["member"]) if issubclass(cls, Flag) else cls.__members__[parts["member"]]


_BUILDERS: Final = {"enum": _enum, "model": _model, "dataclass": _dataclass, "namedtuple": _namedtuple}
