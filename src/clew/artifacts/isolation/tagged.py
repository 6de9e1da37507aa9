"""JSON with tags, for what plain JSON forgets: `{"$clew": "decimal", "value": "1.10"}`."""

import base64
import json
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic_core import TzInfo

from clew.artifacts.isolation.classes import CLASS_KINDS, NotExact, instance, kind_of_class, name_of_class, parts_of
from clew.errors import ClewError, Damaged
from clew.limits import JSON_INTEGER_MAX_BITS

TAG: Final = "$clew"
_PATHS: Final[dict[str, type[PurePath]]] = {
    kind.__name__: kind for kind in (PosixPath, WindowsPath, PurePosixPath, PureWindowsPath)
}
Node = Any
Write = Callable[[Any, int], Node]


def to_tagged(value: Any, depth: int) -> Node:
    """The value as JSON with tags, when `from_tagged` makes the same of it again; `NotExact` otherwise."""
    node = _write(value, depth)
    # Only put together again does an instance show that its class takes back what it gave.
    try:
        again = _write(from_tagged(node), depth)
    except ClewError as error:
        raise NotExact(str(error)) from error
    if json.dumps(again) != json.dumps(node):
        raise NotExact("it does not come back as it was: its class changes what it is given")
    return node


def from_tagged(node: Node) -> Any:
    """The value that was written."""
    if isinstance(node, list):
        return [from_tagged(item) for item in node]
    if not isinstance(node, dict):
        return node
    if TAG not in node:
        return {key: from_tagged(item) for key, item in node.items()}
    tag = node[TAG]
    try:
        if tag in CLASS_KINDS:
            parts = {name: from_tagged(part) for name, part in node.items() if name not in (TAG, "class")}
            return instance(node["class"], tag, parts)
        return _READERS[tag](node)
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise Damaged(f"a stored value of kind {tag!a} can't be read") from error


def _write(value: Any, depth_left: int) -> Node:
    if depth_left == 0:
        raise NotExact("it is nested too deep, or holds itself")
    if write := _WRITERS.get(type(value)):
        return write(value, depth_left - 1)
    kind = kind_of_class(type(value))
    if kind is None:
        raise NotExact(f"{type(value).__name__} is not a kind of value that can be kept")
    # Read the name first: what can't be found again need not be taken apart.
    name = name_of_class(type(value))
    parts = {part: _write(held, depth_left - 1) for part, held in parts_of(value, kind).items()}
    return {TAG: kind, "class": name, **parts}


def _write_int(value: int, _: int) -> Node:
    # In hexadecimal where it is long: Python refuses to write more than a few thousand decimal digits.
    return value if value.bit_length() <= JSON_INTEGER_MAX_BITS else {TAG: "int", "value": hex(value)}


def _write_float(value: float, _: int) -> Node:
    return value if math.isfinite(value) else {TAG: "float", "value": repr(value)}


def _write_str(value: str, _: int) -> Node:
    try:
        value.encode()
    except UnicodeEncodeError:
        # Not as JSON escapes, which would join two halves that stand side by side into one character.
        return {TAG: "str", "value": _base64(value.encode("utf-8", "surrogatepass"))}
    return value


def _write_dict(value: dict[Any, Any], depth: int) -> Node:
    written = [(_write(key, depth), _write(item, depth)) for key, item in value.items()]
    if TAG not in value and all(type(key) is str for key, _ in written):
        return dict(written)
    return {TAG: "dict", "items": [list(pair) for pair in written]}


def _write_datetime(value: datetime, _: int) -> Node:
    node = {TAG: "datetime", "value": value.replace(tzinfo=None, fold=0).isoformat()}
    return node | _zone(value.tzinfo) | ({"fold": 1} if value.fold else {})


def _write_time(value: time, _: int) -> Node:
    node = {TAG: "time", "value": value.replace(tzinfo=None, fold=0).isoformat()}
    return node | _zone(value.tzinfo) | ({"fold": 1} if value.fold else {})


