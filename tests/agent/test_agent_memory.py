"""Reading and storing of an agent's session, and runs whose memory fails."""

import pytest

from mnemoir.agent import tool
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.windows.strategies.tail import Strategy
from mnemoir.conversations.windows.validity import INTERRUPTED, SUMMARY_PREFIX
from mnemoir.core.conversations import Message, ToolCall
from mnemoir.core.errors import StorageUnavailable
from tests.agent.agent_kit import events_of, served_model


@pytest.fixture
async def model():
    async with served_model() as served:
        yield served


@pytest.fixture
def memory(tmp_path):
    with MemoryManager(tmp_path / "memory.db") as manager:
        yield manager


def add(a: int, b: int) -> int:
    return a + b


async def test_a_later_run_gets_the_earlier_messages(model, memory):
    model.says("Hello Ann.")
    await model.agent(memory_manager=memory, session_id="s").run("I am Ann.")
    model.says("You are Ann.")
    await model.agent(memory_manager=memory, session_id="s", system_prompt="New rules.").run("Who am I?")
    assert model.asked[1] == [
        ("system", "New rules."),
        ("user", "I am Ann."),
        ("assistant", "Hello Ann."),
        ("user", "Who am I?"),
    ]


async def test_a_whole_round_of_tools_is_stored_and_sent_again(model, memory):
    agent = model.agent(add, memory_manager=memory, session_id="s")
    model.calls(("add", {"a": 2, "b": 3}), text="Adding.")
    model.says("5")
    await agent.run("2+3?")
    call = ToolCall("call_0", "add", {"a": 2, "b": 3})
    stored = [
        Message("user", "2+3?"),
        Message("assistant", "Adding.", tool_calls=[call]),
        Message("tool", "5", tool_call_id="call_0", name="add"),
        Message("assistant", "5"),
    ]
    assert memory.load_session("s") == stored
    await agent.run("And again?")
    assert model.asked[-1][1:-1] == [(message.role, message.content) for message in stored]


async def test_the_session_is_created_with_the_agents_prompt_and_without_a_system_message(model, memory):
    await model.agent(memory_manager=memory, session_id="s", system_prompt="Be kind.").run("Hi")
    assert memory.get_session("s").system_prompt == "Be kind."
    assert [message.role for message in memory.load_session("s")] == ["user", "assistant"]


async def test_an_agent_without_a_prompt_uses_the_sessions_prompt(model, memory):
    memory.create_session("Be kind.", session_id="s")
    await model.agent(memory_manager=memory, session_id="s", system_prompt="").run("Hi")
    await model.agent(memory_manager=memory, session_id="new", system_prompt="").run("Hi")
    assert model.asked == [[("system", "Be kind."), ("user", "Hi")], [("user", "Hi")]]


@pytest.mark.parametrize("session_id", [None, ""])
async def test_without_a_session_id_nothing_is_stored(model, memory, session_id):
    await model.agent(memory_manager=memory, session_id=session_id).run("Hi")
    assert memory.list_sessions() == []


async def test_after_a_crash_an_open_call_gets_a_result_in_the_prompt_but_not_in_the_store(model, memory):
    memory.save_message("s", Message("user", "2+3?"))
    memory.save_message("s", Message("assistant", None, tool_calls=[ToolCall("c1", "add", {"a": 2, "b": 3})]))
    await model.agent(add, memory_manager=memory, session_id="s").run("Still there?")
    assert ("tool", INTERRUPTED) in model.asked[0]
    assert [message.role for message in memory.load_session("s")] == ["user", "assistant", "user", "assistant"]


class Plain:
    """A session memory of its own making, over the rows of another: it gives out all that it has."""

    semantic_search_enabled = False

    def __init__(self, memory, failures=0):
        self._memory = memory
        self._failures = failures
        self.get_session = memory.get_session
        self.get_or_create_session = memory.get_or_create_session
        self.load_history = memory.load_session

    def save_message(self, session_id, message):
        self._failures -= 1
        if self._failures >= 0:
            raise StorageUnavailable("The disk is full; free some of it.")
        return self._memory.save_message(session_id, message)


async def test_open_calls_from_a_foreign_memory_are_closed(model, memory):
    memory.save_message("s", Message("assistant", None, tool_calls=[ToolCall("c1", "add", {})]))
    await model.agent(memory_manager=Plain(memory), session_id="s", system_prompt="").run("Hi")
    assert model.asked[0] == [("assistant", None), ("tool", INTERRUPTED), ("user", "Hi")]


