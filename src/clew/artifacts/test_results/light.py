"""Test results made light: what is big becomes an artifact, what remains keeps its shape."""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

from clew.artifacts.ref import ArtifactRef
from clew.artifacts.shapes.binary import Encoded, encoded, sized
from clew.artifacts.shapes.cleaning import one_line
from clew.artifacts.shapes.excerpts import excerpt, facts
from clew.artifacts.shapes.recognise import recognised
from clew.artifacts.shapes.values import plain
from clew.artifacts.test_results.pictures import OCTETS, Picture, media_type_of_bytes, picture_of, thumbnail
from clew.errors import InvalidInput
from clew.limits import JSON_INTEGER_MAX_BITS, JSON_MAX_DEPTH
from clew.tokens import count

Put = Callable[..., Awaitable[ArtifactRef]]

REFS: Final = "_artifact_refs"
MORE: Final = "_more"
# A text of more tokens than this is moved out; HTML sooner, since most of it is markup.
LONG_TEXT_TOKENS: Final = 400
LONG_HTML_TOKENS: Final = 100
# A list or mapping of more characters than this keeps its first parts and its counts.
LONG_JSON_CHARS: Final = 2_400
KEPT_JSON_CHARS: Final = 500
# The whole light result, `_artifact_refs` apart; its largest parts are moved out until it is shorter.
LIGHT_MAX_CHARS: Final = 3_000
NAME_MAX_CHARS: Final = 120
# Longer texts are over any threshold, so they need not be counted.
_COUNTED_CHARS: Final = 16_000
_EXTENSIONS: Final = {
    "text/html": "html", "text/plain": "txt", "application/json": "json", "text/csv": "csv", "text/x-diff": "diff",
    "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "application/pdf": "pdf",
}  # fmt: skip


async def lighten(full_result: dict[str, Any], put: Put) -> dict[str, Any]:
    """The result in the same shape, with images, bytes, HTML, logs, long texts and huge lists stored through `put`.

    A string stays a string: a short excerpt that ends in `[artifact art_…]`. A long list keeps its first items, then a
    string that says how many more there are. `"_artifact_refs"` lists all that was taken out, each with its place. The
    input is never changed; a result that is light already keeps its references. Values that JSON has no word for are
    carried as text where they have one (dates, decimals, paths, NaN); others, and results that hold themselves or nest
    deeper than 64 levels, raise `InvalidInput` naming the place. When `put` raises, so does this.
    """
    if not isinstance(full_result, dict):
        raise InvalidInput(f"expected a dict, got {type(full_result).__name__}", where="full_result")
    lightener = Lightener(put, _earlier_refs(full_result))
    body = {key: item for key, item in full_result.items() if key != REFS}
    light = await lightener.whole(body)
    light[REFS] = lightener.refs
    return light


def _earlier_refs(full_result: dict[str, Any]) -> list[dict[str, Any]]:
    refs = full_result.get(REFS, [])
    if not isinstance(refs, list | tuple) or not all(isinstance(ref, dict) and "artifact_id" in ref for ref in refs):
        raise InvalidInput(
            "is not a list of references", where=REFS, fix=f"Give {REFS} back as it came, or leave it out"
        )
    return [dict(ref) for ref in refs]


@dataclass(slots=True)
class Weighed:
    """A light value, and about how long its JSON is."""

    value: Any
    chars: int


