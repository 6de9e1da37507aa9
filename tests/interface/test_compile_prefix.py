"""What a provider has cached stays cached: one more turn leaves what came before byte-identical."""

from .conftest import assistant, user
from .windows import as_bytes, compiled, conversation, remembered, tool_turn

TASK = {"description": "Answer"}


async def test_one_more_turn_leaves_the_compiled_prefix_byte_identical():
    history = conversation(4)
    before = await compiled("reasoning", "Be brief", history, remembered(4), TASK)
    after = await compiled("reasoning", "Be brief", [*history, *tool_turn(5)], remembered(3), TASK)
    shared = len(before["messages"])
    assert as_bytes(after["system_prompt"]) == as_bytes(before["system_prompt"])
    assert as_bytes(after["messages"][:shared]) == as_bytes(before["messages"])
    assert as_bytes(after["sent_messages"][: shared + 1]) == as_bytes(before["sent_messages"][: shared + 1])


async def test_what_changes_with_every_call_comes_last():
    made = await compiled("fast", "Be brief", [user("hi")], remembered(2), TASK)
    assert [message["role"] for message in made["sent_messages"]] == ["system", "user", "user"]
    assert "Memory 0" in made["sent_messages"][-1]["content"]
    assert "Memory 0" not in as_bytes(made["sent_messages"][:-1]).decode()


async def test_a_conversation_that_outgrows_its_share_still_keeps_its_prefix_most_of_the_time():
    history = [user(f"{number}: {'some words about tea ' * 10}") for number in range(80)]
    last = await compiled("fast", "", history, [], TASK)
    assert len(last["messages"]) < len(history), "it was to outgrow its share"
    kept = 0
    for number in range(100, 160):
        history = [*history, user(f"{number}: {'some more words ' * 10}"), assistant(f"{number}: {'indeed ' * 30}")]
        made = await compiled("fast", "", history, [], TASK)
        kept += as_bytes(made["messages"][: len(last["messages"])]) == as_bytes(last["messages"])
        last = made
    assert kept > 45, f"the prefix survived {kept} of 60 turns"
