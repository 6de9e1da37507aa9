"""A compiled context: what would be sent, in any provider's form, and the account of how it came about."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from clew.context.manifest import Manifest
from clew.context.task import Task
from clew.errors import InvalidInput
from clew.messages import Message, to_anthropic, to_langchain, to_openai, to_pydantic_ai

_FORMS: Final[dict[str, Callable[[tuple[Message, ...]], Any]]] = {
    "openai": to_openai,
    "anthropic": to_anthropic,
    "langchain": to_langchain,
    "pydantic_ai": to_pydantic_ai,
}


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a model sees this time. Nothing in it can be changed: lists and dicts are made anew at every reading."""

    system_prompt: str
    """As it is sent: cut when it exceeded its share, and with the standing instructions at its end."""
    history: tuple[Message, ...]
    """The session's messages that are in the window."""
    context: str
    """The block of retrieved text, inside its boundary; empty when there is none."""
    request_task: Task
    sent: tuple[Message, ...]
    """Everything, in the order in which it is sent: system prompt, history, then retrieved text and task in one."""
    manifest: Manifest

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The history in OpenAI form."""
        return to_openai(self.history)

    @property
    def sent_messages(self) -> list[dict[str, Any]]:
        """All that is sent, in OpenAI form: this is what the budget holds."""
        return to_openai(self.sent)

    @property
    def task(self) -> dict[str, Any]:
        """The task as it was given; a text is its description."""
        return self.request_task.as_dict()

    @property
    def token_usage(self) -> dict[str, int]:
        """`total`, and the four sections that add up to it."""
        return {"total": self.manifest.total, **{use.section: use.used for use in self.manifest.sections}}

    def to(self, form: str) -> Any:
        """All that is sent, as `"openai"`, `"anthropic"`, `"langchain"` or `"pydantic_ai"` messages."""
        convert = _FORMS.get(form) if isinstance(form, str) else None
        if convert is None:
            raise InvalidInput(f"unknown form {form!r}", where="form", fix=f"Use one of {', '.join(_FORMS)}")
        return convert(self.sent)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain JSON."""
        return {
            "system_prompt": self.system_prompt,
            "messages": self.messages,
            "context": self.context,
            "task": self.task,
            "token_usage": self.token_usage,
            "manifest": self.manifest.as_dict(),
            "sent_messages": self.sent_messages,
        }
