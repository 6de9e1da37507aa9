"""An episode as it was sent: checked, and read into what was said and by whom."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from clew.errors import InvalidInput
from clew.limits import TEXT_MAX_BYTES, check_json, check_text
from clew.memory.knowledge.extract import HEARSAY, Draft, Extracted, Passage, extract, records
from clew.messages import Message, from_openai

NAME_MAX_BYTES: Final = 1024
SOURCES: Final = ("text", "message", "json")
MESSAGES_MAX: Final = 10_000
# What the model was told to do says nothing about the world.
_SILENT_ROLES: Final = frozenset({"system", "developer"})


@dataclass(frozen=True, slots=True)
class Sent:
    """An episode that can be stored: its body as text, and what it says."""

    name: str
    source: str
    source_description: str
    thread_id: str | None
    body: str
    reference_time: datetime
    extracted: Extracted
    user_id: str | None = None
    # Who said what, for whoever reads it with a model; none of JSON.
    passages: tuple[Passage, ...] = ()


def read_episode(
    name: Any,
    body: Any,
    source: Any = "text",
    source_description: Any = "",
    reference_time: Any = None,
    thread_id: Any = None,
    message_id: Any = None,
    user_id: Any = None,
) -> Sent:
    """The episode, checked; `InvalidInput` says what is wrong with it."""
    check_text(name, "name", max_bytes=NAME_MAX_BYTES, allow_empty=False)
    check_text(source_description, "source_description", max_bytes=NAME_MAX_BYTES)
    if source not in SOURCES:
        raise InvalidInput("is not a kind of episode", where="source", fix=f"Use one of {', '.join(SOURCES)}")
    for value, where in ((thread_id, "thread_id"), (message_id, "message_id"), (user_id, "user_id")):
        if value is not None:
            check_text(value, where, max_bytes=NAME_MAX_BYTES, allow_empty=False)
    moment = read_moment(reference_time, "reference_time") or datetime.now(UTC)
    if source == "json" or (source == "text" and _recorded(body)):
        value, text = _json(body)
        extracted = Extracted(tuple(_of_record(value, name, moment, message_id)))
        return Sent(name, "json", source_description, thread_id, text, moment, extracted, user_id)
    passages, text = _passages(body, source, message_id)
    kind = "text" if isinstance(body, str) and source == "text" else "message"
    said = extract(passages, moment)
    return Sent(name, kind, source_description, thread_id, text, moment, said, user_id, tuple(passages))


def trusted(sent: Sent, confidence: Any) -> Sent:
    """The episode with the caller's own confidence in it. Hearsay, and what could not be read, gains nothing by it."""
    if confidence is None:
        return sent
    known = isinstance(confidence, int | float) and not isinstance(confidence, bool) and 0.0 <= confidence <= 1.0
    if not known:
        raise InvalidInput("expected a number from 0 to 1", where="confidence")
    drafts = tuple(
        replace(one, confidence=min(one.confidence, confidence) if one.confidence <= HEARSAY else float(confidence))
        for one in sent.extracted.drafts
    )
    return replace(sent, extracted=replace(sent.extracted, drafts=drafts))


def read_moment(value: Any, where: str) -> datetime | None:
    """A time in UTC; one without a zone is taken to be in it."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            value = None
    if not isinstance(value, datetime):
        raise InvalidInput(
            "this is not a time", where=where, fix="Send a datetime, or ISO 8601: 2024-05-01T12:00:00+00:00"
        )
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput("lies outside the years 1 to 9999 in UTC", where=where) from None


def _of_record(value: Any, name: str, moment: datetime, message_id: str | None) -> Iterator[Draft]:
    for draft in records(value, name, moment):
        yield replace(draft, message_id=message_id)


def _json(body: Any) -> tuple[Any, str]:
    if isinstance(body, str):
        check_text(body, "episode_body", max_bytes=TEXT_MAX_BYTES)
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            raise InvalidInput("is not JSON", where="episode_body", fix='Send JSON, or source="text"') from None
        return check_json(value, "episode_body"), body
    check_json(body, "episode_body")
    text = json.dumps(body, ensure_ascii=False)
    return body, check_text(text, "episode_body", max_bytes=TEXT_MAX_BYTES)


def _recorded(body: Any) -> bool:
    """Whether a body is records, sent as what they are."""
    items = body if isinstance(body, list) else [body]
    return bool(items) and bool(items[0]) and all(isinstance(item, Mapping) for item in items) and not _said(body)


def _said(body: Any) -> bool:
    """Whether a value is messages and not a record."""
    items = body if isinstance(body, list) else [body]
    return bool(items) and all(
        isinstance(item, Message) or (isinstance(item, Mapping) and "role" in item and "content" in item)
        for item in items
    )


def _passages(body: Any, source: str, message_id: str | None) -> tuple[list[Passage], str]:
    if isinstance(body, str):
        check_text(body, "episode_body", max_bytes=TEXT_MAX_BYTES)
        if not body.strip():
            raise InvalidInput("must not be empty", where="episode_body")
        return (_lines(body, message_id) if source == "message" else [Passage(body, message_id)]), body
    messages = _messages(body)
    passages = [
        Passage(one.text, one.id or message_id, one.role, one.name)
        for one in messages
        if one.role not in _SILENT_ROLES and one.text.strip()
    ]
    if not passages:
        raise InvalidInput("says nothing", where="episode_body")
    text = "\n".join(f"{one.speaker or one.role}: {one.text}" for one in passages)
    return passages, check_text(text, "episode_body", max_bytes=TEXT_MAX_BYTES)


def _lines(body: str, message_id: str | None) -> list[Passage]:
    """A conversation as text: each line begins with who speaks."""
    passages = []
    for line in body.splitlines():
        speaker, colon, said = line.partition(":")
        named = bool(colon) and len(speaker.split()) <= 3 and "(" not in speaker and bool(said.strip())
        if named:
            passages.append(Passage(said.strip(), message_id, None, speaker.strip()))
        elif line.strip():
            passages.append(Passage(line.strip(), message_id))
    return passages


def _messages(body: Any) -> list[Message]:
    items = body if isinstance(body, list | tuple) else [body]
    if not items or len(items) > MESSAGES_MAX:
        raise InvalidInput(f"expected 1 to {MESSAGES_MAX:,} messages", where="episode_body")
    found: list[Message] = []
    for index, item in enumerate(items):
        if isinstance(item, Message):
            found.append(item)
        elif isinstance(item, Mapping):
            found += from_openai([{key: value for key, value in item.items() if key != "id"}])
            if isinstance(item.get("id"), str):
                found[-1] = found[-1].model_copy(update={"id": item["id"]})
        else:
            raise InvalidInput(
                f"expected text, a message or JSON, got {type(item).__name__}", where=f"episode_body[{index}]"
            )
    return found
