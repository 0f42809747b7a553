"""Runs of an agent under real faults: a kill between a call and its result, a locked file, no embedder."""

import asyncio
import signal
import sys

import pytest

from mnemoir.conversations import MemoryManager, Message, ToolCall
from mnemoir.conversations.windows.validity import INTERRUPTED
from mnemoir.providers.embedding_clients.remote import HttpEmbedding
from tests.agent.agent_kit import events_of, served_model
from tests.conversations.file_holder import held_by_another_process
from tests.conversations.search_kit import manager
from tests.conversations.session_kit import without_waits
from tests.scripted_llm import closed_port_url

CALLS = [ToolCall("c1", "look", {}), ToolCall("c2", "pay", {"euros": 9})]
STORED = [
    Message("user", "Pay the rent."),
    Message("assistant", "Paying.", tool_calls=CALLS),
    Message("tool", "740 are due", tool_call_id="c1", name="look"),
]


@pytest.mark.slow
async def test_after_a_kill_the_model_gets_an_interrupted_result_and_the_call_is_never_run_again(tmp_path):
    path = tmp_path / "memory.db"
    line = [sys.executable, "-m", "tests.agent.crashing_program", str(path)]
    killed = await asyncio.create_subprocess_exec(*line, stderr=asyncio.subprocess.PIPE)
    _, complaints = await killed.communicate()
    assert (complaints, killed.returncode) == (b"", -signal.SIGKILL)
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


async def test_a_run_is_answered_while_another_process_holds_the_file(tmp_path, monkeypatch):
    without_waits(monkeypatch)
    with MemoryManager(tmp_path / "memory.db") as memory:
        memory.save_message("work", Message("user", "I am Ann."))
        async with served_model() as model:
            model.says("You are Ann.")
            with held_by_another_process(tmp_path / "memory.db"):
                agent = model.agent(memory_manager=memory, session_id="work")
                *_, answered = await events_of(agent, "Who am I?")
            assert (answered.text, answered.degraded) == ("You are Ann.", ("storing",))
            assert [content for _, content in model.asked[0][1:]] == ["I am Ann.", "Who am I?"]
        assert memory.load_session("work") == [Message("user", "I am Ann.")]


async def test_with_the_embedding_server_down_the_question_is_sent_without_recall_and_stored(tmp_path):
    embeddings = HttpEmbedding("words", closed_port_url() + "/v1", tries=1)
    with manager(tmp_path, embeddings) as memory:
        async with served_model() as model:
            model.says("It is red.")
            agent = model.agent(memory_manager=memory, session_id="work", enable_rag=True)
            *_, answered = await events_of(agent, "Which colour is the boat?")
            assert (answered.text, answered.degraded) == ("It is red.", ("retrieval",))
            assert model.asked[0][-1] == ("user", "Which colour is the boat?")
        assert [message.text for message in memory.load_session("work")] == [
            "Which colour is the boat?",
            "It is red.",
        ]
        assert memory.storage.vector_counts() == {"failed": 2}
