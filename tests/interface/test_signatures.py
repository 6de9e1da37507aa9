"""Names, order, kinds and defaults of every promised argument; more may follow if they have defaults."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import clew

NO_DEFAULT = inspect.Parameter.empty

# The signatures of interface.md, word for word.
PROMISED = {
    "open": "(database=None, models=None, settings=None)",
    "open_sync": "(database=None, models=None, settings=None)",
    "SessionStore": "(database=None)",
    "SessionStore.setup": "(self)",
    "SessionStore.append": "(self, thread_id, messages, *, tenant_id='default', idempotency_key=None)",
    "SessionStore.get_session_messages": "(self, thread_id, limit=50, *, tenant_id='default')",
    "SessionStore.clear_session": "(self, thread_id, *, tenant_id='default')",
    "LongTermMemory": "(database=None, embedding_model=None)",
    "LongTermMemory.setup": "(self)",
    "LongTermMemory.store": "(self, entry)",
    "LongTermMemory.store_many": "(self, entries)",
    "LongTermMemory.search": "(self, tenant_id, query, limit=10, agent_id=None)",
    "LongTermMemory.delete": "(self, memory_id, tenant_id)",
    "LongTermMemory.list_by_tenant": "(self, tenant_id, limit=50)",
    "WorkingContextCompiler": "(model_tier='reasoning')",
    "WorkingContextCompiler.compile": "(self, system_prompt, session_messages, relevant_memories, task)",
    "ContextManager": "(session_store, memory, compiler)",
    "ContextManager.compile_working_context": (
        "(self, tenant_id, thread_id, task, system_prompt, model_tier='reasoning')"
    ),
    "ContextManager.store_memory": "(self, tenant_id, agent_id, content, metadata=None)",
    "ContextManager.search_memory": "(self, tenant_id, query, limit=10)",
}
AWAITED = [name for name in PROMISED if "." in name]


def _named(name: str) -> Any:
    found: Any = clew
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


def _as_written(signature: str) -> list[tuple[str, Any, Any]]:
    scope: dict[str, Any] = {}
    exec(f"def function{signature}: ...", scope)  # noqa: S102 - the text is the constant above
    return _parameters(scope["function"])


def _differences(given: list[tuple[str, Any, Any]], promised: list[tuple[str, Any, Any]]) -> list[Any]:
    """What a caller who knows only the promise would stumble over."""
    positional = [p for p in promised if p[1] is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    keyword = [p for p in promised if p[1] is inspect.Parameter.KEYWORD_ONLY]
    wrong = [pair for pair in zip(positional, given, strict=False) if pair[0] != pair[1]]
    wrong += positional[len(given) :]
    wrong += [p for p in keyword if p not in given]
    added = [p for p in given if p not in promised]
    return wrong + [p for p in added if p[2] is NO_DEFAULT]


@pytest.mark.parametrize("name", PROMISED)
def test_arguments_are_as_promised(name):
    assert _differences(_parameters(_named(name)), _as_written(PROMISED[name])) == []


@pytest.mark.parametrize("name", PROMISED)
def test_what_was_added_is_a_keyword(name):
    given, promised = _parameters(_named(name)), _as_written(PROMISED[name])
    added = [p for p in given if p[0] not in {q[0] for q in promised}]
    assert all(p[1] is inspect.Parameter.KEYWORD_ONLY for p in added), f"added arguments are keywords: {added}"


@pytest.mark.parametrize("name", AWAITED)
def test_methods_are_coroutines(name):
    assert inspect.iscoroutinefunction(_named(name))


def test_a_changed_default_a_moved_and_a_missing_argument_would_be_noticed():
    promised = _as_written("(self, tenant_id, query, limit=10, agent_id=None)")
    assert _differences(_as_written("(self, tenant_id, query, limit=20, agent_id=None)"), promised)
    assert _differences(_as_written("(self, query, tenant_id, limit=10, agent_id=None)"), promised)
    assert _differences(_as_written("(self, tenant_id, query, limit=10)"), promised)
    assert _differences(_as_written("(self, tenant_id, query, limit=10, *, agent_id=None)"), promised)
    assert _differences(_as_written("(self, tenant_id, query, limit=10, agent_id=None, *, more)"), promised)
    assert not _differences(_as_written("(self, tenant_id, query, limit=10, agent_id=None, *, more=1)"), promised)


@pytest.mark.parametrize("name", ["SessionStore.checkpointer", "ContextManager.session"])
def test_properties_are_properties(name):
    owner, attribute = name.split(".")
    assert not inspect.isfunction(inspect.getattr_static(getattr(clew, owner), attribute))
    assert hasattr(inspect.getattr_static(getattr(clew, owner), attribute), "__get__")


def test_budgets_and_allocation_are_the_promised_numbers():
    compiler = clew.WorkingContextCompiler
    assert dict(compiler.TOKEN_BUDGETS) == {"fast": 8_000, "reasoning": 32_000}
    shares = {"system_prompt": 0.15, "session_history": 0.35, "relevant_context": 0.35, "task_and_buffer": 0.15}
    assert dict(compiler.BUDGET_ALLOCATION) == shares
    assert sum(shares.values()) == pytest.approx(1)
