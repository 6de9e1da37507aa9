"""The session's part of the window: what stays, what goes, and in which order."""

import pytest

from clew.context import SessionMessage
from clew.context.history import fit_history
from clew.context.manifest import FITS, LATEST_USER, OLDER, SHORTENED, TOO_LARGE
from clew.errors import BudgetExceeded
from clew.messages import from_openai, group
from clew.tokens import DEFAULT_ENCODING, count_messages, count_priming

from .conversations import PIXEL


def session(*messages, tokens=None):
    made = from_openai(messages)
    return [SessionMessage(m.model_copy(update={"id": f"m{i}"}), tokens) for i, m in enumerate(made)]


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def calls(*ids, arguments="{}"):
    made = [{"id": id, "type": "function", "function": {"name": "look", "arguments": arguments}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(id, text):
    return {"role": "tool", "tool_call_id": id, "content": text}


def fitted(entries, limit):
    history = fit_history(entries, limit, DEFAULT_ENCODING)
    used = count_messages(list(history.messages)) - count_priming()
    assert used == sum(item.tokens for item in history.items if item.kept) <= limit
    return history


def kept_ids(history):
    return [message.id for message in history.messages]


def test_what_fits_is_kept_whole_and_in_order():
    history = fitted(session(user("hi"), assistant("hello"), user("bye")), 100)
    assert kept_ids(history) == ["m0", "m1", "m2"]
    assert [item.reason for item in history.items] == [FITS, FITS, LATEST_USER]


def test_no_messages_are_no_history():
    assert fitted([], 0).messages == ()


def test_the_oldest_go_first_and_the_rest_starts_with_a_user():
    turns = [m for n in range(20) for m in (user(f"question {n}"), assistant(f"answer {n}"))]
    history = fitted(session(*turns), 100)
    ids = kept_ids(history)
    assert ids == [f"m{i}" for i in range(40 - len(ids), 40)], "a run that ends with the newest"
    assert history.messages[0].role == "user"
    assert [item.reason for item in history.items if not item.kept] == [OLDER] * (40 - len(ids))
    assert sum(item.tokens for item in history.items if item.kept) > 40, "and never less than about half the share"


def test_parallel_calls_and_their_results_go_together():
    entries = session(
        user("look"), calls("a", "b"), result("b", "x " * 30), result("a", "y " * 30), user("and now?"), assistant("so")
    )
    history = fitted(entries, 60)
    assert kept_ids(history) == ["m4", "m5"]
    assert len(kept_ids(fitted(entries, 200))) == 6


def test_the_latest_user_message_stays_when_the_calls_after_it_fill_the_share():
    steps = [m for n in range(30) for m in (calls(f"c{n}"), result(f"c{n}", f"row {n} " * 10))]
    history = fitted(session(user("old"), assistant("older answer"), user("Go through all rows"), *steps), 400)
    ids = kept_ids(history)
    assert ids[0] == "m2"
    assert ids[-1] == "m62"
    assert "m0" not in ids
    assert len(ids) < 63
    assert all(not unit.pending for unit in group(history.messages))


def test_a_user_message_larger_than_the_share_is_shortened_where_one_can_see_it():
    text = "The beginning. " + "word " * 5_000 + "What does it mean?"
    history = fitted(session(user("before"), user(text)), 200)
    (message,) = history.messages
    assert message.text.startswith("The beginning.")
    assert message.text.endswith("What does it mean?")
    assert "[… the middle of this text is left out …]" in message.text
    item = history.items[1]
    assert (item.source_id, item.reason, item.kept) == ("m1", SHORTENED, True)
    assert item.full_tokens > 5_000 > 200 >= item.tokens


@pytest.mark.parametrize("limit", [6, 8, 12, 20, 40])
def test_even_a_tiny_share_shows_that_there_was_a_message(limit):
    history = fitted(session(user("word " * 500)), limit)
    assert "[…" in history.messages[0].text


@pytest.mark.parametrize("text", ["word " * 500, "数字🦆" * 300, "a\n\n\nb" * 300, "x" * 3_000, "\n" * 4_000])
def test_a_shortened_message_uses_the_room_there_is(text):
    for limit in range(30, 150):
        history = fitted(session(user(text)), limit)
        assert history.items[0].tokens >= limit - 8


def test_a_share_without_room_for_a_mark_is_refused_with_the_numbers():
    with pytest.raises(BudgetExceeded, match=r"session_messages: message 'm0' needs 505 tokens, and 4 are available"):
        fitted(session(user("word " * 500)), 4)


def test_attachments_stay_while_there_is_room_for_words():
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    content = [{"type": "text", "text": "word " * 500}, image]
    with_image = fitted(session(user(content)), 400).messages[0]
    assert [part.type for part in with_image.content] == ["text", "media"]
    without = fitted(session(user(content)), 100).messages[0]
    assert [part.type for part in without.content] == ["text"]
    assert without.text.startswith("[attachments left out]")
    alone = fitted(session(user([{"type": "text", "text": "What is this?"}, image])), 100).messages[0]
    assert alone.text == "[attachments left out]\nWhat is this?"


def test_a_result_that_could_never_fit_is_shortened_while_its_turn_runs():
    entries = session(user("Read the file"), calls("a"), result("a", "line\n" * 5_000))
    history = fitted(entries, 500)
    assert kept_ids(history) == ["m0", "m1", "m2"]
    assert "[… the middle of this text is left out …]" in history.messages[2].text
    assert history.items[2].reason == SHORTENED
    assert history.items[2].full_tokens > 500
    later = fitted([*entries, *session(*[user("x")] * 4, assistant("It says line."))[4:]], 500)
    assert kept_ids(later)[:3] == ["m0", "m1", "m2"], "and in the same way at the next step"
    assert later.messages[:3] == history.messages


def test_calls_too_long_to_fit_are_left_out_whole():
    history = fitted(session(user("Write it"), calls("a", arguments="x" * 9_000), result("a", "done")), 300)
    assert kept_ids(history) == ["m0"]
    assert [item.reason for item in history.items] == [LATEST_USER, TOO_LARGE, TOO_LARGE]


def test_pending_calls_stay_and_are_answered_because_the_history_is_sent():
    history = fitted(session(user("look"), calls("a", "b"), result("a", "found")), 200)
    assert len(history.messages) == 4
    assert "had not been answered" in history.messages[-1].text
    assert [item.kind for item in history.items] == ["message", "message", "message", "repair"]
    assert [repair.kind for repair in history.repairs] == ["closed_call"]


def test_damage_is_mended_and_told():
    entries = session(user("hi"), result("nobody", "orphan"), calls("a"), user("well?"), result("a", "late"))
    entries.append(entries[0])
    history = fitted(entries, 300)
    assert kept_ids(history) == ["m0", "m2", "m4", "m3"]
    assert {repair.kind for repair in history.repairs} == {"orphan_result", "moved_result", "duplicate_message"}
    gone = [item for item in history.items if not item.kept]
    assert [item.source_id for item in gone] == ["m1", "m0"]
    assert all(item.reason.startswith("repair: Dropped message") for item in gone)


def test_the_same_object_given_twice_is_told_apart():
    answer = session(calls("a"), result("a", "found"))
    entries = [answer[1], *session(user("hi")), answer[0], answer[1]]
    nameless = [SessionMessage(entry.message.model_copy(update={"id": None})) for entry in entries]
    nameless[3] = nameless[0]
    history = fitted(nameless, 300)
    assert len(history.messages) == 3
    assert [item.kept for item in history.items] == [False, True, True, True]
    assert history.items[0].source_id == "session_messages[0]"


def test_a_repeated_call_is_taken_from_its_message_and_the_message_keeps_its_line():
    twice = session(user("hi"), calls("a"), result("a", "found"), {**calls("a"), "content": "again"}, user("ok"))
    history = fitted(twice, 300)
    assert kept_ids(history) == ["m0", "m1", "m2", "m3", "m4"]
    assert history.messages[3].tool_calls == ()


def test_without_a_user_the_opening_that_mending_put_in_leads():
    history = fitted(session(*[assistant(f"step {n} of the work") for n in range(30)]), 100)
    assert history.messages[0].text == "[The beginning of this conversation is missing.]"
    assert history.messages[-1].id == "m29"
    assert 2 < len(history.messages) < 30


def test_stored_counts_are_believed_only_for_what_is_left_out():
    turns = [m for n in range(20) for m in (user(f"question {n}"), assistant(f"answer {n}"))]
    history = fitted(session(*turns, tokens=7_777), 100)
    assert {item.tokens == 7_777 for item in history.items if not item.kept} == {True}
    assert {item.tokens == 7_777 for item in history.items if item.kept} == {False}
