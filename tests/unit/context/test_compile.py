"""What is compiled: its order, its sections, its forms, and what is refused."""

import dataclasses
import json

import pytest

from clew.context import Budget, Memory, SessionMessage, Task, WorkingContextCompiler, compile_context
from clew.context.manifest import CUT, FITS
from clew.errors import BudgetExceeded, InvalidInput
from clew.messages import from_openai
from clew.tokens import count, count_message, count_messages

SHARES = WorkingContextCompiler.BUDGET_ALLOCATION
HISTORY = [{"role": "user", "content": "Revenue?"}, {"role": "assistant", "content": "5.2M"}]


def compiled(system="Be brief.", messages=HISTORY, memories=(), task="Draft the note", tokens=8_000, mode="fixed"):
    found = compile_context(
        system_prompt=system,
        session=[SessionMessage(message) for message in from_openai(messages)],
        memories=memories,
        task=Task.of(task),
        budget=Budget.split(tokens, SHARES, mode),
    )
    assert found.token_usage["total"] == count_messages(found.sent_messages) <= tokens
    return found


def test_what_changes_least_comes_first_and_retrieved_text_only_in_the_last_user_message():
    found = compiled(memories=[Memory("m1", "The board meets on Friday")])
    assert [message["role"] for message in found.sent_messages] == ["system", "user", "assistant", "user"]
    assert found.sent_messages[0]["content"] == "Be brief."
    assert found.messages == HISTORY == found.sent_messages[1:3]
    assert found.sent_messages[-1]["content"] == f"{found.context}\n\nDraft the note"
    assert "The board meets on Friday" in found.context
    assert "Friday" not in json.dumps(found.sent_messages[:-1])


def test_each_section_pays_for_its_own_frames():
    found = compiled(memories=[Memory("m1", "The board meets on Friday")])
    usage = found.token_usage
    assert usage["system"] == count_message({"role": "system", "content": "Be brief."})
    assert usage["session"] == sum(map(count_message, HISTORY))
    assert usage["task"] == count_messages([{"role": "user", "content": "Draft the note"}]), "with the reply's opening"
    assert usage["memory"] == count(found.sent_messages[-1]["content"]) - count("Draft the note")


def test_nothing_to_send_is_nothing_sent():
    found = compiled(system="", messages=[], task="")
    assert found.sent_messages == []
    assert found.token_usage == {"total": 3, "system": 0, "session": 0, "memory": 0, "task": 3}


def test_a_system_prompt_within_its_share_is_whole():
    prompt = "x" + " word" * 1_195
    assert count_message({"role": "system", "content": prompt}) == 1_200
    assert compiled(system=prompt).system_prompt == prompt


@pytest.mark.parametrize("tokens", [64, 200, 8_000])
def test_a_system_prompt_beyond_its_share_is_cut_at_its_end_and_the_manifest_says_so(tokens):
    prompt = "word " * 5_000
    found = compiled(system=prompt, messages=[], task="", tokens=tokens)
    (item,) = found.manifest.of("system")
    assert (item.reason, item.kept, item.full_tokens) == (CUT, True, 5_005)
    assert item.tokens == found.token_usage["system"] <= tokens * 15 // 100
    assert found.system_prompt.startswith("word ")
    if tokens > 64:
        assert found.system_prompt.endswith("[The rest of these instructions is cut.]")


def test_a_system_prompt_without_any_room_is_left_out_and_the_manifest_says_so():
    found = compiled(system="word " * 50, messages=[], task="", tokens=25)
    (item,) = found.manifest.of("system")
    assert (item.reason, item.kept, found.system_prompt) == (CUT, False, "")


def test_a_task_that_has_no_room_is_refused_with_the_numbers():
    with pytest.raises(BudgetExceeded, match=r"^task: needs 2,008 tokens, and 1,200 are available"):
        compiled(task="word " * 2_000)
    assert compiled(task="word " * 2_000, mode="flexible").task == {"description": "word " * 2_000}
    with pytest.raises(BudgetExceeded, match="and 2 are available"):
        compiled(system="", messages=[], task="", tokens=14)


def test_without_room_for_the_message_that_would_carry_them_memories_stay_out():
    budget = Budget(tokens=1_000, system=0, session=0, memory=900, task=6)
    found = compile_context(system_prompt="", memories=[Memory("m1", "x")], task=Task.of(""), budget=budget)
    assert (found.context, found.token_usage["task"]) == ("", 3)
    assert [item.kept for item in found.manifest.of("memory")] == [False]
    roomier = Budget(tokens=1_000, system=0, session=0, memory=900, task=7)
    found = compile_context(system_prompt="", memories=[Memory("m1", "x")], task=Task.of(""), budget=roomier)
    assert (found.sent_messages, found.token_usage["task"]) == ([{"role": "user", "content": found.context}], 7)


