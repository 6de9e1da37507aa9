"""The task of this request: what the model is asked to do, and its text in the last message."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clew.errors import InvalidInput
from clew.limits import check_json, check_text


@dataclass(frozen=True, slots=True)
class Task:
    """A task as given, kept as JSON so that nothing can change it, and the text that the model reads."""

    json: str
    text: str

    @classmethod
    def of(cls, task: Mapping[str, Any] | str) -> "Task":
        """The task from a dict, or from its description alone.

        The text is the description, then every other field in the order of the names: equal tasks give equal bytes,
        however their keys were ordered.
        """
        if isinstance(task, str):
            task = {"description": check_text(task, "task")}
        if not isinstance(task, Mapping):
            raise InvalidInput(
                f"expected a dict or text, got {type(task).__name__}", where="task", fix='Use {"description": "…"}'
            )
        fields = check_json(dict(task), "task")
        description = fields.get("description", "")
        if not isinstance(description, str):
            raise InvalidInput(f"expected text, got {type(description).__name__}", where="task.description")
        lines = [description] if description else []
        lines += [f"{name}: {_shown(fields[name])}" for name in sorted(fields) if name != "description"]
        return cls(json.dumps(fields, ensure_ascii=False), "\n".join(lines))

    @property
    def description(self) -> str:
        """The words that say what is to be done; empty when the task has none."""
        return str(self.as_dict().get("description", ""))

    def as_dict(self) -> dict[str, Any]:
        """The task as it was given."""
        fields: dict[str, Any] = json.loads(self.json)
        return fields


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
