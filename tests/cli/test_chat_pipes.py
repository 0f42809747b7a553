"""The chat without a terminal: each line of the input is a message, for scripts and pipes."""

import json
from functools import partial

import pytest

from mnemoir.cli.chat.conversation import StoredConversation
from tests.cli.chat_server import asking, piped, told
from tests.cli.command_process import run, run_here
from tests.remembering_model import is_extraction
from tests.scripted_llm import Answer, failure
from tests.server.served_tree import answering
from tests.server.served_tree import served as served_tree
from tests.serving import free_port


@pytest.fixture
def chat(served, llm, user, tmp_path, capsys):
    """Runs a whole chat of that user."""
    return partial(piped, "--user", user, cwd=tmp_path, capsys=capsys, **served.environment)


def test_replies_go_to_standard_output_and_nothing_else(chat, llm):
    llm.queue(Answer(text="Hello, **you**.\n"), Answer(text="Fine."))
    done = chat(said="Hello.\n\nHow are you?\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello, **you**.\nFine.\n", "")
    assert told(llm) == [["Hello."], ["Hello.", "Hello, **you**.\n", "How are you?"]]


def test_the_last_line_needs_no_line_break(chat, llm):
    assert chat(said="Hello.").stdout == "Understood.\n"
    assert chat(said="").returncode == 0


def test_a_failed_turn_is_reported_and_the_rest_is_answered_with_exit_code_1(chat, llm):
    llm.queue(failure(500), Answer(text="Awake."))
    done = chat(said="Hello?\nHello again?\n")
    assert (done.returncode, done.stdout) == (1, "Awake.\n")
    assert done.stderr.startswith("mnemoir: ")
    assert "Traceback" not in done.stderr


def test_an_answer_that_breaks_off_is_a_failure(chat, llm):
    llm.queue(Answer(text="one two three four", cut_after=2))
    done = chat(said="Count.\n")
    assert done.returncode == 1
    assert done.stdout.startswith("one two")


def test_commands_work_in_a_pipe(chat):
    done = chat("--session", "piped-1", said="I bake bread.\n/sessions\n/forget\ny\n/sessions\n/exit\nnot read\n")
    assert (done.returncode, done.stdout.count("\n")) == (0, 2)
    assert done.stdout.splitlines()[1].startswith("* piped-1   I bake bread.  ")
    assert "Forgot 2 messages" in done.stderr
    assert "There are no conversations yet." in done.stderr


def test_the_last_message_is_answered_again_on_a_branch_of_its_own(chat, llm):
    llm.queue(Answer(text="Rye."), Answer(text="Wheat."), Answer(text="Spelt."), Answer(text="Fine."))
    done = chat(said="Hello.\nWhich bread?\n/retry\nGood?\n")
    assert (done.returncode, done.stdout) == (0, "Rye.\nWheat.\nSpelt.\nFine.\n")
    before = ["Hello.", "Rye.", "Which bread?"]
    assert told(llm)[2:] == [before, [*before, "Spelt.", "Good?"]]


def test_a_message_that_is_kept_nowhere_is_answered_again_too(chat, llm):
    llm.queue(Answer(text="Rye."), Answer(text="Spelt."), Answer(text="Fine."))
    assert chat("--no-memory", said="/retry\n").returncode == 1
    assert chat("--no-memory", said="Which bread?\n/retry\nGood?\n").returncode == 0
    assert told(llm) == [["Which bread?"], ["Which bread?"], ["Which bread?", "Spelt.", "Good?"]]


@pytest.mark.parametrize("options", [(), ("--no-memory",)])
def test_a_system_prompt_is_set_shown_and_removed(chat, llm, options):
    done = chat(*options, said="/system Talk like a baker.\n/system\nHello.\n/system off\n/system\nHello again.\n")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "Talk like a baker.")
    assert "There is no system prompt." in done.stderr
    first, second = (str(one.body["messages"]) for one in llm.requests if one.body.get("stream"))
    assert ("Talk like a baker." in first, "Talk like a baker." in second) == (True, False)


def test_another_model_answers_from_then_on(chat, llm):
    done = chat("--json", said="/model\n/model nothing\n/model mnemoir\nHello.\n/model\n")
    listed, answer, chosen = map(json.loads, done.stdout.splitlines())
    assert "  mnemoir" in listed["lines"]
    assert answer["model"] == "mnemoir"
    assert "* mnemoir" in chosen["lines"]
    assert (done.returncode, "no model 'nothing'" in done.stderr) == (1, True)


def test_memory_is_switched_off_for_a_chat_whose_conversation_is_kept(chat):
    done = chat("--session", "off-1", said="/memory off\nI bake bread.\n/memory\n/memory perhaps\n/sessions\n")
    assert (done.stdout.count("off-1"), done.stderr.count("Memory is off")) == (1, 2)
    assert "Usage: /memory [on|off]" in done.stderr
    asked = {has: StoredConversation(has_memory=has).request("Hello.")[0]["memoryEnabled"] for has in (True, False)}
    assert asked == {True: True, False: False}
    assert "needs a stored conversation" in chat("--no-memory", said="/memory on\n").stderr


