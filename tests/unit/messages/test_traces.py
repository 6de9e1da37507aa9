"""Real conversations: 200 airline-agent runs go through every form, and through repair after damage."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from clew.messages import Message, from_openai, group, repair, to_anthropic, to_openai

from .test_anthropic import assert_valid
from .test_repair import assert_healthy

TRACES = Path(__file__).parents[4] / "shared" / "data" / "traces" / "tau-airline.json.gz"


@pytest.fixture(scope="module")
def conversations() -> list[list[dict[str, Any]]]:
    if not TRACES.exists():
        pytest.skip("the recorded conversations (../shared/data/traces/tau-airline.json.gz) are not here")
    return [run["traj"] for run in json.loads(gzip.decompress(TRACES.read_bytes()))]


@pytest.fixture(scope="module")
def histories(conversations: list[list[dict[str, Any]]]) -> list[list[Message]]:
    return [from_openai(conversation) for conversation in conversations]


def test_every_recorded_conversation_comes_back_byte_for_byte(
    conversations: list[list[dict[str, Any]]], histories: list[list[Message]]
) -> None:
    assert len(histories) >= 200
    for conversation, history in zip(conversations, histories, strict=True):
        assert json.dumps(to_openai(history)) == json.dumps(conversation)


def test_every_recorded_conversation_is_healthy_and_stays_as_it_is(histories: list[list[Message]]) -> None:
    for history in histories:
        repaired = repair(history)
        assert repaired.changes == ()
        assert list(repaired.messages) == history
        assert not any(part.pending for part in group(history))


def test_every_recorded_conversation_makes_a_valid_anthropic_request(histories: list[list[Message]]) -> None:
    for history in histories:
        assert_valid(to_anthropic(history).messages)


@pytest.mark.parametrize("seed", range(3))
def test_every_recorded_conversation_can_be_mended_after_damage(histories: list[list[Message]], seed: int) -> None:
    chance = random.Random(seed)
    mended = 0
    for history in histories:
        damaged = [message for message in history if chance.random() > 0.15]
        for _ in range(3):
            damaged.insert(chance.randrange(len(damaged)), chance.choice(damaged))
        if chance.random() < 0.5:
            start = chance.randrange(len(damaged))
            damaged[start : start + 4] = chance.sample(damaged[start : start + 4], len(damaged[start : start + 4]))
        repaired = repair(damaged)
        assert_healthy(repaired.messages)
        assert_valid(to_anthropic(repaired.messages).messages)
        assert repair(repaired.messages).changes == ()
        mended += bool(repaired.changes)
    assert mended > len(histories) // 2, "the damage did no harm, so the test shows nothing"
