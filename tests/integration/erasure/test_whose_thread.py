"""A thread is one user's, from when an append says whose."""

import pytest

from clew import Conflict, InvalidInput

from .conftest import Rooms

SAID = {"role": "user", "content": "hello"}


async def test_the_first_to_say_whose_a_thread_is_decides_and_another_user_is_refused(rooms: Rooms):
    append = rooms.sessions.append
    await append("t", SAID, tenant_id="acme")
    assert [thread.user_id for thread in await rooms.sessions.threads(tenant_id="acme")] == [None]
    await append("t", SAID, tenant_id="acme", user_id="ana")
    await append("t", SAID, tenant_id="acme")
    await append("t", SAID, tenant_id="acme", user_id="ana")
    with pytest.raises(Conflict, match="another user") as refused:
        await append("t", SAID, tenant_id="acme", user_id="ben")
    assert "ana" not in str(refused.value)
    [thread] = await rooms.sessions.threads(tenant_id="acme")
    assert (thread.user_id, thread.message_count) == ("ana", 4), "nothing of the refused append was stored"
    await append("t", SAID, tenant_id="globex", user_id="ben")


async def test_a_repeated_append_is_refused_to_another_user_too(rooms: Rooms):
    ids = await rooms.sessions.append("t", SAID, tenant_id="acme", user_id="ana", idempotency_key="k")
    assert await rooms.sessions.append("t", SAID, tenant_id="acme", user_id="ana", idempotency_key="k") == ids
    assert await rooms.sessions.append("t", SAID, tenant_id="acme", idempotency_key="k") == ids
    with pytest.raises(Conflict):
        await rooms.sessions.append("t", SAID, tenant_id="acme", user_id="ben", idempotency_key="k")


@pytest.mark.parametrize("user_id", ["", "a\0b", "\ud800", "u" * 257, 7, b"u"])
async def test_what_is_no_user_s_id_is_refused(rooms: Rooms, user_id):
    with pytest.raises(InvalidInput, match="user_id"):
        await rooms.sessions.append("t", SAID, tenant_id="acme", user_id=user_id)
    with pytest.raises(InvalidInput, match="user_id"):
        await rooms.erasure.user(user_id, tenant_id="acme")
    assert await rooms.sessions.threads(tenant_id="acme") == []