async def test_no_answer_is_stored_without_its_question(model, memory):
    agent = model.agent(memory_manager=Plain(memory, failures=1), session_id="s")
    *_, answered = await events_of(agent, "Hi")
    assert (answered.text, answered.degraded) == ("Understood.", ("storing",))
    assert memory.load_session("s") == []


async def test_of_system_messages_only_pinned_ones_are_sent(model, memory):
    memory.save_message("s", Message("system", "An old rule."))
    memory.pin_message(memory.save_message("s", Message("system", "A rule to keep.")))
    memory.save_message("s", Message("user", "Hi"))
    await model.agent(memory_manager=memory, session_id="s", system_prompt="Now.").run("Hello?")
    assert model.asked[0] == [
        ("system", "Now."),
        ("system", "A rule to keep."),
        ("user", "Hi"),
        ("user", "Hello?"),
    ]


class _Summarised:
    """A strategy whose window begins with a summary."""

    def window(self, rows, session_id, budget):
        return [Message("system", SUMMARY_PREFIX + "Ann likes tea."), Message("assistant", "Noted.")]

    def drain(self, timeout_s=None):
        return True


async def test_a_summary_in_the_window_is_sent(model, tmp_path):
    strategy: Strategy = _Summarised()
    with MemoryManager(tmp_path / "memory.db", strategy=strategy) as memory:
        await model.agent(memory_manager=memory, session_id="s", system_prompt="").run("What do I like?")
    assert model.asked[0][0] == ("system", SUMMARY_PREFIX + "Ann likes tea.")


async def test_calls_of_an_excluded_tool_are_in_the_run_and_not_in_the_session(model, memory):
    @tool(memory_policy="exclude")
    def pay(euros: int) -> str:
        return f"paid {euros}"

    model.calls(("pay", {"euros": 9}))
    model.calls(("pay", {"euros": 1}), ("add", {"a": 1, "b": 1}), text="Next.")
    model.says("All done.")
    await model.agent(pay, add, memory_manager=memory, session_id="s").run("Pay.")
    assert ("tool", "paid 9") in model.asked[2]
    assert memory.load_session("s") == [
        Message("user", "Pay."),
        Message("assistant", "Next.", tool_calls=[ToolCall("call_1", "add", {"a": 1, "b": 1})]),
        Message("tool", "2", tool_call_id="call_1", name="add"),
        Message("assistant", "All done."),
    ]


async def test_an_empty_answer_is_not_stored(model, memory):
    model.says("")
    assert await model.agent(memory_manager=memory, session_id="s").run("Hi") == ""
    assert memory.load_session("s") == [Message("user", "Hi")]


async def test_a_question_is_stored_before_the_model_is_asked(model, memory):
    class Crashes:
        async def complete(self, *, messages, tools):
            raise KeyboardInterrupt

    agent = model.agent(memory_manager=memory, session_id="s")
    agent.llm = Crashes()
    with pytest.raises(KeyboardInterrupt):
        await agent.run("Hi")
    assert memory.load_session("s") == [Message("user", "Hi")]


async def test_a_run_is_answered_when_storing_fails_during_it(model, tmp_path):
    """The store goes away in mid-run. What was stored so far is a history that a later run can use."""
    memory = MemoryManager(tmp_path / "memory.db")

    def lose() -> str:
        memory.close()
        return "lost"

    model.calls(("lose", {}))
    model.says("Here.")
    *_, answered = await events_of(model.agent(lose, memory_manager=memory, session_id="s"), "Anyone?")
    assert (answered.text, answered.degraded) == ("Here.", ("storing",))
    with MemoryManager(tmp_path / "memory.db") as again:
        await model.agent(memory_manager=again, session_id="s").run("And now?")
    assert [role for role, _ in model.asked[-1]] == ["system", "user", "assistant", "tool", "user"]
    assert model.asked[-1][3] == ("tool", INTERRUPTED)


async def test_a_run_is_answered_when_the_history_cannot_be_read(model, tmp_path):
    memory = MemoryManager(tmp_path / "memory.db")
    memory.close()
    *_, answered = await events_of(model.agent(memory_manager=memory, session_id="s"), "Anyone?")
    assert (answered.text, answered.degraded) == ("Understood.", ("history", "storing"))
