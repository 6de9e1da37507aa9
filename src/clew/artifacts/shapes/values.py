"""How single values are shown, and how much each tells: by its form and by the words of its key."""

import re
from dataclasses import is_dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Any, Final

from clew.artifacts.shapes.binary import BASE64_CHARS_MIN, encoded, sized
from clew.artifacts.shapes.cleaning import one_line, said, vocabulary

TEXT_CHARS: Final = 120
KEY_CHARS: Final = 48

_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATETIME: Final = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?")
_TIME: Final = re.compile(r"(\d{2}:\d{2}):00(\S*)")
_CODE: Final = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[\w.:#/+-]{2,64}")
_CAPITALS: Final = re.compile(r"[A-Z]{2,8}")
_NAME: Final = re.compile(r"[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,3}")
_WORD: Final = re.compile(r"[a-z]+(?:[_-][a-z]+)*")
_NUMBER: Final = re.compile(r"[-+]?[$€£]?\d[\d,]*(?:\.\d+)?%?")

# General words of data models, not of any one of them.
_IDENTITY: Final = vocabulary("id ids uuid guid number no code ref reference sku slug key handle ticket order")
_STATUS: Final = vocabulary(
    "status state error errors message reason outcome result success ok failed exit verdict warning detail"
)
_MONEY: Final = vocabulary(
    "price prices amount total cost balance fee subtotal refund charge paid due revenue salary budget value"
)
_TITLE: Final = vocabulary("name title label subject summary description headline answer")
_MEASURE: Final = vocabulary("count quantity qty available size length score confidence rating limit level tier")
_DULL: Final = vocabulary(
    "address address1 address2 street zip zipcode postal postcode phone fax province country county dob birth birthday"
    " email created updated modified inserted avatar thumbnail icon etag checksum hash version locale timezone tz"
    " latitude longitude lat lng lon html raw debug trace metadata self links"
)


@lru_cache(maxsize=4096)
def key_words(key: str) -> frozenset[str]:
    """The lower-case words of a key: `orderTotal` and `order_total` are both order and total."""
    return frozenset(word.lower() for word in _WORDS.findall(key[:KEY_CHARS])) | {key[:KEY_CHARS].lower()}


def plain(value: Any) -> Any:
    """Data classes and models as the mapping of their fields; every other value as it is."""
    if isinstance(value, dict | list | tuple | str | bytes | int | float | type) or value is None:
        return value
    fields = getattr(value, "__dict__", None)
    if isinstance(fields, dict) and (is_dataclass(value) or hasattr(type(value), "model_fields")):
        return {key: item for key, item in fields.items() if isinstance(key, str) and not key.startswith("_")}
    return sorted(value, key=shown) if isinstance(value, set | frozenset) and len(value) < TEXT_CHARS else value


def shown(value: Any) -> str:
    """A value in as few characters as its reader needs."""
    match value:
        case str():
            blob = encoded(value) if len(value) >= BASE64_CHARS_MIN else None
            return f"<{blob.media_type} {sized(blob.size)}>" if blob else _shown_text(one_line(value, TEXT_CHARS))
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.6g}" if abs(value) < 1e6 else said(value)
        case bytes() | bytearray():
            return f"{len(value):,} bytes"
        case datetime():
            return _shown_text(value.isoformat())
        case date():
            return value.isoformat()
        case _:
            return one_line(said(value), TEXT_CHARS)


def _shown_text(text: str) -> str:
    if found := _DATETIME.fullmatch(text):
        return f"{found[1]} {found[2]}{found[3] or ''}"
    if found := _TIME.fullmatch(text):
        return f"{found[1]}{found[2]}"
    return text


@lru_cache(maxsize=8192)
def form(text: str) -> str:
    """What a shown value looks like: a date, a code, a number, a name, a word, or free text."""
    for name, pattern in _FORMS:
        if pattern.fullmatch(text):
            return name
    return "long" if len(text) > 48 else "text"


_FORMS: Final = (
    ("number", _NUMBER),
    ("date", _DATE),
    ("time", re.compile(r"\d{2}:\d{2}\S*")),
    ("datetime", re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}\S*")),
    ("flag", re.compile(r"(?i)true|false|yes|no|null|none|nan|n/a|")),
    ("link", re.compile(r"https?://\S+|\S+@\S+\.\S+")),
    ("capitals", _CAPITALS),
    ("code", _CODE),
    ("name", _NAME),
    ("word", _WORD),
)
_FORM_WORTH: Final = {
    "code": 1.0,
    "capitals": 0.8,
    "date": 1.2,
    "name": 0.6,
    "word": 0.5,
    "number": 0.5,
    "time": 0.45,
    "datetime": 0.35,
    "text": 0.5,
    "long": 0.7,
    "link": 0.4,
    "flag": 0.3,
}


def worth(keys: tuple[str, ...], text: str) -> float:
    """How much a value tells, from 0 to about 3: identity, state and amounts before descriptions and addresses."""
    kind = form(text)
    found = _FORM_WORTH[kind]
    words = frozenset[str]().union(*(key_words(key) for key in keys[-2:]))
    if words & _STATUS:
        found += 0.8
    elif words & _IDENTITY and kind in ("code", "capitals", "number", "word", "text"):
        found += 0.75
    elif words & _MONEY and kind in ("number", "text", "code"):
        found += 0.35
    elif words & _TITLE:
        found += 0.4
    elif words & _MEASURE:
        found += 0.2
    if not text or text in ("null", "None", "none", "nan"):
        found *= 0.2
    return found * 0.15 if any(key_words(key) & _DULL for key in keys) else found


def names_identity(name: str) -> bool:
    """Whether a column holds ids, of which a range tells nothing."""
    return bool(key_words(name) & _IDENTITY)


def names_amount(name: str) -> bool:
    """Whether a column holds money or measures."""
    return bool(key_words(name) & (_MONEY | _MEASURE))


def needs_label(label: str, text: str) -> bool:
    """Whether a value says nothing without its key: numbers, yes and no, bare words but for those of a status."""
    kind = form(text)
    if not label or (kind == "word" and key_words(label) & _STATUS):
        return False
    return kind in ("number", "flag", "word", "datetime", "text")
