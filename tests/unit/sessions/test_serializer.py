"""Bytes from the database never choose what is called: types on a list come back, everything else stays plain data."""

import dataclasses
import os
import pickle
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Interrupt, Send

from clew import ClewError, Message
from clew.sessions.serializer import strict_serializer

CALL_ONE, CALL_MANY, CALL_NAMED, CALL_METHOD, PYDANTIC_1, PYDANTIC_2 = range(6)


@dataclasses.dataclass
class Plan:
    """A type of a user's own."""

    steps: list[str]


def hostile(code: int, *named: object) -> tuple[str, bytes]:
    """A stored value that asks for something to be called."""
    return "msgpack", ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(named)))


@pytest.mark.parametrize(
    "value",
    [
        HumanMessage("hi", id="1"),
        AIMessage("", tool_calls=[{"name": "f", "args": {"a": 1}, "id": "c"}]),
        ToolMessage("done", tool_call_id="c"),
        SystemMessage("be brief"),
        Message(role="user", content="ours", metadata={"a": [1, None]}),
        UUID(int=7),
        datetime(2026, 1, 2, tzinfo=UTC),
        Decimal("1.50"),
        {"set": {1, 2}, "tuple": [1, (2, 3)]},
        Interrupt(value="wait", id="x"),
        Send("node", {"a": 1}),
        b"bytes",
        None,
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_allowed_type_comes_back_as_itself(value):
    serializer = strict_serializer()
    back = serializer.loads_typed(serializer.dumps_typed(value))
    expected = {"set": {1, 2}, "tuple": [1, [2, 3]]} if isinstance(value, dict) else value
    assert back == expected
    assert type(back) is type(value)


@pytest.mark.parametrize(
    ("code", "named"),
    [
        (CALL_ONE, ("os", "system", "touch pwned")),
        (CALL_MANY, ("os", "system", ["touch pwned"])),
        (CALL_NAMED, ("subprocess", "check_output", {"args": "touch pwned", "shell": True})),
        (CALL_METHOD, ("pathlib", "Path", "pwned", "touch")),
        (CALL_ONE, ("builtins", "eval", "open('pwned', 'w')")),
        (PYDANTIC_1, ("subprocess", "Popen", {"args": "touch pwned", "shell": True})),
        (PYDANTIC_2, ("subprocess", "Popen", {"args": "touch pwned", "shell": True}, "model_validate_json")),
    ],
)
def test_a_payload_that_names_a_call_stays_data(code, named, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    back = strict_serializer().loads_typed(hostile(code, *named))
    assert list(tmp_path.iterdir()) == []
    assert back == named[2]


def test_the_permissive_default_would_have_made_the_call(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    JsonPlusSerializer(allowed_msgpack_modules=True).loads_typed(hostile(CALL_ONE, "os", "system", "touch pwned"))
    assert [file.name for file in tmp_path.iterdir()] == ["pwned"]


class Bomb:
    """Calls the system when unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self):
        return os.system, (f"touch {self.file}",)


def test_pickle_and_the_old_json_form_are_not_read_at_all(tmp_path: Path):
    file = tmp_path / "pwned"
    constructor = b'{"lc": 2, "type": "constructor", "id": ["os", "system"], "args": ["touch %s"]}' % str(file).encode()
    for form, data in (("pickle", pickle.dumps(Bomb(file))), ("json", constructor), ("yaml", b"")):
        with pytest.raises(ClewError, match=f"in the form '{form}'"):
            strict_serializer().loads_typed((form, data))
    assert not file.exists()
    pickle.loads(pickle.dumps(Bomb(file)))  # noqa: S301 - the point
    assert file.exists(), "the control: this payload works where it is read"


def test_what_cannot_be_written_plainly_is_not_pickled():
    with pytest.raises(TypeError):
        strict_serializer().dumps_typed(lambda: None)


def test_a_type_of_ones_own_comes_back_once_it_is_listed():
    plain, listed = strict_serializer(), strict_serializer([Plan])
    stored = plain.dumps_typed(Plan(["one"]))
    assert plain.loads_typed(stored) == {"steps": ["one"]}
    assert listed.loads_typed(stored) == Plan(["one"])
