"""The history for a chat application's model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.conversations.turns.presets import COMPAT_A_NEW, COMPAT_A_OLD, preset
from mnemoir.conversations.turns.threads import NIL
from mnemoir.conversations.turns.token_buffer import TokenBufferMemory
from mnemoir.core.conversations import Message
from tests.conversations.chats import LetterModel, attachment, chat, line, shelf, spoken, turn
from tests.narrowing import present


def said(turns, *, rules="default", turn_id=None, model=None, **limits) -> list[str]:
    memory = TokenBufferMemory(chat(turns), model or LetterModel(), rules=preset(rules), turn_id=turn_id)
    return spoken(memory.get_history_prompt_messages(**limits))


def test_a_turn_gives_the_question_and_its_answer_oldest_first():
    memory = TokenBufferMemory(chat(line(2)), LetterModel())
    assert memory.get_history_prompt_messages() == [
        Message("user", "q0"),
        Message("assistant", "a0"),
        Message("user", "q1"),
        Message("assistant", "a1"),
    ]


def test_limits_may_be_given_by_place():
    memory = TokenBufferMemory(chat(line(5)), LetterModel())
    assert spoken(memory.get_history_prompt_messages(2000, 1)) == ["q4", "a4"]
    assert spoken(memory.get_history_prompt_messages(8)) == ["q3", "a3", "q4", "a4"]
    assert memory.get_history_prompt_text("H", "A", 2000, 1) == "H: q4\nA: a4"


def test_a_regenerated_answer_takes_the_place_of_the_first_one():
    first, other, regenerated, then = turn(1), turn(2, 1), turn(3, answer="again"), turn(4, 3)
    assert said([first, other, regenerated, then]) == ["q3", "again", "q4", "a4"]


def test_history_leads_to_the_turn_being_answered_and_not_to_the_newest():
    branches = [turn(0), turn(1, 0), turn(2, 0), turn(3, 1, answer=""), turn(4, 2, answer="")]
    assert said(branches, turn_id="t3") == ["q0", "a0", "q1", "a1"]
    assert said(branches) == ["q0", "a0", "q2", "a2"]


def test_a_turn_whose_parent_is_newer_keeps_its_history_unless_the_rules_pass_over_the_turns_once():
    set_back = [turn(0), turn(5, 0), turn(2, 5), turn(3, 2, answer="")]  # the clock went back after turn 5
    assert said(set_back, turn_id="t3") == ["q0", "a0", "q5", "a5", "q2", "a2"]
    assert said(set_back, turn_id="t3", rules="compat_a_new") == ["q0", "a0", "q2", "a2"]


def test_a_turn_that_is_not_stored_has_no_history_rather_than_another_branchs():
    assert said(line(3), turn_id="t9") == []


def test_a_limit_counts_finished_turns_of_the_thread():
    with_dead_branch = [*line(3), turn(3, 2, answer="dead"), turn(4, 2), turn(5, 4, answer="")]
    assert said(with_dead_branch, message_limit=2) == ["q2", "a2", "q4", "a4"]


def test_the_old_limit_counts_rows_of_every_branch_and_the_unfinished_turn():
    with_dead_branch = [*line(3), turn(3, 2, answer="dead"), turn(4, 2), turn(5, 4, answer="")]
    assert said(with_dead_branch, message_limit=4, rules="compat_a_new") == ["q2", "a2", "q4", "a4"]
    assert said(with_dead_branch, message_limit=3, rules="compat_a_new") == ["q4", "a4"]
    assert said(with_dead_branch, message_limit=1, rules="compat_a_new") == []


def test_without_a_limit_of_its_own_a_history_has_500_turns():
    linear = [turn(seq, NIL) for seq in range(502)]
    for limit in (None, 0, -1, 501):
        history = said(linear, message_limit=limit, max_token_limit=10**6)
        assert (len(history), history[0]) == (1000, "q2")


def test_an_empty_answer_is_left_out_wherever_it_stands():
    turns = [turn(0), turn(1, 0, answer=""), turn(2, 1), turn(3, 2, answer="", answer_tokens=9)]
    assert said(turns) == ["q0", "a0", "q2", "a2"]
    assert said(turns, rules="compat_a_new") == ["q0", "a0", "q1", "", "q2", "a2", "q3", ""]


def test_a_turn_of_tool_calls_alone_keeps_its_question():
    turns = [turn(0, answer="", has_tool_calls=True), turn(1, 0)]
    assert said(turns) == ["q0", "q1", "a1"]


def test_whole_turns_are_dropped_until_the_history_fits():
    assert said(line(3), max_token_limit=8) == ["q1", "a1", "q2", "a2"]
    assert said(line(3), max_token_limit=7) == ["q2", "a2"]
    assert said(line(3), max_token_limit=3) == []
    assert said(line(3), max_token_limit=0) == []


def test_the_oldest_preset_drops_single_messages_and_keeps_the_last_one():
    assert said(line(3), max_token_limit=7, rules="compat_a_old") == ["a1", "q2", "a2"]
    assert said(line(3), max_token_limit=-1, rules="compat_a_old") == ["a2"]


def test_a_model_that_counts_nothing_does_not_switch_the_limit_off():
    class Blind:
        def get_llm_num_tokens(self, messages):
            return 0

    turns = [turn(seq, NIL, query="word " * 40) for seq in range(10)]
    kept = said(turns, model=Blind(), max_token_limit=200)
    assert kept[-1] == "a9"
    assert len(kept) < 20
    assert len(said(turns, model=Blind(), max_token_limit=200, rules="compat_a_new")) == 20


def test_a_counter_of_unknown_growth_counts_the_whole_history_first():
    class Odd:
        def get_llm_num_tokens(self, messages):
            return 1 if len(messages) > 70 else 1000

    assert len(said(line(40), model=Odd(), max_token_limit=10)) == 80


@pytest.mark.parametrize("rules", ["default", "compat_a_old", "compat_a_new"])
def test_a_monotone_model_counts_a_dozen_times_for_500_turns(rules):
    class Counting(LetterModel):
        token_growth = "monotone"
        asked = 0

        def get_llm_num_tokens(self, messages):
            self.asked += 1
            return super().get_llm_num_tokens(messages)

    model = Counting()
    kept = said(line(500), model=model, max_token_limit=100, rules=rules)
    assert kept == said(line(500), max_token_limit=100, rules=rules)
    assert len(kept) > 10
    assert model.asked <= 12


def test_the_text_is_made_of_the_same_messages():
    memory = TokenBufferMemory(chat(line(3)), LetterModel())
    assert memory.get_history_prompt_text(max_token_limit=8) == "Human: q1\nAssistant: a1\nHuman: q2\nAssistant: a2"
    assert memory.get_history_prompt_text("", "", message_limit=1) == ": q2\n: a2"
    assert TokenBufferMemory(chat([]), LetterModel()).get_history_prompt_text() == ""


def test_a_text_marks_images_and_passes_over_other_files():
    talk = chat(
        line(1), attachment("t0", "a.png"), attachment("t0", "b.pdf", "document"), files=shelf("a.png", "b.pdf")
    )
    memory = TokenBufferMemory(talk, LetterModel())
    assert memory.get_history_prompt_text() == "Human: [image]\nq0\nAssistant: a0"


def test_files_of_turns_that_do_not_fit_are_not_opened():
    names = [f"{at}.png" for at in range(40)]
    files = shelf(*names)
    talk = chat(line(40), *(attachment(f"t{at}", name) for at, name in enumerate(names)), files=files)
    window = TokenBufferMemory(talk, LetterModel()).get_history_prompt_messages(max_token_limit=64)
    assert len(window) == 8
    assert set(files.opened) == set(names[-16:])


def test_all_files_are_opened_where_all_turns_fit():
    names = [f"{at}.png" for at in range(40)]
    talk = chat(line(40), *(attachment(f"t{at}", name) for at, name in enumerate(names)), files=shelf(*names))
    window = TokenBufferMemory(talk, LetterModel()).get_history_prompt_messages(max_token_limit=10**4)
    assert [len(present(message.content)) for message in window[::2]] == [2] * 40


@st.composite
def forests(draw):
    """Turns whose parents are older turns, none, or the sentinel; the last one may be under way."""
    turns = []
    for seq in range(draw(st.integers(0, 12))):
        parent = draw(st.sampled_from([None, "", NIL, *range(seq)]))
        answer = draw(st.sampled_from([None, None, ""]))
        query = "x" * draw(st.integers(1, 9))
        turns.append(turn(seq, parent, answer, query=query, answer_tokens=draw(st.integers(0, 1))))
    return turns


def ancestors(turns, start):
    """The turns above `start` and itself, oldest first, found from pointer to pointer."""
    path, at = [], start
    while at is not None:
        path.append(turns[at])
        parent = turns[at].parent_message_id
        at = at - 1 if parent == NIL and at else (int(parent[1:]) if parent and parent != NIL else None)
    return path[::-1]


@given(forests(), st.integers(0, 60), st.integers(1, 12), st.data())
def test_a_history_is_the_newest_turns_above_the_current_one_that_fit(turns, budget, limit, data):
    start = data.draw(st.sampled_from(range(len(turns)))) if turns else None
    path = ancestors(turns, start) if turns else []
    if path and not path[-1].answer and not path[-1].answer_tokens:
        path.pop()
    answered = [turn for turn in path if turn.answer][-limit:]
    suffixes = [answered[at:] for at in range(len(answered) + 1)]
    expected = next(turns for turns in suffixes if sum(len(one.query + one.answer) for one in turns) <= budget)
    history = said(turns, turn_id=f"t{start}" if turns else None, max_token_limit=budget, message_limit=limit)
    assert history == [text for turn in expected for text in (turn.query, turn.answer)]


@given(forests(), st.integers(-1, 60))
def test_the_compatible_presets_cut_alike_but_for_the_unit(turns, budget):
    talk = chat(turns)
    everything = TokenBufferMemory(talk, LetterModel(), rules=COMPAT_A_OLD).get_history_prompt_messages(10**6)
    old = TokenBufferMemory(talk, LetterModel(), rules=COMPAT_A_OLD).get_history_prompt_messages(budget)
    new = TokenBufferMemory(talk, LetterModel(), rules=COMPAT_A_NEW).get_history_prompt_messages(budget)
    assert everything[len(everything) - len(old) :] == old
    assert old[len(old) - len(new) :] == new
    assert len(old) >= min(1, len(everything))
