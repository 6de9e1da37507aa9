"""Tier 2: a working context fits its budget, section by section, and nothing that matters is lost on the way."""

import pytest
import structlog

import clew
from clew.tokens import count_messages

from .conftest import assistant, user
from .windows import PARAGRAPH, as_bytes, compiled, conversation, remembered, split_groups, tool_turn

TIERS = pytest.mark.parametrize("tier", ["fast", "reasoning"])
TASK = {"description": "Draft the board note"}


async def test_the_answer_has_the_promised_keys():
    made = await compiled("reasoning", "Be brief", [user("hi")], [], TASK)
    assert {"system_prompt", "messages", "context", "task", "token_usage", "manifest"} <= set(made)
    assert made["system_prompt"] == "Be brief"
    assert made["messages"] == [user("hi")]
    assert made["task"] == TASK
    assert type(made["context"]) is str


async def test_what_fits_is_kept_whole():
    history = conversation(3)
    made = await compiled("reasoning", "Be brief", history, remembered(3), TASK)
    assert made["messages"] == history
    assert all(f"Memory {n}:" in made["context"] for n in range(3))


@TIERS
@pytest.mark.parametrize("turns", [0, 1, 20, 200])
@pytest.mark.parametrize("memories", [0, 100])
async def test_nothing_ever_exceeds_budget_or_share(tier, turns, memories):
    await compiled(tier, PARAGRAPH, conversation(turns), remembered(memories), TASK)