@dataclass(slots=True)
class Lightener:
    """One walk over one result: stores each big value once, however often it occurs."""

    put: Put
    refs: list[dict[str, Any]]
    stored: dict[tuple[str, str | bytes], tuple[ArtifactRef, dict[str, Any]]] = field(default_factory=dict)
    above: list[int] = field(default_factory=list)

    async def whole(self, body: dict[str, Any]) -> dict[str, Any]:
        """The light result; its largest parts go out too while it is too long as a whole."""
        parts = await self._parts(body, "$")
        total = sum(part.chars for part in parts.values())
        for key in sorted(parts, key=lambda name: -parts[name].chars):
            if total <= LIGHT_MAX_CHARS or parts[key].chars <= KEPT_JSON_CHARS:
                break
            if isinstance(parts[key].value, dict | list | tuple):
                total -= parts[key].chars
                parts[key] = await self._shortened(parts[key].value, _step("$", key))
                total += parts[key].chars
        light = {key: part.value for key, part in parts.items()}
        if total > 2 * LIGHT_MAX_CHARS:
            light = (await self._shortened(light, "$")).value
        return light

    async def _walk(self, value: Any, place: str) -> Weighed:
        value = plain(value)
        if isinstance(value, dict | list | tuple):
            return await self._container(value, place)
        if isinstance(value, bytes | bytearray | memoryview):
            data = bytes(value)
            return await self._data(data, media_type_of_bytes(data), place) if data else Weighed("", 2)
        if isinstance(value, str) and not isinstance(value, Enum):
            return await self._text(value, place)
        found = _scalar(value, place)
        return Weighed(found, len(found) + 2 if isinstance(found, str) else 6)

    async def _container(self, value: Any, place: str) -> Weighed:
        if id(value) in self.above:
            raise InvalidInput("the result holds itself", where=place, fix="Break the cycle before storing it")
        if len(self.above) >= JSON_MAX_DEPTH:
            raise InvalidInput(f"is nested deeper than {JSON_MAX_DEPTH} levels", where=place[:200])
        self.above.append(id(value))
        light, chars = await self._inside(value, place)
        self.above.pop()
        return await self._shortened(light, place) if chars > LONG_JSON_CHARS else Weighed(light, chars)

    async def _inside(self, value: Any, place: str) -> tuple[Any, int]:
        if isinstance(value, dict):
            parts = await self._parts(value, place)
            return {key: part.value for key, part in parts.items()}, 2 + sum(part.chars for part in parts.values())
        items = [await self._walk(item, f"{place}[{at}]") for at, item in enumerate(value)]
        light = [item.value for item in items]
        return tuple(light) if isinstance(value, tuple) else light, 2 + sum(item.chars + 2 for item in items)

    async def _parts(self, value: dict[Any, Any], place: str) -> dict[Any, Weighed]:
        parts = {}
        for key, item in value.items():
            if not (key is None or isinstance(key, str | int | float)):
                raise InvalidInput(f"has a key of type {type(key).__name__}", where=place, fix="JSON keys are text")
            part = await self._walk(item, _step(place, key))
            parts[key] = Weighed(part.value, part.chars + len(str(key)) + 6)
        return parts

    async def _text(self, text: str, place: str) -> Weighed:
        blob = encoded(text)
        if blob and (found := await self._encoded(blob, text, place)):
            return found
        if not _is_long(text):
            return Weighed(text, len(text) + 2)
        _check_storable(text, place)
        seen = recognised(text)
        ref = await self._stored(text, seen.media_type, place, {"kind": seen.kind, **facts(text, seen.kind)})
        shown = excerpt(seen.sketch(), ref.artifact_id)
        return Weighed(shown, len(shown) + 2)

    async def _encoded(self, blob: Encoded, text: str, place: str) -> Weighed | None:
        """The decoded bytes as an artifact; None where decoding would lose something, so that the text is kept."""
        data = blob.decoded()
        if not data or (blob.media_type == OCTETS and not _is_long(text)):
            return None
        return await self._data(data, blob.media_type, place, {"encoding": "base64"})

    async def _data(self, data: bytes, media_type: str, place: str, details: dict[str, Any] | None = None) -> Weighed:
        details, picture = dict(details or {}), None
        if media_type.startswith("image/"):
            picture = await asyncio.to_thread(picture_of, data)
            if picture and (media_type, data) not in self.stored:
                details |= {"width": picture.width, "height": picture.height, **await self._thumbnail(data, place)}
        ref = await self._stored(data, media_type, place, details)
        shown = f"{_pictured(media_type, picture)}, {sized(len(data))} [artifact {ref.artifact_id}]"
        return Weighed(shown, len(shown) + 2)

    async def _thumbnail(self, data: bytes, place: str) -> dict[str, Any]:
        small = await asyncio.to_thread(thumbnail, data)
        if small is None:
            return {}
        ref = await self.put(
            small[0],
            media_type=small[1].media_type,
            name=_name(f"{place}.thumbnail", small[1].media_type),
            details={"width": small[1].width, "height": small[1].height},
        )
        return {"thumbnail": ref.artifact_id}

    async def _shortened(self, value: Any, place: str) -> Weighed:
        """The first parts of a list or mapping, then how many more there are and where all of them are."""
        data = json.dumps(value, ensure_ascii=False)
        _check_storable(data, place)
        seen = recognised(value)
        counts = {"kind": seen.kind, "count": len(value)}
        ref = await self._stored(data, "application/json", place, counts)
        kept, chars = _first(value)
        more = f"{len(value) - len(kept):,} more. {excerpt(seen.sketch(), ref.artifact_id)}"
        if isinstance(value, dict):
            return Weighed({**kept, MORE: more}, chars + len(more) + 12)
        return Weighed([*kept, more] if isinstance(value, list) else (*kept, more), chars + len(more) + 4)

    async def _stored(self, data: str | bytes, media_type: str, place: str, details: dict[str, Any]) -> ArtifactRef:
        if (media_type, data) not in self.stored:
            ref = await self.put(data, media_type=media_type, name=_name(place, media_type), details=details)
            self.stored[media_type, data] = ref, details
        ref, details = self.stored[media_type, data]
        self.refs.append(
            {
                "artifact_id": ref.artifact_id,
                "media_type": ref.media_type,
                "size": ref.size,
                "path": place,
                "name": ref.name,
                **details,
            }
        )
        return ref


