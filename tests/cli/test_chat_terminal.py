"""The terminal chat as a person uses it: typing, reading a streamed answer, stopping it, leaving."""

import stat
from functools import partial

import pytest

from tests.cli.chat_server import told
from tests.cli.chat_terminal import ALT_ENTER, END_OF_INPUT, ENTER, ERASE_LINE, INTERRUPT, TAB, UP, chatting
from tests.scripted_llm import Answer, failure

pytestmark = pytest.mark.costly("a program on a terminal")


@pytest.fixture
def chat(served, llm, user, tmp_path):
    """Begins a chat of that user."""
    return partial(chatting, "--user", user, home=tmp_path, environment=served.environment)


@pytest.mark.slow
def test_words_are_shown_while_the_model_still_answers(chat, llm):
    llm.queue(Answer(text="one two three four five", stall_after=3))
    with chat() as terminal:
        terminal.say("Count.")
        terminal.see("one two three")
        llm.release()
        terminal.see("one two three four five")
        terminal.see_prompt()


@pytest.mark.slow
def test_markdown_is_drawn(chat, llm):
    llm.queue(Answer(text="A **bold** move:\n\n- first\n- second\n\nThe end."))
    with chat() as terminal:
        shown = terminal.ask("Move.")
    assert "A bold move:" in shown
    assert " • second" in shown
    assert "**" not in shown


@pytest.mark.slow
def test_terminal_commands_in_an_answer_are_shown_as_text(chat, llm):
    llm.queue(Answer(text="It is \x1b[31mred\x1b]0;owned\x07 and \u202eback."))
    with chat() as terminal:
        terminal.say("Colour?")
        seen = terminal.see_prompt()
    assert r"\x1b[31mred\x1b]0;owned\x07 and \u202eback." in seen
    assert "\x1b]0;" not in seen
    assert "\x07" not in seen


@pytest.mark.slow
def test_an_interrupt_in_mid_reply_stops_that_reply_alone(chat, llm):
    llm.queue(Answer(text="one two three four five", stall_after=3), Answer(text="Here I am."))
    with chat() as terminal:
        terminal.say("Count.")
        terminal.see("one two three")
        terminal.type(INTERRUPT)
        terminal.see("Stopped; the answer stays incomplete.")
        assert llm.wait_disconnected()
        terminal.see_prompt()
        terminal.say("Are you there?")
        terminal.see("Here I am.")
        terminal.see_prompt()
        shown = terminal.ask("/history")
        assert "one two three [incomplete]" in shown
        assert "Here I am. [incomplete]" not in shown
        assert terminal.leave() == 0


@pytest.mark.slow
def test_a_failed_turn_is_reported_and_the_chat_goes_on(chat, llm):
    llm.queue(failure(500, "the model is asleep"), Answer(text="Awake."))
    with chat() as terminal:
        assert "500" in terminal.ask("Hello?")
        assert "Awake." in terminal.ask("Hello again?")
        assert terminal.leave() == 0


@pytest.mark.slow
def test_an_interrupt_at_the_prompt_asks_and_keeps_what_was_typed(chat, llm):
    llm.queue(Answer(text="Got it."))
    with chat() as terminal:
        terminal.type("half a thought")
        terminal.see("thought")
        terminal.type(INTERRUPT)
        terminal.see(r"Leave the chat\? \[y/N\]")
        terminal.say("n")
        terminal.see("half a thought")
        terminal.type(" made whole" + ENTER)
        terminal.see("Got it.")
        terminal.see_prompt()
        terminal.type(INTERRUPT)
        terminal.see(r"\[y/N\]")
        terminal.say("y")
        assert terminal.ended() == 0
    assert told(llm)[0][-1] == "half a thought made whole"


@pytest.mark.slow
def test_the_end_of_input_leaves(chat):
    with chat() as terminal:
        terminal.say("   ")
        terminal.see_prompt()
        terminal.type(END_OF_INPUT)
        assert terminal.ended() == 0


@pytest.mark.slow
def test_a_message_may_have_several_lines(chat, llm):
    with chat() as terminal:
        terminal.type("first line" + ALT_ENTER + "second line" + ENTER)
        terminal.see("Understood.")
    assert told(llm)[0][-1] == "first line\nsecond line"


@pytest.mark.slow
def test_tab_completes_commands_and_conversations(chat):
    with chat("--session", "tea/odd id") as terminal:
        terminal.ask("Hello.")
        terminal.type("/loa" + TAB)
        terminal.see("d")
        terminal.type(" tea" + TAB)
        terminal.see("/odd id")
        terminal.type(ENTER)
        assert "Loaded Hello.: 2 messages." in terminal.see_prompt()
        terminal.type("/nothing/at/all" + TAB + ERASE_LINE)
        assert terminal.leave() == 0


@pytest.mark.slow
def test_typed_lines_are_available_in_the_next_chat_and_private(chat, tmp_path):
    file = tmp_path / ".local/share/mnemoir/chat-history"
    with chat() as terminal:
        terminal.ask("A line to find again.")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with chat() as terminal:
        terminal.type(UP)
        terminal.see("A line to find again.")
        terminal.type(ENTER)
        terminal.see("Understood.")


@pytest.mark.slow
def test_without_memory_typed_lines_are_not_stored(chat, tmp_path):
    with chat("--no-memory") as terminal:
        terminal.ask("A line that nobody keeps.")
        assert terminal.leave() == 0
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


@pytest.mark.slow
def test_with_encryption_typed_lines_are_not_stored_and_those_of_before_are_removed(chat, tmp_path):
    file = tmp_path / ".local/share/mnemoir/chat-history"
    with chat() as terminal:
        terminal.ask("A line in plain.")
    assert b"A line in plain." in file.read_bytes()
    (tmp_path / "mnemoir.yaml").write_text("encryption: {mode: fields}\n")
    with chat() as terminal:
        terminal.ask("Another line.")
        assert terminal.leave() == 0
    assert [one for one in tmp_path.rglob("*") if one.is_file() and b" line" in one.read_bytes()] == []


def test_a_chat_says_first_who_talks_to_whom_and_whether_it_is_remembered(chat, served, user):
    with chat() as terminal:
        port = served.environment["MNEMOIR_SERVER__PORT"]
        assert f"Mnemoir at http://127.0.0.1:{port} · model scripted · user {user} · memory on" in terminal.greeting
    with chat("--no-memory") as terminal:
        assert "memory off" in terminal.greeting


def test_what_was_learned_stands_above_the_prompt_and_can_be_undone(chat, llm):
    llm.queue(Answer(text="I see."))
    with chat() as terminal:
        terminal.say("I eat no nuts.")
        terminal.see("Learned: I eat no nuts.")
        terminal.ask("/help")
        assert "Undone: I eat no nuts." in terminal.ask("/undo")
        assert "can be undone" in terminal.ask("/undo")
        assert "Nothing is remembered yet." in terminal.ask("/memories")