@TIERS
async def test_everything_too_large_at_once_still_fits(tier):
    budget = clew.WorkingContextCompiler.TOKEN_BUDGETS[tier]
    history = [*conversation(200), user("word " * 40_000)]
    task = {"description": "word " * (budget // 10)}
    made = await compiled(tier, "rule " * 40_000, history, remembered(200), task)
    assert made["token_usage"]["total"] > 0.7 * budget
    assert made["task"] == task


async def test_the_oldest_go_first_and_the_rest_is_the_unbroken_end():
    history = conversation(40)
    made = await compiled("fast", "", history, [], TASK)
    assert 0 < len(made["messages"]) < len(history)
    assert made["messages"] == history[-len(made["messages"]) :]


@pytest.mark.parametrize("extra", range(5))
async def test_tool_groups_stay_whole_wherever_the_cut_falls(extra):
    history = [user("x " * 40 * extra), *conversation(40), *tool_turn(99, 5)]
    made = await compiled("fast", "", history, [], TASK)
    assert split_groups(made["messages"]) == []
    assert any(message["role"] == "tool" for message in made["messages"])


def test_a_split_group_would_be_noticed():
    turn = tool_turn(1, 2)
    assert split_groups(turn) == []
    assert split_groups([*turn[:2], *turn[3:]])
    assert split_groups(turn[2:])


@TIERS
async def test_the_last_user_message_stays_however_much_follows_it(tier):
    history = [*conversation(30), user("THE QUESTION"), *(tool_turn(7, 3)[1:-1]), *[assistant(PARAGRAPH)] * 60]
    made = await compiled(tier, "", history, [], TASK)
    assert user("THE QUESTION") in made["messages"]


async def test_a_last_user_message_larger_than_its_share_stays_in_part():
    history = [*conversation(3), user(f"BEGIN {'word ' * 20_000} END")]
    made = await compiled("fast", "", history, [], TASK)
    last = [message for message in made["messages"] if message["role"] == "user"][-1]
    assert last["content"].startswith("BEGIN")
    assert last["content"].endswith("END")


async def test_the_system_prompt_is_cut_only_when_it_alone_exceeds_its_share():
    fits = "rule " * 1_000
    assert (await compiled("fast", fits, conversation(50), remembered(50), TASK))["system_prompt"] == fits
    cut = (await compiled("fast", "rule " * 2_000, [], [], TASK))["system_prompt"]
    assert cut.startswith("rule rule rule")
    assert len(cut) < len("rule " * 2_000)


async def test_the_least_relevant_memories_go_first():
    memories = remembered(60)
    made = await compiled("fast", "", [], memories, TASK)
    kept = [f"Memory {n}:" in made["context"] for n in range(60)]
    assert 0 < sum(kept) < 60
    assert kept == sorted(kept, reverse=True)
    shuffled = await compiled("fast", "", [], [*memories[30:], *reversed(memories[:30])], TASK)
    assert [f"Memory {n}:" in shuffled["context"] for n in range(60)] == kept


async def test_what_the_session_says_already_is_not_quoted_again():
    said = "Q3 revenue was actually $5.2M, not $4.8M"
    repeat, news = remembered(2)
    repeat = repeat.model_copy(update={"content": said})
    made = await compiled("fast", "", [user(said)], [repeat, news], TASK)
    assert said not in made["context"]
    assert news.content.strip() in made["context"]
    alone = await compiled("fast", "", [user("something else")], [repeat, news], TASK)
    assert said in alone["context"]


@TIERS
async def test_a_task_that_cannot_fit_is_budget_exceeded_with_the_numbers(tier):
    share = int(0.15 * clew.WorkingContextCompiler.TOKEN_BUDGETS[tier])
    with pytest.raises(clew.BudgetExceeded) as caught:
        await clew.WorkingContextCompiler(tier).compile("", [], [], {"description": "word " * (share + 100)})
    assert f"{share:,}" in str(caught.value) or str(share) in str(caught.value)


async def test_a_task_is_never_silently_shortened():
    task = {"description": "word " * 900, "deadline": "Friday", "audience": ["board", "press"]}
    made = await compiled("fast", "", conversation(50), remembered(50), task)
    sent = made["sent_messages"][-1]["content"]
    assert task["description"].strip() in sent
    assert all(word in sent for word in ("Friday", "board", "press"))


@pytest.mark.parametrize("tier", ["slow", "", "FAST", None, 5, ["fast"], {}])
async def test_an_unknown_tier_is_refused_with_those_there_are(tier):
    with pytest.raises(clew.InvalidInput, match="reasoning"):
        await clew.WorkingContextCompiler(tier).compile("", [user("hi")], [], TASK)


async def test_equal_inputs_give_equal_bytes():
    def inputs():
        memories = [m.model_copy(update={"score": 0.5}) for m in remembered(30)]
        return "Be brief", conversation(40), memories, TASK

    first, second = await compiled("fast", *inputs()), await compiled("fast", *inputs())
    assert as_bytes(first) == as_bytes(second)


def test_equal_inputs_give_equal_bytes_in_two_processes(python):
    code = """
import asyncio, hashlib, json, clew
history = [{"role": role, "content": f"{n} " * 90} for n in range(60) for role in ("user", "assistant")]
memories = [{"memory_id": f"m{n}", "content": f"memory {n} " * 40, "score": 0.5} for n in range(60)]
made = asyncio.run(clew.WorkingContextCompiler("fast").compile("Be brief", history, memories, {"b": 1, "a": "x"}))
print(hashlib.sha256(json.dumps(made).encode()).hexdigest())
"""
    first, second = python(code), python(code)
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout


async def test_a_memory_that_is_part_of_another_word_repeats_nothing():
    memory = remembered(1)[0].model_copy(update={"content": "Ana likes tea"})
    made = await compiled("fast", "", [user("Ana likes team sports")], [memory], TASK)
    assert "Ana likes tea\n" in made["context"]


async def test_one_line_is_logged_with_the_tokens_by_section_and_no_text():
    with structlog.testing.capture_logs() as lines:
        made = await compiled("fast", "PROMPT WORDS", [user("HISTORY WORDS")], [], {"description": "TASK WORDS"})
    [line] = [line for line in lines if line["event"] == "context_compiled"]
    assert made["token_usage"]["total"] in line.values()
    assert "WORDS" not in str(line)


async def test_what_was_given_is_left_as_it_was():
    history, memories = conversation(30), remembered(5)
    before = as_bytes(history), [memory.model_dump_json() for memory in memories]
    await compiled("fast", "Be brief", history, memories, TASK)
    assert (as_bytes(history), [memory.model_dump_json() for memory in memories]) == before


async def test_flexible_lets_an_unused_share_flow_to_who_needs_it():
    history = conversation(60)
    fixed = await compiled("fast", "", history, [], TASK)
    made = await clew.WorkingContextCompiler("fast", allocation="flexible").compile("", history, [], TASK)
    assert made["token_usage"]["session"] > fixed["token_usage"]["session"]
    assert count_messages(made["sent_messages"]) == made["token_usage"]["total"] <= 8_000


async def test_every_candidate_is_in_the_manifest_with_why():
    made = await compiled("fast", "Be brief", conversation(40), remembered(40), TASK)
    items = made["manifest"]["items"]
    assert {item["section"] for item in items} == {"system", "session", "memory", "task"}
    assert {f"m{n:03}" for n in range(40)} <= {item["source_id"] for item in items}
    assert sum(item["kind"] == "message" for item in items) == len(conversation(40))
    dropped = [item for item in items if not item["kept"]]
    assert dropped
    assert all(item["reason"] for item in items)


async def test_a_compiler_of_ones_own_tier_has_its_budget():
    made = await clew.WorkingContextCompiler("tiny", budgets={"tiny": 1_000}).compile("", [user("hi")], [], "Answer")
    assert made["token_usage"]["total"] <= 1_000
