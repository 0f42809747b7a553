"""The agent's loop: reason, act, answer; and its limits."""

import asyncio
from contextlib import aclosing
from types import SimpleNamespace
from typing import cast

import pytest

from mnemoir.agent import (
    LLM,
    Agent,
    AgentLimits,
    Answered,
    ChatModelLLM,
    CompletionResponse,
    Text,
    Tool,
    ToolFinished,
    ToolStarted,
    Usage,
)
from mnemoir.agent.llm import Allowance
from mnemoir.conversations.memory_manager import MemoryManager
from mnemoir.conversations.windows.counters import AdditiveCounter
from mnemoir.core.conversations import MediaPart, Message, TextPart, ToolCall
from mnemoir.core.errors import ProviderError, SettingsError
from mnemoir.core.events import Finished, ToolCallPart
from mnemoir.ports.llm import ChatModel
from tests.agent.agent_kit import events_of, served_model
from tests.scripted_llm import failure


@pytest.fixture
async def model():
    async with served_model() as served:
        yield served


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


ADD = ("add", {"a": 2, "b": 3})


async def test_an_agent_without_tools_answers_in_one_call(model):
    model.says("Hello.")
    assert await model.agent().run("Hi") == "Hello."
    assert model.asked == [[("system", model.agent().system_prompt), ("user", "Hi")]]
    assert "tools" not in model.bodies[0]


async def test_the_model_gets_the_result_of_its_call(model):
    model.calls(ADD, text="Let me see.")
    model.says("It is 5.")
    assert await model.agent(add, system_prompt="Count.").run("2+3?") == "It is 5."
    assert model.asked[1] == [
        ("system", "Count."),
        ("user", "2+3?"),
        ("assistant", "Let me see."),
        ("tool", "5"),
    ]
    assert model.bodies[1]["messages"][3]["tool_call_id"] == model.bodies[1]["messages"][2]["tool_calls"][0]["id"]


async def test_several_calls_run_in_the_order_of_the_model(model):
    done = []

    async def first(word: str) -> None:
        await asyncio.sleep(0)
        done.append(word)

    model.calls(("first", {"word": "a"}), ("first", {"word": "b"}))
    model.says("Done.")
    await model.agent(first).run("go")
    assert done == ["a", "b"]


async def test_tools_are_withheld_at_the_last_step(model):
    model.calls(ADD)
    model.says("Five.")
    assert await model.agent(add, max_steps=2).run("2+3?") == "Five."
    assert ["tools" in body for body in model.bodies] == [True, False]


async def test_a_model_that_calls_tools_at_the_last_step_is_called_once_more_without_tools(model):
    for _ in range(3):
        model.calls(ADD)
    model.says("Five.")
    assert await model.agent(add, max_steps=3).run("2+3?") == "Five."
    assert ["tools" in body for body in model.bodies] == [True, True, False, False]
    assert model.asked[-1].count(("tool", "5")) == 3


async def test_tool_calls_of_the_final_answer_are_not_run(model):
    runs = []
    for _ in range(3):
        model.calls(("note", {"text": "x"}))

    def note(text: str) -> None:
        runs.append(text)

    assert await model.agent(note, max_steps=2).run("go") == ""
    assert (len(runs), len(model.bodies)) == (2, 3)


async def test_near_the_token_limit_tools_are_withheld(model):
    for _ in range(2):
        model.server.reply(tool_calls=[ADD], usage=(400, 50))
    model.says("Five.", usage=(500, 10))
    limits = AgentLimits(max_tokens=950)
    *_, answered = await events_of(model.agent(add, limits=limits), "2+3?")
    assert ["tools" in body for body in model.bodies] == [True, True, False]
    assert (answered.usage.input_tokens, answered.usage.output_tokens) == (1300, 110)


def test_tools_are_offered_while_the_token_budget_covers_an_answer_after_them():
    allowance = Allowance(100, AdditiveCounter(lambda message: 40))
    messages = [Message("user", "Hi")]
    assert allowance.affords_tools(messages)
    allowance.spend(messages, CompletionResponse("", usage=Usage(input_tokens=10, output_tokens=10)))
    assert allowance.affords_tools(messages)
    allowance.spend(messages, CompletionResponse("", usage=Usage(output_tokens=1)))
    assert not allowance.affords_tools(messages)


