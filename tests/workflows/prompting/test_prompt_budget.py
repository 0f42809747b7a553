"""Conversations cut to a number of tokens."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.messages import Message, ToolCall, text_message
from mnemoir.workflows.prompting.history import fit

roles = st.sampled_from(["system", "systemMes", "user", "assistant", "tool"])
conversations = st.lists(st.builds(text_message, roles, st.text(max_size=30)), max_size=12)


def turns(count):
    return [text_message("user" if number % 2 == 0 else "assistant", f"turn {number}") for number in range(count)]


def words(text):
    return len(text.split())


def test_messages_that_fit_are_not_changed():
    assert fit(turns(5), 1000) == (turns(5), 0)


def test_the_oldest_messages_are_dropped_first_and_whole():
    # each message costs two words and eight tokens around it
    assert fit(turns(9), 35, estimate=words) == (turns(9)[-3:], 6)


def test_system_messages_and_the_last_user_message_always_stay():
    system, later = text_message("system", "be brief " * 50), text_message("systemMes", "and kind")
    asked, open_turn = text_message("user", "why? " * 50), text_message("assistant", "Assistant:")
    talk = [system, *turns(4), later, asked, open_turn]
    assert fit(talk, 10, estimate=words) == ([system, later, asked], 5)


def test_after_the_first_message_that_does_not_fit_no_shorter_one_is_taken():
    talk = [text_message("user", "hi"), text_message("assistant", "word " * 90), text_message("user", "go on")]
    assert fit(talk, 60, estimate=words) == (talk[-1:], 2)


def test_without_a_user_the_newest_message_stays():
    talk = [text_message("assistant", "one"), text_message("assistant", "two")]
    assert fit(talk, 0) == (talk[-1:], 1)


def test_an_answer_of_a_tool_goes_with_its_call():
    calling = Message(role="assistant", tool_calls=(ToolCall(id="1", name="now", arguments="word " * 90),))
    answered = Message(role="tool", parts=text_message("tool", "noon").parts, tool_call_id="1")
    told, asked = text_message("assistant", "It is noon."), text_message("user", "Thanks")
    assert fit([calling, answered, told, asked], 60, estimate=words) == ([told, asked], 2)


def test_an_answer_behind_a_system_message_goes_with_its_call_and_the_system_message_stays():
    calling = Message(role="assistant", tool_calls=(ToolCall(id="1", name="now", arguments="word " * 90),))
    rule, asked = text_message("system", "be kind"), text_message("user", "Thanks")
    assert fit([calling, rule, text_message("tool", "noon"), asked], 60, estimate=words) == ([rule, asked], 2)


def test_the_newest_answer_of_a_tool_stays_with_its_call_where_no_user_speaks():
    calling = Message(role="assistant", tool_calls=(ToolCall(id="1", name="now", arguments="{}"),))
    answered = Message(role="tool", parts=text_message("tool", "noon " * 90).parts, tool_call_id="1")
    assert fit([*turns(4)[3:], calling, answered], 60, estimate=words) == ([calling, answered], 1)


def test_an_answer_of_a_tool_at_the_beginning_of_what_fits_whole_stays():
    talk = [text_message("tool", "noon"), text_message("user", "Thanks")]
    assert fit(talk, 100) == (talk, 0)


def test_no_messages_are_no_messages():
    assert fit([], 10) == ([], 0)


def test_messages_older_than_the_budget_are_never_counted():
    counted = []

    def count(text):
        counted.append(text)
        return len(text.split())

    fit(turns(10_000), 100, estimate=count)
    assert len(counted) < 15


def test_a_huge_text_is_judged_by_its_length_and_not_counted():
    huge = text_message("user", "word " * 2_000_000)
    tracemalloc.start()
    try:
        kept, dropped = fit([huge, *turns(3)], 4000)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert (kept, dropped) == (turns(3), 1)


@given(conversations, st.integers(-10, 200))
def test_remaining_messages_keep_their_order_and_include_the_newest(talk, budget):
    kept, dropped = fit(talk, budget)
    assert len(kept) + dropped == len(talk)
    rest = iter(talk)
    assert all(any(message is other for other in rest) for message in kept)
    users = [message for message in talk if message.role == "user"]
    assert not users or kept[-1:] == talk[-1:] or any(message is users[-1] for message in kept)
