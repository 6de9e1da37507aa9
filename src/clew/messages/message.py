"""The one neutral message: what every room of Clew passes around, whichever provider it came from.

Meaning lives in typed fields. What only one provider understands lives in `extra`, under that provider's name, so that
converting back to it loses nothing; `extra["<format>:form"]` records how the original spelled something that can be
spelled in two ways (`"content": "hi"` or a list of one text block). Converters to other formats look at neither.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    model_validator,
)

from clew.messages.json_values import json_text, parse_object, writable

if TYPE_CHECKING:
    JsonObject = dict[str, Any]
    Extra = dict[str, dict[str, Any]]
else:
    # Checked at run time: what cannot be written as JSON is refused when the message is made, not when it is stored.
    JsonObject = Annotated[dict[str, JsonValue], AfterValidator(writable)]
    Extra = Annotated[dict[str, dict[str, JsonValue]], AfterValidator(writable)]

Role = Literal["system", "developer", "user", "assistant", "tool"]
ROLES: Final[tuple[Role, ...]] = ("system", "developer", "user", "assistant", "tool")
MediaKind = Literal["image", "audio", "video", "document", "file"]

# Providers that take only objects as arguments get text that is not a JSON object under this key. Pydantic AI uses the
# same one, and several providers' models have seen it.
INVALID_ARGUMENTS_KEY: Final = "INVALID_JSON"


class _Frozen(BaseModel):
    # Deferred: importing the room takes 48 ms of processor time beyond pydantic itself this way, 86 ms otherwise.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class _Part(_Frozen):
    extra: Extra = Field(default_factory=dict, repr=False)


class TextPart(_Part):
    """Words."""

    type: Literal["text"] = "text"
    text: str


class MediaPart(_Part):
    """An image, a sound, a video, a document or another file: by URL, as base64 data, or by a provider's file id."""

    type: Literal["media"] = "media"
    kind: MediaKind
    url: str | None = None
    data: str | None = Field(default=None, repr=False)
    file_id: str | None = None
    provider: str | None = None
    """Who keeps `file_id`; nobody else can resolve it."""
    media_type: str | None = None
    filename: str | None = None
    detail: str | None = None

    @model_validator(mode="after")
    def _has_one_source(self) -> "MediaPart":
        if sum(source is not None for source in (self.url, self.data, self.file_id)) != 1:
            raise ValueError("media needs exactly one of url, data and file_id")
        return self


class ReasoningPart(_Part):
    """What the model thought before it spoke, with whatever its provider needs to recognise it."""

    type: Literal["reasoning"] = "reasoning"
    text: str = ""
    signature: str | None = Field(default=None, repr=False)
    redacted: str | None = Field(default=None, repr=False)
    """The thought itself, readable by its provider only."""
    id: str | None = None
    provider: str | None = None


class ToolCallPart(_Part):
    """A call the model wants made.

    `arguments` is the model's own text where the provider sends text (its exact bytes matter to prompt caches, and it
    need not be valid JSON), an object where the provider sends an object.
    """

    type: Literal["tool_call"] = "tool_call"
    id: str = Field(min_length=1)
    name: str
    arguments: str | JsonObject = Field(default_factory=dict)

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text: the model's own where there is one."""
        return self.arguments if isinstance(self.arguments, str) else json_text(self.arguments)

    @property
    def arguments_object(self) -> dict[str, Any] | None:
        """The arguments as an object, or None when the model's text is not one. No text at all means no arguments."""
        if not isinstance(self.arguments, str):
            return self.arguments
        return parse_object(self.arguments) if self.arguments.strip() else {}


class ProviderPart(_Part):
    """A part only one provider understands, kept word for word: it goes back to that provider and to nobody else.

    `text` says the same in words, where that is possible; other providers get those.
    """

    type: Literal["provider"] = "provider"
    provider: str
    data: JsonObject
    text: str | None = None


def _words(value: object) -> object:
    """A string stands for one text part, and an empty one for none."""
    if isinstance(value, str):
        return ({"type": "text", "text": value},) if value else ()
    return value


ResultContent = Annotated[TextPart | MediaPart | ProviderPart, Field(discriminator="type")]


class ToolResultPart(_Part):
    """What came back from a call."""

    type: Literal["tool_result"] = "tool_result"
    call_id: str = Field(min_length=1)
    name: str | None = None
    content: Annotated[tuple[ResultContent, ...], BeforeValidator(_words)] = ()
    is_error: bool = False

    @property
    def text(self) -> str:
        """Every word of the result, in order."""
        return "".join(part.text or "" for part in self.content if not isinstance(part, MediaPart))


class RefusalPart(_Part):
    """The model's words when it declines."""

    type: Literal["refusal"] = "refusal"
    text: str


Part = Annotated[
    TextPart | MediaPart | ReasoningPart | ToolCallPart | ToolResultPart | RefusalPart | ProviderPart,
    Field(discriminator="type"),
]


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


class Message(_Frozen):
    """One message of a conversation, in no provider's form. Equal messages dump to equal JSON.

    Calls are made by the assistant only, and a `tool` message holds exactly one result: so "every call has its result"
    is a question about messages and never about their insides.
    """

    role: Role
    content: Annotated[tuple[Part, ...], BeforeValidator(_words)] = ()
    id: str | None = None
    name: str | None = None
    timestamp: Annotated[AwareDatetime, AfterValidator(_utc)] | None = None
    metadata: JsonObject = Field(default_factory=dict)
    extra: Extra = Field(default_factory=dict, repr=False)

    @model_validator(mode="after")
    def _parts_fit_the_role(self) -> "Message":
        results = sum(isinstance(part, ToolResultPart) for part in self.content)
        if self.role == "tool" and (results, len(self.content)) != (1, 1):
            raise ValueError("a tool message holds exactly one tool_result part")
        if self.role != "tool" and results:
            raise ValueError("a tool_result part belongs in a message with role 'tool'")
        if self.role != "assistant" and any(isinstance(part, ToolCallPart) for part in self.content):
            raise ValueError("a tool_call part belongs in a message with role 'assistant'")
        return self

    @property
    def pinned(self) -> bool:
        """Whether the message never leaves the window."""
        return self.metadata.get("pinned") is True

    def as_pinned(self) -> "Message":
        """The same message, pinned."""
        return self.model_copy(update={"metadata": {**self.metadata, "pinned": True}})

    @property
    def text(self) -> str:
        """Every word said in the message, in order: text parts, or the result's text in a tool message."""
        return "".join(part.text for part in self.content if isinstance(part, TextPart | ToolResultPart))

    @property
    def tool_calls(self) -> tuple[ToolCallPart, ...]:
        """The calls the message makes, in order."""
        return tuple(part for part in self.content if isinstance(part, ToolCallPart))

    @property
    def tool_results(self) -> tuple[ToolResultPart, ...]:
        """The result the message carries; empty unless the role is tool."""
        return tuple(part for part in self.content if isinstance(part, ToolResultPart))


def own_fields(item: "Message | _Part", format: str) -> Mapping[str, Any]:
    """The fields only this format knows."""
    return item.extra.get(format, {})


def form_of(item: "Message | _Part", format: str) -> Mapping[str, Any]:
    """How this format spelled the item, where that is not how we would."""
    return item.extra.get(f"{format}:form", {})


def extra_of(format: str, fields: dict[str, Any], form: dict[str, Any] | None = None) -> Extra:
    """What goes into `extra`: nothing where there is nothing to say."""
    kept = {format: fields, f"{format}:form": form or {}}
    return {key: value for key, value in kept.items() if value}
