"""The commands of the terminal chat, each typed at a terminal."""

import json
from functools import partial

import pytest

from tests.cli.chat_server import piped, told
from tests.cli.chat_terminal import chatting
from tests.cli.command_process import run_here

pytestmark = pytest.mark.costly("a program on a terminal")


@pytest.fixture
def chat(served, llm, user, tmp_path):
    """Begins a chat of that user."""
    return partial(chatting, "--user", user, home=tmp_path, environment=served.environment)


@pytest.fixture
def talk(served, llm, user, tmp_path, capsys):
    """Has that user say something in a conversation, in a chat that is over then."""

    def said(id, text):
        where = {"cwd": tmp_path, "capsys": capsys, **served.environment}
        assert piped("--user", user, "--session", id, said=text, **where).returncode == 0

    return said


@pytest.fixture
def conversations(served, user, tmp_path, capsys):
    """Asks the server about that user's conversations, apart from any chat."""

    def ask(*arguments):
        done = run_here(
            "conversations", *arguments, "--user", user, "--json", cwd=tmp_path, capsys=capsys, **served.environment
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


@pytest.mark.slow
def test_conversations_are_listed_and_continued(chat, talk):
    with chat("--session", "apricot-0002") as terminal:
        assert "There are no conversations yet." in terminal.ask("/sessions")
        talk("apple-0001", "I sell apples.")
        terminal.ask("I sell apricots.")
        listed = terminal.ask("/SESSIONS 5")
        lines = [line.strip() for line in listed.splitlines() if "I sell" in line]
        assert [line.split("  ")[0] for line in lines] == ["* apricot-", "apple-00"]
        assert "2 messages  just now" in lines[1]
        assert "Usage: /sessions [n]" in terminal.ask("/sessions many")
        assert "Loaded I sell apples.: 2 messages." in terminal.ask("/load appl")
        assert "I sell apples." in terminal.ask("/history")


@pytest.mark.slow
def test_what_cannot_be_loaded_leaves_the_conversation_as_it_is(chat, talk):
    for id in ("shared-1", "shared-2"):
        talk(id, f"This is {id}.")
    with chat("--session", "shared-1") as terminal:
        assert "Usage: /load <session>" in terminal.ask("/load")
        assert "No conversation begins with 'sha'." in terminal.ask("/load sha")  # which is too short
        assert "No conversation begins with 'other'." in terminal.ask("/load other")
        ambiguous = terminal.ask("/load shared")
        assert "2 conversations begin with 'shared'" in ambiguous
        assert "shared-1" in ambiguous
        assert "shared-2" in ambiguous
        assert "This is shared-1." in terminal.ask("/history 2")


@pytest.mark.slow
def test_saving_reports_the_stored_messages(chat):
    with chat("--session", "saved-1") as terminal:
        assert "This conversation has no messages yet." in terminal.ask("/save")
        terminal.ask("Keep this.")
        assert "Saved saved-1: 2 messages." in terminal.ask("/save")


@pytest.mark.slow
def test_clearing_hides_earlier_messages_from_the_model_and_deletes_nothing(chat, llm):
    with chat() as terminal:
        assert "This conversation has no messages yet." in terminal.ask("/clear")
        terminal.ask("My number is 4711.")
        assert "Cleared: " in terminal.ask("/clear")
        llm.clear()
        terminal.ask("What is my number?")
        assert told(llm) == [["What is my number?"]]
        history = terminal.ask("/history")
        assert (
            history.index("4711") < history.index("--- the context was cleared here ---") < history.index("What is")
        )
        assert "My number is 4711." in terminal.ask("/search 4711")


@pytest.mark.slow
def test_a_pinned_message_is_marked(chat):
    with chat() as terminal:
        terminal.ask("Never forget the milk.")
        number = terminal.ask("/history").split("#")[1].split()[0]
        assert f"Message {number} is in every window" in terminal.ask(f"/pin {number}")
        assert f"!#{number}" in terminal.ask("/history")
        assert f"Message {number} is pinned no longer." in terminal.ask(f"/pin {number} off")
        assert f"Message {int(number) + 1} is in every window" in terminal.ask("/pin")
        assert "Usage: /pin" in terminal.ask("/pin the milk")
        assert "has no message 999999" in terminal.ask("/pin 999999")


@pytest.mark.slow
def test_words_are_found_in_all_conversations(chat, talk):
    talk("kitchen-1", "The kettle is blue.")
    with chat() as terminal:
        assert "Usage: /search <words>" in terminal.ask("/search")
        found = terminal.ask("/search blue kettle").partition("--- less likely ---")[0]
        assert "kitchen-" in found
        assert "The kettle is blue." in found


def test_remembered_facts_are_listed(chat, served, user, tmp_path, capsys):
    with chat() as terminal:
        assert "Nothing is remembered yet." in terminal.ask("/memories")
        fact = ["add", "Rides a red bicycle.", "--verbatim", "--user", user]
        assert run_here("memories", *fact, cwd=tmp_path, capsys=capsys, **served.environment).returncode == 0
        assert "Rides a red bicycle." in terminal.ask("/memories")


def test_forgetting_asks_first_and_leaves_nothing_to_find(chat, conversations, tmp_path):
    with chat("--session", "secret-1") as terminal:
        terminal.ask("The safe opens with 9-31-77.")
        terminal.ask("/search 9-31-77")
        terminal.say("/forget")
        terminal.see(r"\[y/N\]")
        assert "Nothing was forgotten." in terminal.ask("n")
        assert conversations("list")["results"][0]["id"] == "secret-1"
        terminal.say("/forget")
        terminal.see(r"\[y/N\]")
        assert "Forgot 2 messages; memories made of them:" in terminal.ask("y")
        assert "This conversation has no messages yet" in terminal.ask("/history")
        terminal.ask("Something else.")
    (left,) = conversations("list")["results"]
    assert left["preview"] == "Something else."
    assert b"9-31-77" not in (tmp_path / ".local/share/mnemoir/chat-history").read_bytes()


@pytest.mark.slow
def test_a_conversation_is_exported_and_imported(chat, tmp_path):
    with chat("--session", "garden-1") as terminal:
        terminal.ask("The roses are in bloom.")
        assert "Exported the conversation to conversation-garden-1.jsonl" in terminal.ask("/export")
        assert "(markdown" in terminal.ask("/export 'my garden.md'")
        terminal.say("/export my garden.md")
        terminal.see(r"Replace it\? \[y/N\]")
        assert "Nothing was written." in terminal.ask("n")
        assert "Imported 0 conversations with 0 messages; 1 conversation left out." in terminal.ask(
            "/import conversation-garden-1.jsonl"
        )
        assert "Usage: /import <file>" in terminal.ask("/import")
        assert "gone.jsonl cannot be read" in terminal.ask("/import gone.jsonl")
    assert "The roses are in bloom." in (tmp_path / "my garden.md").read_text()
    with chat("--user", "neighbour") as terminal:
        assert "Imported 1 conversations with 2 messages." in terminal.ask("/import conversation-garden-1.jsonl")
        assert "The roses are in bloom." in terminal.ask("/sessions")


@pytest.mark.slow
def test_help_names_every_command_and_other_words_are_refused(chat):
    with chat() as terminal:
        listed = terminal.ask("/help")
        for name in ("sessions", "load", "save", "history", "clear", "forget", "search", "memories", "export"):
            assert f"/{name}" in listed
        for name in ("import", "pin", "help", "exit", "quit", "q"):
            assert f"/{name}" in listed
        assert "There is no command '/bogus'. /help lists them." in terminal.ask("/bogus")
        terminal.say("/QUIT")
        assert terminal.ended() == 0


@pytest.mark.slow
def test_without_memory_commands_say_what_they_need(chat):
    with chat("--no-memory") as terminal:
        terminal.ask("I like plums.")
        for command in ("/save", "/load abcd", "/pin", "/export", "/import x"):
            assert "start `mnemoir chat` without --no-memory" in " ".join(terminal.ask(command).split())
        assert "I like plums." in terminal.ask("/history")
        terminal.say("/clear")
        terminal.see(r"\x1b\[2J")
        terminal.see_prompt()
        terminal.say("/forget")
        terminal.see(r"\[y/N\]")
        assert "Forgot 2 messages." in terminal.ask("y")
        assert "This conversation has no messages yet." in terminal.ask("/history")
