"""Times of messages: assigned, stored and shown."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.discussions import Discussion
from mnemoir.core.messages import ImagePart, Message, Role, TextPart, ToolCall, text_message
from mnemoir.core.text import hashes
from mnemoir.storage.discussions.timestamps import FileTimestamps
from mnemoir.workflows import conversation
from mnemoir.workflows.conversation import PLACEHOLDER, distance, settle, stamp, time_context, with_times

NOW = datetime(2026, 11, 20, 16, 58, 30, 400, tzinfo=timezone(timedelta(hours=1)))


def ago(**span):
    return stamp(NOW - timedelta(**span))


def talk(*texts):
    """User and assistant in turn, the user first."""
    roles: tuple[Role, ...] = ("user", "assistant")
    return [text_message(roles[i % 2], text) for i, text in enumerate(texts)]


def key(text):
    return hashes(text_message("user", text))[0]


def shown(messages, times, relative=False):
    return [message.text for message in with_times(messages, times, relative=relative, now=NOW)]


def test_a_time_is_written_with_its_english_day():
    assert stamp(NOW) == "(Friday, 2026-11-20 16:58:30)"


@pytest.mark.parametrize(
    ("span", "words"),
    [
        ({"seconds": 59}, "less than a minute"),
        ({"minutes": 1}, "1 minute"),
        ({"hours": 2, "seconds": 30}, "2 hours"),
        ({"days": 1, "hours": 1, "minutes": 1}, "1 day, 1 hour, 1 minute"),
        ({"days": 400, "minutes": 5}, "400 days, 5 minutes"),
        ({"hours": -1}, "less than a minute"),
    ],
)
def test_a_distance_names_days_hours_and_minutes_that_are_not_zero(span, words):
    assert distance(NOW - timedelta(**span), NOW) == words


def test_a_new_history_is_dated_back_second_by_second():
    times: dict[str, str] = {}
    settle(times, [text_message("system", "S"), *talk("U1", "A1", "U2"), text_message("systemMes", "M")], NOW)
    assert times == {key("U2"): ago(), key("A1"): ago(seconds=1), key("U1"): ago(seconds=2)}


def test_a_known_time_stays_and_dates_what_lies_before_it():
    times = {key("A1"): ago(hours=1)}
    settle(times, talk("U1", "A1", "U2"), NOW)
    assert times == {key("U2"): ago(), key("A1"): ago(hours=1), key("U1"): ago(hours=1, seconds=1)}


def test_the_placeholder_dates_the_last_reply_even_when_it_was_edited():
    times = {key("U1"): ago(minutes=9), PLACEHOLDER: ago(minutes=8)}
    settle(times, talk("U1", "A1 edited", "U2"), NOW)
    assert times == {key("U1"): ago(minutes=9), key("A1 edited"): ago(minutes=8), key("U2"): ago()}


def test_the_placeholder_of_a_discarded_reply_is_removed():
    times = {key("A1"): ago(minutes=9), PLACEHOLDER: ago(minutes=1)}
    settle(times, talk("U1", "A1", "U2"), NOW)
    assert PLACEHOLDER not in times
    assert times[key("A1")] == ago(minutes=9)


def test_a_generation_prompt_at_the_end_gets_no_time_and_takes_no_placeholder():
    times = {PLACEHOLDER: ago(minutes=5)}
    messages = talk("U1", "A1", "U2", "Bob:")
    settle(times, messages, NOW)
    assert times == {key("U2"): ago(), key("A1"): ago(minutes=5), key("U1"): ago(minutes=5, seconds=1)}
    assert shown(messages, times)[3] == "Bob:"


def test_a_message_stored_with_other_escapes_of_its_braces_is_known():
    for old in hashes(text_message("user", "a {b}")):
        times = {old: ago(hours=2)}
        settle(times, talk("a {b}"), NOW)
        assert times == {old: ago(hours=2)}
        assert shown(talk("a {b}"), times) == [f"{ago(hours=2)} a {{b}}"]


def test_an_unreadable_time_is_left_and_dates_nothing():
    times = {key("A1"): "(Friday, 2026-02-31 10:00:00)"}
    settle(times, talk("U1", "A1", "U2"), NOW)
    assert times[key("U1")] == ago(seconds=2)
    assert shown(talk("U1", "A1"), {key("A1"): "long ago"}, relative=True) == ["U1", "A1"]


@given(st.lists(st.text(min_size=1, max_size=3)))
def test_settling_twice_changes_nothing_and_every_message_has_a_time(texts):
    messages = talk(*texts)
    times: dict[str, str] = {}
    settle(times, messages, NOW)
    once = dict(times)
    settle(times, messages, NOW + timedelta(days=1))
    assert times == once
    said = [text for text in texts if text.strip()]
    assert all(key(text) in times for text in said[:-1])


def test_times_are_shown_in_front_of_a_copy():
    messages = talk("U1", "A1")
    times = {key("U1"): ago(hours=26, minutes=3), key("A1"): ago()}
    assert shown(messages, times) == ["(Thursday, 2026-11-19 14:55:30) U1", "(Friday, 2026-11-20 16:58:30) A1"]
    assert shown(messages, times, relative=True) == [
        "[Sent 1 day, 2 hours, 3 minutes ago] U1",
        "[Sent less than a minute ago] A1",
    ]
    assert messages == talk("U1", "A1")


def test_system_messages_tool_results_and_messages_without_a_time_stay_as_they_are():
    call = ToolCall(id="c1", name="look", arguments="{}")
    messages = [
        text_message("system", "U1"),
        text_message("systemMes", "U1"),
        Message(role="tool", parts=(TextPart(text="U1"),), tool_call_id="c1"),
        Message(role="assistant", tool_calls=(call,)),
        text_message("user", "unknown"),
    ]
    times = {key("U1"): ago(), key(""): ago()}
    assert all(
        new is old for new, old in zip(with_times(messages, times, relative=False, now=NOW), messages, strict=True)
    )


def test_a_message_that_has_its_time_in_front_gets_no_second_one():
    text = f"{ago()} said"
    assert shown(talk(text), {key(text): ago()}) == [text]


def test_the_time_of_a_picture_stands_before_it():
    picture = Message(role="user", parts=(ImagePart(url="https://pictures.example/a.png"),))
    times: dict[str, str] = {}
    settle(times, [picture], NOW)
    (copy,) = with_times([picture], times, relative=False, now=NOW)
    assert copy.parts == (TextPart(text=f"{ago()} "), *picture.parts)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ({}, ""),
        ({PLACEHOLDER: ago(hours=1)}, ""),
        ({"a": "long ago"}, ""),
        ({"a": ago(hours=1), "b": ago(hours=1)}, "[Time Context: The conversation started 1 hour ago.]"),
        (
            {"a": ago(days=1), "b": ago(hours=1), "c": ago(minutes=2), PLACEHOLDER: ago()},
            "[Time Context: This conversation started 1 day ago. The most recent message was sent 2 minutes ago.]",
        ),
    ],
)
def test_the_time_context_has_the_first_and_the_last_time(times, words):
    assert time_context(times, NOW) == words


async def test_a_turn_is_dated_from_its_question_to_the_reply_that_comes_back(tmp_path):
    store, discussion = FileTimestamps(), Discussion(root=tmp_path, id="d1")
    await conversation.backfill(store, discussion, talk("U1"), now=NOW - timedelta(minutes=10))
    await conversation.mark_reply(store, discussion, now=NOW - timedelta(minutes=9))
    known = await conversation.backfill(store, discussion, talk("U1", "A1 ", "U2"), now=NOW)
    assert known == {key("U1"): ago(minutes=10), key("A1 "): ago(minutes=9), key("U2"): ago()}
    assert await store.load(discussion) == known


async def test_a_group_chat_dates_its_reply_at_once(tmp_path):
    store, discussion = FileTimestamps(), Discussion(root=tmp_path, id="d1")
    await conversation.mark_reply(store, discussion, now=NOW - timedelta(minutes=1))
    await conversation.commit_reply(store, discussion, "Bob: Hello.", now=NOW)
    await conversation.commit_reply(store, discussion, "Eve: Without a placeholder.", now=NOW)
    known = {key("Bob: Hello."): ago(minutes=1), key("Eve: Without a placeholder."): ago()}
    assert await store.load(discussion) == known
