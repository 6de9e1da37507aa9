"""A provider's cache matches an exact prefix: how much of one stays the same while a conversation grows."""

import json
import random

import pytest

from clew.context import Memory, WorkingContextCompiler
from clew.context.reading import session_at

WORDS = ["revenue", "board", "quarter", "signed", "draft", "the", "of", "and", "numbers", "plan"]


def conversation(turns, words, seed=1):
    """The steps of a conversation, a call with its result in every second turn, as a list of what each step adds."""
    chance = random.Random(seed)

    def said():
        return " ".join(chance.choices(WORDS, k=max(3, int(chance.expovariate(1 / words)))))

    for turn in range(turns):
        yield [{"role": "user", "content": said(), "id": f"u{turn}"}]
        if turn % 2:
            call = {"id": f"call{turn}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
            asked = {"role": "assistant", "content": None, "tool_calls": [call], "id": f"c{turn}"}
            yield [asked, {"role": "tool", "tool_call_id": f"call{turn}", "content": said(), "id": f"r{turn}"}]
        yield [{"role": "assistant", "content": said(), "id": f"a{turn}"}]


def shared_prefixes(compiler, steps, window=None):
    """For each two consecutive compiles, whether the whole history of the first leads the second; and the fill."""
    messages, before, shared, filled = [], [], [], []
    for number, step in enumerate(steps):
        messages += session_at(step)
        memories = [Memory(f"m{number}", f"found {number}", 0.5)]
        found = compiler.compiled("Be brief.", messages[-window:] if window else messages, memories, f"step {number}")
        now = [json.dumps(message) for message in found.sent_messages[:-1]]
        shared.append(now[: len(before)] == before)
        filled.append(found.token_usage["session"] / compiler.budget.session)
        before = now
    return shared, filled


def test_as_long_as_nothing_is_dropped_each_compile_begins_with_all_of_the_one_before():
    shared, _ = shared_prefixes(WorkingContextCompiler("reasoning"), conversation(40, words=40))
    assert all(shared)


@pytest.mark.parametrize(("tier", "words", "at_least"), [("reasoning", 120, 0.94), ("fast", 60, 0.9)])
def test_when_the_history_no_longer_fits_the_cut_moves_rarely(tier, words, at_least):
    shared, filled = shared_prefixes(WorkingContextCompiler(tier), conversation(200, words), window=256)
    assert not all(shared), "the conversation must outgrow its share, or this shows nothing"
    assert sum(shared) / len(shared) >= at_least
    assert min(filled[-200:]) > 0.4, "a cut leaves about half of the share or more"


def test_a_caller_that_passes_a_sliding_window_gets_the_same_cuts():
    steps = list(conversation(80, words=60))
    compiler = WorkingContextCompiler("fast")
    assert shared_prefixes(compiler, steps) == shared_prefixes(compiler, steps, window=128)


def test_retrieved_text_and_task_change_the_last_message_only():
    compiler, messages = WorkingContextCompiler("fast"), [m for step in conversation(60, words=60) for m in step]
    one = compiler.compiled("Be brief.", messages, [Memory("a", "one thing")], "first task")
    other = compiler.compiled("Be brief.", messages, [Memory("b", "another thing " * 50)], "second task")
    assert one.sent_messages[:-1] == other.sent_messages[:-1]
    assert one.sent_messages[-1] != other.sent_messages[-1]