async def test_tokens_are_estimated_for_a_model_that_does_not_count():
    class Uncounted:
        async def complete(self, *, messages, tools):
            return CompletionResponse("word " * 40)

    *_, answered = await events_of(Agent(Uncounted(), []), "How long is it?")
    assert 40 <= answered.usage.output_tokens <= 80
    assert answered.usage.input_tokens > 10


async def test_each_call_of_the_model_gets_a_list_of_its_own():
    seen = []

    class Keeps:
        async def complete(self, *, messages, tools):
            seen.append(messages)
            return CompletionResponse(None, [ToolCall("1", "add", {"a": 1, "b": 1})] if len(seen) == 1 else None)

    await Agent(Keeps(), [add]).run("go")
    assert [len(messages) for messages in seen] == [2, 4]


async def test_what_the_model_raises_ends_the_run(model):
    model.server.queue(failure(400, "no such model"))
    with pytest.raises(ProviderError, match="no such model"):
        await model.agent(add).run("Hi")


async def test_a_run_can_be_watched_as_it_happens(model):
    model.calls(ADD)
    model.says("It is 5.")
    events = await events_of(model.agent(add), "2+3?")
    call = ToolCall("call_0", "add", {"a": 2, "b": 3})
    assert events[:2] == [ToolStarted(call=call), ToolFinished(call=call, outcome="5")]
    assert [event.text for event in events[2:-1]] == ["It ", "is ", "5."]
    assert (events[-1].text, events[-1].steps, events[-1].finish_reason) == ("It is 5.", 2, "stop")
    assert [body["stream"] for body in model.bodies] == [True, True]


async def test_a_model_that_cannot_stream_sends_its_text_in_one_piece():
    class Whole:
        async def complete(self, *, messages, tools):
            return CompletionResponse("All at once.", usage=Usage(input_tokens=1))

    events = await events_of(Agent(Whole(), []), "Hi")
    assert events == [Text("All at once."), Answered(text="All at once.", usage=Usage(input_tokens=1))]


async def test_stopping_in_mid_reply_ends_the_call_and_stores_the_partial_answer(model, tmp_path):
    model.says("One two three.", stall_after=2)
    with MemoryManager(tmp_path / "memory.db") as memory:
        agent = model.agent(memory_manager=memory, session_id="s")
        async with aclosing(agent.events("Count.")) as events:
            said = [(await anext(events)).text, (await anext(events)).text]
        await model.server.disconnected.wait()
        assert said == ["One ", "two "]
        assert memory.load_session("s") == [Message("user", "Count."), Message("assistant", "One two ")]


async def test_stopped_after_a_round_of_tools_only_the_partial_answer_is_stored(model, tmp_path):
    model.calls(ADD, text="Let me see.")
    model.says("It is 5.", stall_after=2)
    with MemoryManager(tmp_path / "memory.db") as memory:
        agent = model.agent(add, memory_manager=memory, session_id="s")
        async with aclosing(agent.events("2+3?")) as events:
            async for event in events:
                if event == Text("is "):
                    break
        stored = [(message.role, message.content) for message in memory.load_session("s")]
    assert stored == [("user", "2+3?"), ("assistant", "Let me see."), ("tool", "5"), ("assistant", "It is ")]


async def test_a_cancelled_run_stores_the_partial_answer(model, tmp_path):
    model.says("One two three.", stall_after=2)
    with MemoryManager(tmp_path / "memory.db") as memory:
        agent = model.agent(memory_manager=memory, session_id="s")
        second = asyncio.Event()

        async def watch():
            async for event in agent.events("Count."):
                if event == Text("two "):
                    second.set()

        watching = asyncio.create_task(watch())
        await second.wait()
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watching
        assert memory.load_session("s")[-1] == Message("assistant", "One two ")


async def test_a_torn_reply_is_an_error_and_not_stored(model, tmp_path):
    model.says("One two three.", cut_after=2)
    with MemoryManager(tmp_path / "memory.db") as memory:
        with pytest.raises(ProviderError):
            await events_of(model.agent(memory_manager=memory, session_id="s"), "Count.")
        assert memory.load_session("s") == [Message("user", "Count.")]


