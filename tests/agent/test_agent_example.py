"""The agent example runs as its first lines describe."""

import subprocess
import sys
from pathlib import Path

import pytest

from mnemoir.conversations.memory_manager import MemoryManager
from tests.scripted_llm import ScriptedLLM
from tests.stages import staged

pytestmark = pytest.mark.costly("each starts a program")

EXAMPLE = Path(__file__).parents[2] / "examples" / "agent.py"


def run(folder, *arguments):
    line = [sys.executable, str(EXAMPLE), *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=folder, stdin=subprocess.DEVNULL)


@pytest.mark.slow
def test_offline_it_works_out_a_sum_and_tells_the_time(tmp_path):
    done = run(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "calculate says: 42" in done.stdout
    assert "now says: 2" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("question", "reply"),
    staged(
        [
            ("2 / (3 - 3)", "Error in calculate: ZeroDivisionError"),
            ("9 ** 9 ** 9", "Error in calculate: ValueError: only numbers"),
            ("hello", "I am a stand-in"),
        ],
        quick=1,
    ),
)
def test_offline_it_answers_what_cannot_be_worked_out(tmp_path, question, reply):
    assert reply in run(tmp_path, question).stdout


@pytest.mark.slow
def test_it_asks_a_server_and_goes_on_with_a_session(tmp_path):
    with ScriptedLLM.in_thread() as llm:
        arguments = ["--url", llm.openai_url, "--model", "served", "--session", "work", "--memory", "agent.db"]
        llm.reply(tool_calls=[("calculate", {"expression": "12.5 * 8"}), ("note", {"text": "100"})])
        llm.reply("It is 100.")
        first = run(tmp_path, *arguments, "What", "is 12.5 * 8?")
        second = run(tmp_path, *arguments, "Are you sure?")
        assert (first.stderr, second.stderr) == ("", "")
        bodies = [request.body for request in llm.requests]
    assert "[calculate {'expression': '12.5 * 8'}: 100.0]" in first.stdout
    assert "It is 100." in first.stdout
    assert [tool["function"]["name"] for tool in bodies[0]["tools"]] == ["calculate", "now", "note"]
    assert bodies[1]["messages"][-1]["content"].startswith("[CANCELLED]")
    assert [each["role"] for each in bodies[2]["messages"]] == [
        "system",
        *("user", "assistant", "tool", "tool", "assistant"),
        "user",
    ]
    assert not (tmp_path / "notes.txt").exists()
    with MemoryManager(tmp_path / "agent.db") as memory:
        assert memory.get_message_count("work") == 7
