"""Messages kept as what each step added: replayed in any grouping they come out the same, and copies stay few."""

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph import StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

from clew.sessions.state import SNAPSHOT_LEAST_UPDATES, MessagesChannel, SessionState, keep_messages

ids = st.integers(1, 6).map(str)
said = st.builds(lambda id, text: HumanMessage(text, id=id), ids, st.text(max_size=3))
removed = ids.map(lambda id: RemoveMessage(id=id))
all_removed = st.just(RemoveMessage(id=REMOVE_ALL_MESSAGES))
write = st.lists(said | removed | all_removed, max_size=4) | said


@given(st.lists(write, max_size=8), st.integers(0, 8))
def test_taking_writes_in_two_lots_is_the_same_as_taking_them_in_one(writes, cut):
    assert keep_messages(keep_messages([], writes[:cut]), writes[cut:]) == keep_messages([], writes)


@given(st.lists(st.lists(said, max_size=4), max_size=6))
def test_replacing_by_id_is_as_in_add_messages(writes):
    expected: list = []
    for one in writes:
        expected = add_messages(expected, one)
    assert keep_messages([], writes) == expected


def test_dicts_and_pairs_become_messages_and_those_without_an_id_stay_apart():
    kept = keep_messages([], [[{"role": "user", "content": "a"}, ("assistant", "b")], {"role": "user", "content": "a"}])
    assert [(type(message), message.content) for message in kept] == [
        (HumanMessage, "a"),
        (AIMessage, "b"),
        (HumanMessage, "a"),
    ]


def test_full_copies_add_up_to_a_few_times_the_conversation_however_long_it_is():
    channel = MessagesChannel(keep_messages, list, snapshot_frequency=SNAPSHOT_LEAST_UPDATES)
    channel.value, since, copied = [], 0, 0
    for number in range(1, 20_001):
        channel.value.append(number)
        since += 1
        if since >= channel.snapshot_frequency:
            copied, since = copied + len(channel.value), 0
    assert 0 < copied <= 5 * len(channel.value)


def test_a_state_of_ones_own_keeps_the_channel():
    class State(SessionState):
        plan: str

    channel = StateGraph(State).channels["messages"]
    assert isinstance(channel, MessagesChannel)
    assert channel.snapshot_frequency == SNAPSHOT_LEAST_UPDATES
    assert isinstance(channel.copy(), MessagesChannel)
