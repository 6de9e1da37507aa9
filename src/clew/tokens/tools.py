"""What the tool schemas of a request cost."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from clew.errors import InvalidInput
from clew.limits import JSON_MAX_DEPTH
from clew.tokens.engine import engine
from clew.tokens.images import Format, checked_format
from clew.tokens.parts import Counter, compact_json
from clew.tokens.text import DEFAULT_ENCODING, count

# OpenAI rewrites schemas before the model sees them. The figures are those of its cookbook ("How to count tokens with
# tiktoken", section 7), which reproduce the usage its API reports.
OPENAI_FUNCTION_TOKENS: Final = {"o200k_base": 7, "cl100k_base": 10}
OPENAI_PROPERTIES_TOKENS: Final = 3
OPENAI_PROPERTY_TOKENS: Final = 3
OPENAI_ENUM_TOKENS: Final = -3
OPENAI_ENUM_ITEM_TOKENS: Final = 3
OPENAI_TOOLS_END_TOKENS: Final = 12

# Anthropic, tool use guide: the instructions it adds to a request with tools (tool_choice auto, Claude 3.7 and 4).
ANTHROPIC_TOOL_PROMPT_TOKENS: Final = 346
# The frame around one tool's definition; not documented, taken to be that of a message.
ANTHROPIC_TOOL_TOKENS: Final = 3

# The cookbook's examples have none of these; they reach the model, so they are counted, as JSON.
_COUNTED_AS_JSON: Final = ("anyOf", "oneOf", "allOf", "$ref", "$defs", "default", "const", "additionalProperties")


def count_tools(
    tools: Sequence[Mapping[str, Any]] | None, *, encoding: str = DEFAULT_ENCODING, format: Format = "openai"
) -> int:
    """The tokens that a list of tool schemas adds to a request; 0 without tools.

    Takes OpenAI's form (`{"type": "function", "function": {…}}`), its flat form and Anthropic's (`input_schema`);
    `format` says who will receive them. OpenAI's rule is the cookbook's, carried on into nested objects, which the
    cookbook leaves out; Anthropic's is its documented prompt plus each schema as JSON.
    """
    if not tools:
        return 0
    engine(encoding)  # refuses an unknown name
    counter = partial(count, encoding=encoding)
    functions = [_function(tool, index) for index, tool in enumerate(tools)]
    if checked_format(format) == "anthropic":
        return ANTHROPIC_TOOL_PROMPT_TOKENS + sum(_anthropic(function, counter) for function in functions)
    start = OPENAI_FUNCTION_TOKENS[encoding]
    return OPENAI_TOOLS_END_TOKENS + sum(start + _openai(function, counter) for function in functions)


def _function(tool: object, index: int) -> Mapping[str, Any]:
    where = f"tools[{index}]"
    if not isinstance(tool, Mapping):
        raise InvalidInput(f"expected an object, got {type(tool).__name__}", where=where)
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not isinstance(function.get("name", tool.get("type")), str):
        raise InvalidInput("has no name", where=where, fix='Use {"type": "function", "function": {"name": …}}')
    return function


def _schema(function: Mapping[str, Any]) -> Mapping[str, Any]:
    schema = function.get("parameters") or function.get("input_schema")
    return schema if isinstance(schema, Mapping) else {}


def _anthropic(function: Mapping[str, Any], counter: Counter) -> int:
    name, description = function.get("name") or function.get("type"), function.get("description")
    words = (str(name), str(description or ""), compact_json(_schema(function)))
    return ANTHROPIC_TOOL_TOKENS + sum(map(counter, words))


def _openai(function: Mapping[str, Any], counter: Counter) -> int:
    line = f"{function.get('name') or function.get('type')}:{_description(function)}"
    return counter(line) + _count_schema(_schema(function), counter)


def _count_schema(schema: Mapping[str, Any], counter: Counter, depth_left: int = JSON_MAX_DEPTH) -> int:
    """The properties of an object, and of the objects inside it."""
    if depth_left == 0:
        raise InvalidInput(f"a schema is nested deeper than {JSON_MAX_DEPTH} levels", where="tools")
    total = sum(counter(compact_json({key: schema[key]})) for key in _COUNTED_AS_JSON if schema.get(key))
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and properties:
        total += OPENAI_PROPERTIES_TOKENS
        total += sum(_count_property(name, item, counter, depth_left - 1) for name, item in properties.items())
    return total + sum(_count_schema(item, counter, depth_left - 1) for item in _items(schema))


def _count_property(name: str, schema: object, counter: Counter, depth_left: int) -> int:
    if not isinstance(schema, Mapping):
        return OPENAI_PROPERTY_TOKENS + counter(f"{name}:any")
    total = OPENAI_PROPERTY_TOKENS + counter(f"{name}:{_type(schema)}:{_description(schema)}")
    if isinstance(schema.get("enum"), Sequence):
        total += OPENAI_ENUM_TOKENS
        total += sum(OPENAI_ENUM_ITEM_TOKENS + counter(_word(item)) for item in schema["enum"])
    return total + _count_schema(schema, counter, depth_left)


def _items(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schemas of a list's items: one for all, or one for each place."""
    items = schema.get("items")
    if isinstance(items, Mapping):
        yield items
    for item in schema.get("prefixItems") or ():
        if isinstance(item, Mapping):
            yield item


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "any")
    return kind if isinstance(kind, str) else "|".join(map(str, kind))


def _word(item: object) -> str:
    return item if isinstance(item, str) else compact_json(item)


def _description(schema: Mapping[str, Any]) -> str:
    # The cookbook drops the full stop, as OpenAI's rewriting does.
    return str(schema.get("description") or "").removesuffix(".")