def test_a_failing_command_counts_as_a_failure(chat):
    done = chat(said="/bogus\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert "/help" in done.stderr


def test_the_json_option_prints_one_json_line_per_answer(chat, llm):
    llm.queue(Answer(text="\x1b[31mred"), failure(500))
    done = chat("--json", "--session", "json-1", "--model", "some", said="Colour?\nAgain?\n/history 1\n")
    assert done.returncode == 1
    reply, history = [json.loads(line) for line in done.stdout.splitlines()]
    assert reply == {
        "conversation_id": "json-1",
        "model": "some",
        "reply": "\x1b[31mred",
        "finish_reason": "stop",
    }
    assert len(history["lines"]) == 1


def test_a_chat_goes_on_with_a_conversation_by_the_beginning_of_its_id(chat, llm):
    first = chat("--session", "long-id-of-a-talk", said="I am Ann.\n")
    assert "There is no conversation 'long-id-of-a-talk' yet; it begins now." in first.stderr
    again = chat("--session", "long-id", said="Who am I?\n")
    assert "Going on with I am Ann.: 2 messages." in again.stderr
    assert told(llm)[1] == ["I am Ann.", "Understood.", "Who am I?"]


def test_a_beginning_of_several_ids_is_refused(chat):
    for id in ("twin-1", "twin-2"):
        chat("--session", id, said=f"I am {id}.\n")
    done = chat("--session", "twin", said="Who am I?\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert "2 conversations begin with 'twin': twin-2, twin-1." in done.stderr


def test_without_memory_the_model_gets_the_whole_conversation_and_nothing_is_stored(chat, llm, served):
    done = chat("--no-memory", said="My word is quokka-77.\nWhat is it?\n")
    assert done.stdout == "Understood.\nUnderstood.\n"
    assert told(llm) == [["My word is quokka-77."], ["My word is quokka-77.", "Understood.", "What is it?"]]
    assert [one for one in llm.requests if is_extraction(one) and "quokka-77" in one.prompt] == []
    assert "There are no conversations yet." in chat(said="/sessions\n").stderr
    kept = [file for file in served.data_dir.rglob("*") if file.is_file() and "runs" not in file.name]
    assert kept
    assert [file for file in kept if b"quokka-77" in file.read_bytes()] == []


def test_a_session_and_no_memory_are_refused_together(chat):
    done = chat("--no-memory", "--session", "kept", said="Hello.\n")
    assert (done.returncode, done.stdout) == (2, "")


def test_no_server_at_a_named_address_is_an_error(chat):
    done = chat("--url", f"http://127.0.0.1:{free_port()}", said="Hello.\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert "No server answers" in done.stderr


@pytest.mark.slow
def test_it_works_offline_in_a_process_of_its_own(tmp_path):
    arguments = ("chat", "--data-dir", str(tmp_path / "data"), "--session", "offline-1")
    done = run(*arguments, cwd=tmp_path, stdin="I row every morning.\n/history 2\n/search morning\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("I row every morning.") >= 2
    assert "assistant" in done.stdout


def test_a_chat_without_a_server_calls_the_model_and_recalls_facts(llm, tmp_path, capsys):
    arguments, here = ("--data-dir", str(tmp_path / "data")), {"cwd": tmp_path, "capsys": capsys, **asking(llm)}
    run_here("memories", "add", "Rides a red bicycle.", "--verbatim", *arguments, **here)
    done = piped(*arguments, said="Which bicycle do I ride?\n", **here)
    assert (done.returncode, done.stdout) == (0, "Understood.\n")
    assert ["Rides a red bicycle." in one.prompt for one in llm.requests if one.body.get("stream")] == [True]


@pytest.mark.parametrize("users", ["Ann", "Ann,Ben"])
def test_the_first_model_of_a_server_of_several_tree_users_answers_and_is_named(llm, tmp_path, capsys, users):
    told = {"customWorkflowOverride": True, "customWorkflow": "Chat"}
    settings = served_tree(
        tmp_path, llm.url, files={"Users/ben.json": told, "Workflows/Ben/Chat.json": [answering()]}
    )
    tree = {
        "MNEMOIR_WORKFLOWS__CONFIG_DIR": settings["workflows.config_dir"],
        "MNEMOIR_WORKFLOWS__USERS": users,
    }
    done = piped("--data-dir", "data", cwd=tmp_path, capsys=capsys, said="Hello.\n", **tree)
    assert (done.returncode, done.stdout) == (0, "Understood.\n"), done.stderr
    assert ("Ann answers; --model names another one" in done.stderr) == ("," in users)
