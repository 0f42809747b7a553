"""A process that is killed between a call and its result: what is stored stays, and the next run can go on."""

import asyncio
import signal
import sys

from mnemoir.conversations import MemoryManager, Message, ToolCall
from mnemoir.conversations.validity import INTERRUPTED
from tests.agent.agent_kit import served_model

CALLS = [ToolCall("c1", "look", {}), ToolCall("c2", "pay", {"euros": 9})]
STORED = [
    Message("user", "Pay the rent."),
    Message("assistant", "Paying.", tool_calls=CALLS),
    Message("tool", "740 are due", tool_call_id="c1", name="look"),
]


async def test_a_call_that_a_kill_left_open_is_told_to_the_model_and_never_run_again(tmp_path):
    path = tmp_path / "memory.db"
    line = [sys.executable, "-m", "tests.agent.crashing_program", str(path)]
    killed = await asyncio.create_subprocess_exec(*line, stderr=asyncio.subprocess.PIPE)
    assert (await killed.communicate(), killed.returncode) == ((None, b""), -signal.SIGKILL)
    paid = []

    def pay(euros: int) -> None:
        paid.append(euros)

    with MemoryManager(path) as memory:
        assert memory.load_session("work") == STORED
        async with served_model() as model:
            model.says("I do not know whether it was paid.")
            agent = model.agent(pay, memory_manager=memory, session_id="work", system_prompt="Be brief.")
            assert await agent.run("Is it paid?") == "I do not know whether it was paid."
        [sent] = [body["messages"] for body in model.bodies]
        later = [Message("user", "Is it paid?"), Message("assistant", "I do not know whether it was paid.")]
        assert memory.load_session("work") == [*STORED, *later]
    assert [(each["role"], each["content"], each.get("tool_call_id")) for each in sent] == [
        ("system", "Be brief.", None),
        ("user", "Pay the rent.", None),
        ("assistant", "Paying.", None),
        ("tool", "740 are due", "c1"),
        ("tool", INTERRUPTED, "c2"),
        ("user", "Is it paid?", None),
    ]
    assert paid == []
