"""Said in turn 3 of a real thread, in the window of turn 200, gone when it is taken back: nobody calls anything but
`append` and `compile`."""

import pytest

import clew

WISHES = "Always answer in bullet points. Never mention the client by name. Call me Sam."
LINES = ["Always answer in bullet points", "Never mention the client by name", "Call me Sam"]


def turn(n: int) -> list[dict[str, str]]:
    asked = f"Is valve {n} of line {n % 7} closed for the night shift, and who checked it?"
    said = WISHES if n == 3 else asked
    return [
        {"role": "user", "content": said},
        {"role": "assistant", "content": f"Valve {n} is closed. Checker {n % 5} looked at it at {n % 24}:00."},
    ]


@pytest.fixture
async def thread(database, tenant) -> clew.Thread:
    """Two hundred turns, compacted as they go."""
    thread = clew.open(database).tenant(tenant).thread("night", user_id="sam")
    for n in range(1, 200):
        await thread.append(turn(n))
        if n % 25 == 0:
            await thread.compact()
    await thread.append(turn(200)[:1])
    return thread


async def window(thread: clew.Thread) -> tuple[str, str]:
    """The system message, and everything else."""
    context = await thread.compile("Answer the user.", "You tend valves.")
    first, *rest = context.messages
    assert first["role"] == "system"
    return first["content"], str(rest)


async def test_what_was_asked_in_turn_3_is_obeyed_in_turn_200_and_gone_when_it_is_taken_back(thread):
    assert len([one for one in await thread.compactions() if "summarise" in one.tiers]) >= 2
    system, rest = await window(thread)
    assert all(line in system for line in LINES)
    assert WISHES not in rest, "the control: the turn itself is out of sight"
    await thread.append(
        [{"role": "assistant", "content": "Closed."}, {"role": "user", "content": "You can use names again."}]
    )
    system, rest = await window(thread)
    assert "client by name" not in system
    assert LINES[0] in system
    assert LINES[2] in system
    await thread.append([
        {"role": "assistant", "content": "All right."},
        {"role": "user", "content": "Forget the bullet points. Call me Alex from now on."},
    ])  # fmt: skip
    system, rest = await window(thread)
    assert "bullet" not in system
    assert "Sam" not in system
    assert "Alex" in system
    assert not [line for line in LINES if line in rest], "nor does a summary go on about it"


async def test_the_user_s_other_threads_have_them_and_nobody_else_s(thread, database, tenant):
    acme = clew.open(database).tenant(tenant)
    theirs = {name: acme.thread(f"day-{name}", user_id=name) for name in ("sam", "ana")}
    for one in theirs.values():
        await one.append({"role": "user", "content": "Is valve 3 closed?"})
    assert "bullet points" in (await window(theirs["sam"]))[0]
    assert (await window(theirs["ana"]))[0] == "You tend valves."
