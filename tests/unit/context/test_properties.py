"""What holds for every compiled context, over thousands of conversations and budgets."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.context import Budget, Compiled, Task, WorkingContextCompiler, compile_context
from clew.context.manifest import OLDER, SHORTENED
from clew.errors import BudgetExceeded
from clew.messages import group, repair
from clew.tokens import count_message, count_messages, count_priming

from .conversations import Case, allocations, cases, healthy_sessions

thousands = settings(
    max_examples=2_200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
budgets = st.one_of(st.integers(64, 600), st.integers(600, 32_000), st.sampled_from([8_000, 32_000]))


def compiled(case: Case, budget: Budget) -> Compiled:
    return compile_context(
        system_prompt=case.system_prompt,
        session=case.session,
        memories=case.memories,
        task=Task.of(case.task),
        budget=budget,
    )


@pytest.mark.timeout(300)
@thousands
@given(case=cases, tokens=budgets, shares=allocations, mode=st.sampled_from(["fixed", "fixed", "flexible"]))
def test_a_compiled_context_never_exceeds_its_budget_and_never_splits_a_tool_call(case, tokens, shares, mode):
    budget = Budget.split(tokens, shares, mode)
    try:
        found = compiled(case, budget)
    except BudgetExceeded as error:
        _check_refusal(case, budget, error)
        return
    _check_budget(found, budget)
    _check_groups(found)
    _check_last_user(case, found)
    _check_start(found)
    _check_manifest(case, found)
    again = compiled(case, budget)
    assert json.dumps(again.as_dict()) == json.dumps(found.as_dict())


def _check_refusal(case: Case, budget: Budget, error: BudgetExceeded) -> None:
    """Only a task without room, or a user's message that not even a mark of has room."""
    if error.where == "task":
        needed = count_priming() + count_message({"role": "user", "content": case.task})
        assert budget.task < needed
        assert f"{budget.task:,}" in str(error) or budget.allocation == "flexible"
    else:
        assert error.where == "session_messages"
        assert budget.session < 10


def _check_budget(found: Compiled, budget: Budget) -> None:
    usage = found.token_usage
    assert usage["total"] == count_messages(found.sent_messages) <= budget.tokens
    assert usage["total"] == usage["system"] + usage["session"] + usage["memory"] + usage["task"]
    assert usage["system"] == (
        count_message({"role": "system", "content": found.system_prompt}) if found.system_prompt else 0
    )
    assert usage["session"] == sum(map(count_message, found.messages))
    if budget.allocation == "fixed":
        assert all(usage[section] <= budget.share(section) for section in ("system", "session", "memory", "task"))


def _check_groups(found: Compiled) -> None:
    assert all(not unit.pending for unit in group(found.history)), "every call has its result"
    assert not [c for c in repair(found.history).changes if c.kind != "opened_by_user"], "and every result its call"
    tail = 1 if found.context or found.request_task.text else 0
    head = 1 if found.system_prompt else 0
    assert found.sent_messages[head : len(found.sent_messages) - tail] == found.messages


def _check_last_user(case: Case, found: Compiled) -> None:
    given = {id(entry.message) for entry in case.session}
    mended = repair([entry.message for entry in case.session]).messages
    users = [message for message in mended if message.role == "user" and id(message) in given]
    if not users:
        return
    last = users[-1]
    kept = [message for message in found.history if message.role == "user"]
    if last.id is None and last in kept:
        return
    assert kept[-1].id == last.id
    if kept[-1] != last:
        assert "[…" in kept[-1].text or "[attachments left out]" in kept[-1].text
        reason = [item.reason for item in found.manifest.of("session") if item.source_id == last.id and item.kept]
        assert last.id is None or reason == [SHORTENED]


def _check_start(found: Compiled) -> None:
    """What is cut starts with a user, as every provider wants it, when a user spoke at all."""
    items = list(found.manifest.of("session"))
    if any(item.reason == OLDER for item in items) and any(item.kept and item.role == "user" for item in items):
        assert found.history[0].role == "user"


def _check_manifest(case: Case, found: Compiled) -> None:
    manifest, usage = found.manifest, found.token_usage
    for use in manifest.sections:
        own = list(manifest.of(use.section))
        assert sum(item.tokens for item in own if item.kept) == use.used == usage[use.section]
        assert use.used <= use.limit
        counted = [item.kept for item in own if item.kind != "wrapper"]
        assert (use.kept, use.dropped) == (counted.count(True), counted.count(False))
    said = [item for item in manifest.of("session") if item.kind == "message"]
    names = [entry.message.id or f"session_messages[{i}]" for i, entry in enumerate(case.session)]
    assert sorted(item.source_id for item in said) == sorted(names), "every message once"
    assert len([item for item in manifest.of("session") if item.kept]) == len(found.history)
    remembered = [item for item in manifest.of("memory") if item.kind == "memory"]
    assert sorted(item.source_id for item in remembered) == sorted(memory.memory_id for memory in case.memories)
    for item in remembered:
        if item.kept:
            assert f'"id": "{item.source_id}"' in found.context
    assert [item.kind for item in manifest.of("task")] == ["task"]
    assert len(list(manifest.of("system"))) == bool(case.system_prompt)


@settings(max_examples=60, deadline=None)
@given(session=healthy_sessions, tokens=st.integers(1_000, 8_000))
def test_a_newest_stretch_that_is_longer_than_what_fits_compiles_to_the_same(session, tokens):
    budget = Budget.split(tokens, WorkingContextCompiler.BUDGET_ALLOCATION)
    whole = compiled(Case("Be brief.", session, (), "Answer."), budget)
    kept = [item.kept for item in whole.manifest.of("session")]
    # Any stretch that starts with a message that is left out anyway, even in the middle of a group.
    for start in range(kept.index(True)):
        found = compiled(Case("Be brief.", session[start:], (), "Answer."), budget)
        if any(item.reason == OLDER for item in found.manifest.of("session")):
            assert found.sent_messages == whole.sent_messages