def _is_long(text: str) -> bool:
    if len(text) <= LONG_HTML_TOKENS:
        return False
    if len(text) > _COUNTED_CHARS:
        return True
    tokens = count(text)
    return tokens > LONG_TEXT_TOKENS or (tokens > LONG_HTML_TOKENS and recognised(text).kind == "html")


def _first(value: Any) -> tuple[Any, int]:
    """The first items or fields that are short enough to stay."""
    chars, kept = 0, 0
    items = list(value.items()) if isinstance(value, dict) else list(value)
    for item in items:
        chars += len(json.dumps(item, ensure_ascii=False))
        if chars > KEPT_JSON_CHARS or kept == len(items) - 1:
            break
        kept += 1
    return dict(items[:kept]) if isinstance(value, dict) else items[:kept], min(chars, KEPT_JSON_CHARS)


def _scalar(value: Any, place: str) -> Any:
    """A plain value as JSON holds it."""
    match value:
        case None | bool():
            return value
        case Enum():
            return _scalar(value.value, place)
        case int() if value.bit_length() <= JSON_INTEGER_MAX_BITS:
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case str():
            return str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal() | UUID() | PurePath():
            return str(value)
        case int():
            raise InvalidInput("is a number of more than 308 digits", where=place, fix="Send it as text")
    raise InvalidInput(f"{type(value).__name__} is not JSON", where=place, fix="Give it as text, a number or a list")


def _check_storable(text: str, place: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"holds a lone surrogate at position {error.start}",
            where=place,
            fix="Decode the source with errors='replace', or re-encode it",
        ) from None


def _step(place: str, key: Any) -> str:
    """The place of a key below another, in JSONPath's spelling."""
    if isinstance(key, str) and key.isidentifier():
        return f"{place}.{key}"
    return f"{place}[{json.dumps(one_line(str(key), 80), ensure_ascii=False)}]"


def _name(place: str, media_type: str) -> str:
    stem = "".join(char if char.isalnum() or char in "._-" else "-" for char in place[1:]).strip(".-") or "result"
    return f"{stem[-NAME_MAX_CHARS:].strip('.-')}.{_EXTENSIONS.get(media_type, 'bin')}"


def _pictured(media_type: str, picture: Picture | None) -> str:
    return f"{media_type} {picture.width}×{picture.height}" if picture else media_type
