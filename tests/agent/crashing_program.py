"""An agent whose process is killed while a tool runs.

`python -m tests.agent.crashing_program <file of sessions>`
"""

import asyncio
import os
import signal
import sys

from mnemoir.agent import Agent, CompletionResponse
from mnemoir.conversations import MemoryManager, ToolCall


class Calls:
    """A model that calls two tools at once and never gets the second result."""

    async def complete(self, *, messages, tools) -> CompletionResponse:
        return CompletionResponse("Paying.", [ToolCall("c1", "look", {}), ToolCall("c2", "pay", {"euros": 9})])


def look() -> str:
    return "740 are due"


def pay(euros: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    memory = MemoryManager(sys.argv[1])
    asyncio.run(Agent(Calls(), [look, pay], memory_manager=memory, session_id="work").run("Pay the rent."))
