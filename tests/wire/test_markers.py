"""Text prompts with markers: which turns they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemoir.core.messages import text_message
from mnemoir.wire.text_completion import read_marked


def turns(text: str) -> list[tuple[str, str]] | None:
    read = read_marked(text)
    return None if read is None else [(message.role, message.text) for message in read]


def test_each_marker_begins_a_turn_of_its_role() -> None:
    text = "[Beg_Sys] Be kind.\n[Beg_User]\nHello,\nyou\n[Beg_Assistant]Hi![Beg_SysMes]It is noon.[Beg_User] Bye "
    assert turns(text) == [
        ("system", "Be kind."),
        ("user", "Hello,\nyou"),
        ("assistant", "Hi!"),
        ("systemMes", "It is noon."),
        ("user", "Bye"),
    ]


def test_only_the_first_system_prompt_is_one() -> None:
    assert turns("[Beg_Sys]SS[Beg_User]hi[Beg_Sys]again[Beg_Assistant]") == [
        ("system", "SS"),
        ("user", "hi"),
        ("systemMes", "again"),
        ("assistant", ""),
    ]


def test_what_no_known_marker_stands_before_is_left_out() -> None:
    assert turns("before [Beg_User]hi [Beg_Narrator]dark and stormy [Beg_User]there") == [
        ("user", "hi"),
        ("user", "there"),
    ]


@pytest.mark.parametrize("text", ["", "hello", "[Beg_]x", "[beg_user]x", "[Beg_User x", "[Beg_Narrator]x"])
def test_a_text_without_a_known_marker_holds_no_turns(text: str) -> None:
    assert read_marked(text) is None


@given(st.lists(st.tuples(st.sampled_from(["User", "Assistant", "SysMes"]), st.text(alphabet="ab \n[]", max_size=9))))
def test_turns_come_back_in_their_order(given_turns: list[tuple[str, str]]) -> None:
    text = "".join(f"[Beg_{word}]{said}" for word, said in given_turns)
    roles = {"User": "user", "Assistant": "assistant", "SysMes": "systemMes"}
    assert (turns(text) or []) == [(roles[word], said.strip()) for word, said in given_turns]


def test_an_empty_turn_is_a_message_without_parts() -> None:
    assert read_marked("[Beg_Assistant]") == (text_message("assistant", ""),)
