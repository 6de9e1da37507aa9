"""Any sequence of episodes: one open fact a key at any as_of and known_at, and undo as if it had never been said."""

import itertools
from datetime import UTC, datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import day

_numbers = itertools.count(1)
SAYINGS = [
    "Ana lives in Paris.",
    "Ana lives in Rome.",
    "Ana moved from Paris to Oslo.",
    "Ana lives in Oslo, not Rome.",
    "Ana does not live in Paris.",
    "Ana moved to Bonn yesterday.",
    "Ana has lived in Bergen since 2026-01-03.",
    "Ana also lives in Porto.",
    "Headcount is 40.",
    "Headcount is 45. Ana speaks French.",
]
EPISODES = st.lists(st.tuples(st.sampled_from(SAYINGS), st.integers(1, 9)), min_size=1, max_size=5)

BELIEVED = """
    SELECT f.slot, f.value, f.negated, b.single, b.valid_at, b.invalid_at FROM clew.fact_beliefs b
      JOIN clew.facts f ON f.tenant_id = b.tenant_id AND f.seq = b.seq
     WHERE b.tenant_id = %(tenant)s AND b.created_at <= %(at)s AND COALESCE(b.expired_at, 'infinity') > %(at)s
     ORDER BY 1, 2, 3, 5 NULLS FIRST, 6 NULLS FIRST
"""


async def believed(database, tenant, at=None):
    async with database.tenant(tenant) as connection:
        values = {"tenant": tenant, "at": at or datetime.now(UTC)}
        return await (await connection.execute(BELIEVED, values)).fetchall()


def assert_one_at_a_time(rows):
    single = [(slot, valid, invalid) for slot, _, negated, one, valid, invalid in rows if one and not negated]
    for n in range(1, 11):
        for moment in (day(n), day(n).replace(hour=12)):
            holding = [s for s, v, i in single if (v is None or v <= moment) and (i is None or moment < i)]
            assert len(holding) == len(set(holding))
    still_open = [slot for slot, _, invalid in single if invalid is None]
    assert len(still_open) == len(set(still_open))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(EPISODES, st.data())
async def test_one_holds_at_a_time_and_undo_is_exact(knowledge, database, episodes, data):
    tenant, bare = (f"sequence-{next(_numbers)}-{side}" for side in "ab")
    taken = data.draw(st.integers(0, len(episodes) - 1))
    done, stamps, states = [], [], []
    for n, (said, number) in enumerate(episodes):
        done.append(await knowledge.add_episode(f"e{n}", said, reference_time=day(number), tenant_id=tenant))
        if n != taken:
            await knowledge.add_episode(f"e{n}", said, reference_time=day(number), tenant_id=bare)
        stamps.append(datetime.now(UTC))
        states.append(await believed(database, tenant))
        assert_one_at_a_time(states[-1])
    await knowledge.undo(done[taken].episode.episode_id, tenant_id=tenant)
    after = await believed(database, tenant)
    assert_one_at_a_time(after)
    assert after == await believed(database, bare)
    # What was believed before is believed to have been believed: nothing is overwritten.
    assert [await believed(database, tenant, at) for at in stamps] == states