async def test_a_chooser_picks_the_model_of_a_run(model):
    class Fixed:
        async def complete(self, *, messages, tools):
            return CompletionResponse("from the other")

    class Chooser:
        def choose(self, messages):
            return Fixed() if "hard" in messages[-1].text else None

    model.says("from the first")
    agent = model.agent(cluster_manager=Chooser())
    assert [await agent.run("easy"), await agent.run("hard")] == ["from the first", "from the other"]


class Cluster:
    """A cluster manager: the node `big` for long questions, `gone` for those of the past, none for others."""

    def __init__(self, clients):
        self.clients = clients
        self.asked = []

    def select_node_smart(self, query, context=None, fallback=True):
        self.asked.append((query, [message.text for message in context]))
        name = "big" if "hard" in query else "gone" if "past" in query else None
        return (SimpleNamespace(name=name) if name else None), "a reason"

    def get_client(self, node_name):
        return self.clients.get(node_name)


async def test_a_cluster_manager_selects_the_node_of_a_run_by_its_question(model):
    class Fixed:
        async def complete(self, *, messages, tools):
            return CompletionResponse("from the big node")

    for _ in range(2):
        model.says("from the first")
    cluster = Cluster({"big": Fixed()})
    agent = model.agent(cluster_manager=cluster, system_prompt="Be kind.")
    answers = [await agent.run(question) for question in ("hard", "easy", "past")]
    assert answers == ["from the big node", "from the first", "from the first"]
    assert cluster.asked[0] == ("hard", ["Be kind.", "hard"])


def test_the_constructor_refuses_a_cluster_manager_that_cannot_pick_a_model(model):
    with pytest.raises(SettingsError, match=r"cluster_manager dict cannot pick a model; give one with select_node"):
        model.agent(cluster_manager={})


async def test_tools_of_a_tool_source_are_offered_with_the_agents_own(model):
    def far(**arguments):
        return f"far {arguments}"

    class Elsewhere:
        async def list_tools(self):
            schema = {"type": "object"}
            return [Tool(name=name, description="", parameters=schema, function=far) for name in ("far", "add")]

    model.calls(("far", {"x": 1}), ADD)
    model.says("ok")
    assert await model.agent(add, mcp_manager=Elsewhere()).run("go") == "ok"
    assert model.asked[1][-2:] == [("tool", "far {'x': 1}"), ("tool", "5")]


async def test_a_run_goes_on_without_tools_that_cannot_be_listed(model):
    class Down:
        async def list_tools(self):
            raise ConnectionError("refused")

    model.says("ok")
    *_, answered = await events_of(model.agent(add, mcp_manager=Down()), "go")
    assert (answered.text, answered.degraded) == ("ok", ("tools",))
    assert [each["function"]["name"] for each in model.bodies[0]["tools"]] == ["add"]


def test_an_agent_needs_a_step():
    with pytest.raises(SettingsError, match="max_steps"):
        Agent(cast(LLM, None), [], max_steps=0)


async def test_a_call_that_is_streamed_in_pieces_is_put_together():
    class Pieces:
        async def stream(self, request):
            yield [Text("So."), ToolCallPart(index=1, id="b", name="two", arguments='{"x"')]
            yield [ToolCallPart(index=0, id="a", name="one"), ToolCallPart(index=1, arguments=": [1]}")]
            yield [Usage(output_tokens=3), Finished(reason="tool_calls")]

    pieces = [each async for each in ChatModelLLM(cast(ChatModel, Pieces())).stream(messages=[], tools=None)]
    calls = [ToolCall("a", "one", {}), ToolCall("b", "two", {"x": [1]})]
    assert pieces == [Text("So."), CompletionResponse("So.", calls, "tool_calls", Usage(output_tokens=3))]


async def test_pictures_are_sent_and_other_files_are_not(model):
    model.says("A cat.")
    picture = MediaPart(type="image", url="https://example.org/cat.png", detail="high")
    document = MediaPart(type="document", url="https://example.org/cat.pdf")
    messages = [Message("user", [document]), Message("user", [picture, document, TextPart("What is it?")])]
    await model.llm.complete(messages=messages, tools=None)
    (sent,) = model.bodies[0]["messages"]
    assert [part["type"] for part in sent["content"]] == ["image_url", "text"]
