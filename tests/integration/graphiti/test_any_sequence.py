"""Whatever is told, taken back and forgotten in whatever order, the rest is believed as if that had never been told."""

import random
from datetime import datetime

import pytest

from clew.memory.graphiti import GraphitiKnowledgeBase

from .conftest import day

STEPS = 9
FEW = ("Oslo", "Paris", "Rome")
MANY = ("Oslo", "Paris", "Rome", "Delhi", "Quito", "Lima", "Cairo", "Tokyo", "Bern")


async def _lived(
    knowledge: GraphitiKnowledgeBase, tenant_id: str, chance: random.Random, places: list[str]
) -> dict[str, tuple[str, str, datetime]]:
    """The episodes that stand after telling of moves, year by year, and taking some back."""
    standing: dict[str, tuple[str, str, datetime]] = {}
    for step, place in enumerate(places):
        who, at = chance.choice(("Ada", "Bob")), day(2010 + step)
        text = f"{who} lives in {place} since {at.date()}."
        told = await knowledge.add_episode("chat", text, reference_time=at, tenant_id=tenant_id)
        standing[told.episode.episode_id] = (who, place, at)
        if chance.random() < 0.4:
            gone = chance.choice(list(standing))
            if chance.random() < 0.5:
                await knowledge.undo(gone, tenant_id=tenant_id)
            else:
                await knowledge.forget(episode_id=gone, tenant_id=tenant_id)
            del standing[gone]
    return standing


@pytest.mark.parametrize("seed", range(8))
async def test_of_moves_that_never_lead_back_all_is_as_if_only_the_rest_had_been_told(
    knowledge: GraphitiKnowledgeBase, tenant_id: str, seed: int
):
    chance = random.Random(seed)
    standing = await _lived(knowledge, tenant_id, chance, chance.sample(MANY, STEPS))
    wanted = []
    for who in ("Ada", "Bob"):
        moves = [(place, at) for person, place, at in standing.values() if person == who]
        ends = [*(at for _, at in moves[1:]), None]
        wanted += [(who, place, at, end) for (place, at), end in zip(moves, ends, strict=False)]
    found = await knowledge.search("lives in", tenant_id=tenant_id, limit=200)
    assert sorted((one.subject, one.object, one.valid_at, one.invalid_at) for one in found) == sorted(wanted)


@pytest.mark.parametrize("seed", range(16))
async def test_of_moves_that_lead_back_the_last_one_that_stands_holds_and_no_other(
    knowledge: GraphitiKnowledgeBase, tenant_id: str, seed: int
):
    chance = random.Random(seed)
    standing = await _lived(knowledge, tenant_id, chance, chance.choices(FEW, k=STEPS))
    wanted = {who: place for who, place, _ in standing.values()}
    found = await knowledge.search("lives in", tenant_id=tenant_id, limit=200)
    holding = sorted((one.subject, one.object) for one in found if not one.superseded)
    assert holding == sorted(wanted.items())
