"""A real session file to try strategies on, and summarisers that note what they were asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mnemoir.conversations.log.message_rows import record_of
from mnemoir.conversations.windows.counters import CHARS4, AdditiveCounter
from mnemoir.conversations.windows.strategies.summarising import SummaryTask
from mnemoir.core.conversations import Message, ToolCall
from mnemoir.storage.conversations.sqlite_sessions import MemoryStorage

SESSION = "s"
ONE_EACH: AdditiveCounter[Message] = AdditiveCounter(lambda message: 1)  # a budget in messages


def opened(folder: Path) -> MemoryStorage:
    return MemoryStorage(folder / "memory.db")


def save(rows: MemoryStorage, messages: Sequence[Message]) -> list[int]:
    return rows.save_messages([record_of(SESSION, message) for message in messages])


def talk(turns: int, *, first: int = 0, words: str = "") -> list[Message]:
    """Turns of a question and an answer, numbered."""
    return [
        message
        for number in range(first, first + turns)
        for message in (
            Message("user", f"q{number} {words}".strip()),
            Message("assistant", f"a{number} {words}".strip()),
        )
    ]


def tool_round(name: str) -> list[Message]:
    """A turn with two calls and their results."""
    calls = [ToolCall(f"{name}1", "look", {"at": name}), ToolCall(f"{name}2", "look", {"at": name})]
    return [
        Message("user", f"look at {name}"),
        Message("assistant", None, tool_calls=calls),
        Message("tool", f"saw {name}", tool_call_id=f"{name}1", name="look"),
        Message("tool", f"saw {name} again", tool_call_id=f"{name}2", name="look"),
        Message("assistant", f"I saw {name}"),
    ]


def texts(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages]


def cost(messages: Sequence[Message]) -> int:
    return CHARS4.count(messages)


@dataclass
class Summariser:
    """Says which questions it was given, all of them since the beginning; notes its tasks."""

    tasks: list[SummaryTask] = field(default_factory=list)

    def __call__(self, task: SummaryTask) -> str:
        self.tasks.append(task)
        asked = [line.split()[1] for line in task.transcript.splitlines() if line.startswith("user: ")]
        return " ".join([*task.previous.split(), *asked])
