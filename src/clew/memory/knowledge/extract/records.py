"""JSON to facts: each leaf is one, about the record that holds it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from clew.memory.knowledge.extract.draft import Draft
from clew.memory.knowledge.extract.phrases import clipped, phrase_key
from clew.memory.knowledge.extract.values import read_value

LEAVES_MAX: Final = 20_000
VALUE_MAX_CHARS: Final = 2_000
RECORD_CONFIDENCE: Final = 0.9
_NAMES: Final = ("name", "full_name", "title", "subject", "id", "key", "label", "email")
_TRIPLE: Final = ("subject", "predicate", "object")


def records(value: Any, subject: str, reference: Any) -> Iterator[Draft]:
    """The facts of a JSON value; what names nothing is about `subject`."""
    for number, draft in enumerate(_walk(value, subject, (), reference)):
        if number >= LEAVES_MAX:
            return
        yield draft


def _walk(value: Any, subject: str, path: tuple[str, ...], reference: Any) -> Iterator[Draft]:
    if isinstance(value, Mapping):
        yield from _record(value, subject, path, reference)
    elif isinstance(value, list | tuple):
        plain = all(not isinstance(item, Mapping | list | tuple) for item in value)
        for item in value:
            if plain:
                yield from _leaf(item, subject, path, reference, single=False)
            else:
                yield from _walk(item, subject, path, reference)
    else:
        yield from _leaf(value, subject, path, reference, single=True)


def _record(value: Mapping[str, Any], subject: str, path: tuple[str, ...], reference: Any) -> Iterator[Draft]:
    if all(isinstance(value.get(part), str) for part in _TRIPLE):
        yield from _leaf(value["object"], value["subject"], (value["predicate"],), reference, single=False)
        return
    named = next((key for key in _NAMES if isinstance(value.get(key), str | int) and str(value[key]).strip()), None)
    if named is not None:
        subject, path = str(value[named]), ()
    for key, item in value.items():
        if key != named:
            yield from _walk(item, subject, (*path, _spaced(key)), reference)
    if named is not None and len(value) == 1:
        yield from _leaf(subject, subject, (_spaced(named),), reference, single=True)


def _leaf(value: Any, subject: str, path: tuple[str, ...], reference: Any, *, single: bool) -> Iterator[Draft]:
    if value is None or (isinstance(value, str) and not value.strip()):
        return
    text = (str(value).lower() if isinstance(value, bool) else str(value))[:VALUE_MAX_CHARS]
    which = " ".join(path) or "value"
    topic = phrase_key(f"{which} of {subject}")
    read = read_value(text, reference)
    kind = "text" if read.kind in ("name", "quality", "class") else read.kind
    yield Draft(
        text=f"{subject}: {which} is {text}",
        subject=subject,
        predicate=which,
        object=text,
        subject_key=phrase_key(subject),
        object_key=phrase_key(text) if read.kind == "name" else "",
        topic=topic,
        slot=f"{topic}/is {kind}",
        value=read.key or clipped(text.lower()),
        single=single,
        confidence=RECORD_CONFIDENCE,
        evidence=f"{which}: {text}",
    )


def _spaced(key: str) -> str:
    """A key as words: phoneNumber and phone_number are “phone number”."""
    return re.sub(r"[_\-.\s]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", key)).strip().lower() or key