def _zone(zone: tzinfo | None) -> dict[str, Any]:
    if zone is None:
        return {}
    if type(zone) is timezone:
        offset, *name = zone.__getinitargs__()  # type: ignore[attr-defined]
        return {"offset": _timedelta(offset)} | ({"zone_name": name[0]} if name else {})
    if type(zone) is ZoneInfo and zone.key is not None:
        return {"zone": zone.key}
    if type(zone) is TzInfo:  # what Pydantic gives a date it has parsed
        return {"parsed_offset_s": int((zone.utcoffset(None) or timedelta()).total_seconds())}
    raise NotExact(f"its time zone is of the kind {type(zone).__name__}")


def _read_zone(node: Mapping[str, Any]) -> tzinfo | None:
    if "offset" in node:
        offset = timedelta(*node["offset"])
        if "zone_name" in node:
            return timezone(offset, node["zone_name"])
        return timezone(offset) if offset else UTC
    if "zone" in node:
        return ZoneInfo(node["zone"])
    return TzInfo(node["parsed_offset_s"]) if "parsed_offset_s" in node else None


def _write_path(value: PurePath, depth: int) -> Node:
    return {TAG: "path", "kind": type(value).__name__, "value": _write(str(value), depth)}


def _timedelta(value: timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


def _base64(data: bytes | bytearray) -> str:
    return base64.b64encode(data).decode()


def _bytes(node: Mapping[str, Any]) -> bytes:
    return base64.b64decode(node["value"], validate=True)


def _sequence(tag: str) -> Write:
    return lambda value, depth: {TAG: tag, "items": [_write(item, depth) for item in value]}


def _unordered(tag: str) -> Write:
    return lambda value, depth: {TAG: tag, "items": sorted((_write(item, depth) for item in value), key=json.dumps)}


def _as(tag: str, text: Callable[[Any], Any]) -> Write:
    return lambda value, _: {TAG: tag, "value": text(value)}


def _itself(value: Any, _: int) -> Node:
    return value


_WRITERS: Final[dict[type, Write]] = {
    type(None): _itself,
    bool: _itself,
    int: _write_int,
    float: _write_float,
    complex: _as("complex", repr),
    str: _write_str,
    bytes: _as("bytes", _base64),
    bytearray: _as("bytearray", _base64),
    list: lambda value, depth: [_write(item, depth) for item in value],
    tuple: _sequence("tuple"),
    set: _unordered("set"),
    frozenset: _unordered("frozenset"),
    dict: _write_dict,
    OrderedDict: lambda value, depth: {
        TAG: "OrderedDict",
        "items": [[_write(key, depth), _write(item, depth)] for key, item in value.items()],
    },
    date: _as("date", date.isoformat),
    datetime: _write_datetime,
    time: _write_time,
    timedelta: _as("timedelta", _timedelta),
    Decimal: _as("decimal", str),
    Fraction: _as("fraction", str),
    UUID: _as("uuid", str),
    **dict.fromkeys(_PATHS.values(), _write_path),
}


def _items(node: Mapping[str, Any]) -> list[Any]:
    return [from_tagged(item) for item in node["items"]]


_READERS: Final[dict[str, Callable[[Mapping[str, Any]], Any]]] = {
    "int": lambda node: int(node["value"], 16),
    "float": lambda node: float(node["value"]),
    "complex": lambda node: complex(node["value"]),
    "str": lambda node: _bytes(node).decode("utf-8", "surrogatepass"),
    "bytes": _bytes,
    "bytearray": lambda node: bytearray(_bytes(node)),
    "tuple": lambda node: tuple(_items(node)),
    "set": lambda node: set(_items(node)),
    "frozenset": lambda node: frozenset(_items(node)),
    "dict": lambda node: dict(_items(node)),
    "OrderedDict": lambda node: OrderedDict(_items(node)),
    "date": lambda node: date.fromisoformat(node["value"]),
    "datetime": lambda node: datetime.fromisoformat(node["value"]).replace(
        tzinfo=_read_zone(node), fold=node.get("fold", 0)
    ),
    "time": lambda node: time.fromisoformat(node["value"]).replace(tzinfo=_read_zone(node), fold=node.get("fold", 0)),
    "timedelta": lambda node: timedelta(*node["value"]),
    "decimal": lambda node: Decimal(node["value"]),
    "fraction": lambda node: Fraction(node["value"]),
    "uuid": lambda node: UUID(node["value"]),
    "path": lambda node: _PATHS[node["kind"]](from_tagged(node["value"])),
}
