"""The one neutral message, its converters, tool-call groups, and the repair of damaged histories."""

from clew.messages.anthropic import AnthropicRequest, from_anthropic, to_anthropic
from clew.messages.groups import Group, group
from clew.messages.langchain import from_langchain, to_langchain
from clew.messages.message import (
    MediaPart,
    Message,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from clew.messages.openai import from_openai, to_openai
from clew.messages.pydantic_ai import from_pydantic_ai, to_pydantic_ai
from clew.messages.repair import Change, Repaired, repair

__all__ = [
    "AnthropicRequest",
    "Change",
    "Group",
    "MediaPart",
    "Message",
    "Part",
    "ProviderPart",
    "ReasoningPart",
    "RefusalPart",
    "Repaired",
    "Role",
    "TextPart",
    "ToolCallPart",
    "ToolResultPart",
    "from_anthropic",
    "from_langchain",
    "from_openai",
    "from_pydantic_ai",
    "group",
    "repair",
    "to_anthropic",
    "to_langchain",
    "to_openai",
    "to_pydantic_ai",
]
