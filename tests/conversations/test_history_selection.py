"""Selection of a history's turns compared with an oracle: branches, clock ties and limits, for every preset."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.conversations.turns.presets import HistoryRules
from mnemoir.conversations.turns.threads import NIL, get_thread_messages_length
from mnemoir.conversations.turns.turns import Conversation, TurnLog, history_turns
from mnemoir.ports.turns import Turn
from tests.conversations.chats import NOON
from tests.conversations.thread_oracle import history_of, thread_of


@st.composite
def stored_turns(draw) -> list[Turn]:
    """Turns in the order they were stored. Few instants, so that many are the same; pointers may lead anywhere."""
    count = draw(st.integers(0, 14))
    names = [f"t{number}" for number in range(count)]
    answers = st.sampled_from([("yes", 3), ("yes", 0), ("", 0), ("", 5)])
    turns = []
    for number, name in enumerate(names):
        answer, tokens = draw(answers)
        turns.append(
            Turn(
                id=name,
                conversation_id="c",
                parent_message_id=draw(st.sampled_from([None, "", NIL, "gone", *names, *names[:number] * 2])),
                query="why?",
                answer=answer,
                answer_tokens=tokens,
                created_at=NOON + timedelta(minutes=draw(st.integers(0, 3))),
                seq=number + 1,
                has_tool_calls=draw(st.booleans()),
            )
        )
    return turns


@pytest.mark.parametrize("rule", ["scoped", "observed"])
@pytest.mark.parametrize("counts", ["turns", "rows"])
@given(
    turns=stored_turns(),
    order=st.randoms(use_true_random=False),
    limit=st.none() | st.integers(-1, 16) | st.just(501),
    skips_empty=st.booleans(),
    start=st.none() | st.integers(0, 15),
)
def test_a_history_is_what_the_reference_says(rule, counts, turns, order, limit, skips_empty, start):
    current = None if start is None else f"t{start}"
    shuffled = list(turns)
    order.shuffle(shuffled)
    talk = Conversation(id="c", app_id="app", tenant_id="me", rows=TurnLog(shuffled))
    rules = HistoryRules(thread=rule, limit_applies_to=counts, skip_empty_turns=skips_empty)
    found = history_turns(talk, rules, message_limit=limit, turn_id=current)
    assert [turn.id for turn in found] == history_of(
        turns, rule, limit=limit, counts_rows=counts == "rows", skips_empty=skips_empty, start=current
    )


@pytest.mark.parametrize("rule", ["scoped", "observed"])
@given(turns=stored_turns())
def test_a_dialogue_is_as_long_as_its_thread_but_for_a_newest_turn_without_an_answer(rule, turns):
    rows = sorted(turns, key=lambda turn: (turn.created_at, turn.seq), reverse=True)
    thread = thread_of(rows, rule, None)
    unanswered = bool(thread) and rows[0].answer == ""
    assert get_thread_messages_length("c", rows=TurnLog(turns), rule=rule) == len(thread) - unanswered