def test_every_field_of_a_task_is_told_in_an_order_of_its_own():
    one = compiled(task={"description": "Draft", "to": "the board", "limits": {"b": 1, "a": [True, None]}})
    other = compiled(task={"limits": {"a": [True, None], "b": 1}, "to": "the board", "description": "Draft"})
    assert one.sent_messages[-1]["content"] == 'Draft\nlimits: {"a": [true, null], "b": 1}\nto: the board'
    assert one.sent_messages == other.sent_messages
    assert one.task == {"description": "Draft", "to": "the board", "limits": {"b": 1, "a": [True, None]}}


def test_what_memory_repeats_of_a_dropped_message_is_kept():
    long = [{"role": "user", "content": f"fact {n}: " + "word " * 300} for n in range(12)]
    found = compiled(messages=long, memories=[Memory("old", "fact 0: word word"), Memory("new", "fact 11: word word")])
    kept = {item.source_id: item.kept for item in found.manifest.of("memory")}
    assert kept == {"old": True, "new": False, None: True}


def test_flexible_lets_unused_shares_flow_and_fixed_does_not():
    long = [{"role": "user", "content": f"{n} " + "word " * 300} for n in range(20)]
    fixed, flexible = compiled(messages=long), compiled(messages=long, mode="flexible")
    assert fixed.token_usage["session"] <= 2_800
    assert flexible.token_usage["session"] == sum(map(count_message, long)) > 2_800
    memories = [Memory(f"m{n}", f"{n} " + "fact " * 300, score=1 - n / 100) for n in range(20)]
    assert compiled(memories=memories).token_usage["memory"] <= 2_800
    assert compiled(memories=memories, mode="flexible").token_usage["memory"] > 6_000
    both = compiled(messages=long, memories=memories, mode="flexible").token_usage
    assert both["memory"] >= 2_400, "memory keeps its own share when the history would take everything"


def test_a_compiled_context_cannot_be_changed():
    found = compiled(memories=[Memory("m1", "x y z")])
    before = json.dumps(found.as_dict())
    for value in (found.messages, found.sent_messages, found.task, found.token_usage, found.as_dict()["manifest"]):
        value.clear()
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.context = "other"
    assert json.dumps(found.as_dict()) == before


def test_it_converts_to_every_form():
    pytest.importorskip("langchain_core")
    pytest.importorskip("pydantic_ai")
    found = compiled(memories=[Memory("m1", "The board meets on Friday")])
    assert found.to("openai") == found.sent_messages
    request = found.to("anthropic")
    assert request.messages[0]["role"] == "user"
    assert "Friday" not in str(request.system)
    assert [message.type for message in found.to("langchain")] == ["system", "human", "ai", "human"]
    assert len(found.to("pydantic_ai")) == 3
    with pytest.raises(InvalidInput, match="openai, anthropic, langchain, pydantic_ai"):
        found.to("gemini")


def test_the_manifest_is_plain_json_with_a_line_for_every_candidate():
    found = compiled(memories=[Memory("m1", "The board meets on Friday", 0.7)])
    manifest = json.loads(json.dumps(found.manifest.as_dict()))
    assert manifest["budget"] == 8_000
    assert manifest["sections"]["session"] == {
        "share": 2_800, "limit": 2_800, "used": found.token_usage["session"], "kept": 2, "dropped": 0,
    }  # fmt: skip
    assert [item["kind"] for item in manifest["items"]] == [
        "system_prompt", "message", "message", "memory", "wrapper", "task",
    ]  # fmt: skip
    assert manifest["items"][3]["score"] == 0.7
    assert {item["reason"] for item in manifest["items"][:2]} == {FITS} | {manifest["items"][1]["reason"]}


def test_counts_are_in_the_encoding_that_was_asked_for():
    budget = Budget.split(300, SHARES)
    session = [SessionMessage(m) for m in from_openai([{"role": "user", "content": "数字 " * 400}])]
    for encoding in ("cl100k_base", "o200k_base"):
        found = compile_context(
            system_prompt="数字", session=session, task=Task.of("数"), budget=budget, encoding=encoding
        )
        assert found.token_usage["total"] == count_messages(found.sent_messages, encoding=encoding)
        assert found.manifest.encoding == encoding
