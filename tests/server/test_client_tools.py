"""Tool calls through the unmodified `openai` and `ollama` packages: there and back, streamed and whole."""

from typing import Any

import ollama
import openai

from tests.narrowing import present
from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import asks

QUESTION: Any = [{"role": "user", "content": "How is the weather in Graz?"}]
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL: Any = {"type": "function", "function": {"name": "weather", "description": "Now", "parameters": PARAMETERS}}
CALL = [("weather", {"city": "Graz"})]


def asked(llm: ScriptedLLM) -> dict:
    """What the far model was sent last."""
    found: dict = llm.requests[-1].body
    return found


async def test_openai_streams_a_tool_call_and_sends_its_result_back(listen, llm):
    server = await listen(asks(llm) | {"embedding.provider": "openai"})
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0) as client:
        llm.reply(tool_calls=CALL, reason="tool_calls")
        async with client.chat.completions.stream(model="mnemoir", messages=QUESTION, tools=[TOOL]) as stream:
            whole = await stream.get_final_completion()
        (call,) = present(whole.choices[0].message.tool_calls)
        assert (whole.choices[0].finish_reason, call.function.name) == ("tool_calls", "weather")
        assert '"Graz"' in call.function.arguments
        assert asked(llm)["tools"][0]["function"]["name"] == "weather"
        sent = call.to_dict() | {"function": {"name": "weather", "arguments": call.function.arguments}}
        spoken: Any = {"role": "assistant", "content": None, "tool_calls": [sent]}
        result: Any = {"role": "tool", "tool_call_id": call.id, "content": "Snow."}
        llm.reply("It snows.")
        answer = await client.chat.completions.create(
            model="mnemoir", messages=[*QUESTION, spoken, result], tools=[TOOL]
        )
    assert answer.choices[0].message.content == "It snows."
    assert asked(llm)["messages"][-1]["content"] == "Snow."
    assert asked(llm)["messages"][-1]["tool_call_id"] == call.id


async def test_ollama_gets_a_tool_call_streamed_and_whole_and_sends_its_result_back(listen, llm):
    server = await listen(asks(llm) | {"embedding.provider": "openai"})
    async with ollama.AsyncClient(host=server.url) as client:
        llm.reply(tool_calls=CALL, reason="tool_calls")
        whole = await client.chat("mnemoir", QUESTION, tools=[TOOL])
        llm.reply(tool_calls=CALL, reason="tool_calls")
        parts = [part async for part in await client.chat("mnemoir", QUESTION, tools=[TOOL], stream=True)]
        streamed = [call for part in parts for call in part.message.tool_calls or ()]
        for call in (*whole.message.tool_calls, *streamed):
            assert (call.function.name, call.function.arguments) == ("weather", {"city": "Graz"})
        assert (len(streamed), parts[-1].done) == (1, True)
        result = {"role": "tool", "tool_name": "weather", "content": "Snow."}
        llm.reply("It snows.")
        answer = await client.chat("mnemoir", [*QUESTION, whole.message, result], tools=[TOOL])
    assert answer.message.content == "It snows."
    assert asked(llm)["messages"][-1]["content"] == "Snow."
