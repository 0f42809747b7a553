"""The OpenAI Agents SDK, with its model for chat completions."""

import asyncio

import agents
import openai
import pytest
from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from mnemoir_calls import MODEL
from pydantic import BaseModel

QUESTION = "How is the weather in Graz?"
set_tracing_disabled(True)


class Weather(BaseModel):
    city: str


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"Snow in {city}."


@pytest.fixture
def agent(servers):
    """Makes an agent."""
    client = openai.AsyncOpenAI(base_url=f"{servers['openai']}/v1", api_key="any", max_retries=0)
    model = OpenAIChatCompletionsModel(model=MODEL, openai_client=client)
    return lambda name="Asker", **more: Agent(name=name, instructions="Be brief.", model=model, **more)


def run(agent):
    return asyncio.run(Runner.run(agent, QUESTION)).final_output


async def streamed(agent):
    result = Runner.run_streamed(agent, QUESTION)
    events = [event async for event in result.stream_events()]
    return result.final_output, events


def test_an_agent_answers(agent, far):
    far.says("Much snow.")
    assert run(agent()) == "Much snow."
    assert [message["role"] for message in far.body["messages"]] == ["system", "user"]


def test_an_agent_streams(agent, far):
    far.says("Much snow.")
    assert asyncio.run(streamed(agent()))[0] == "Much snow."


@pytest.mark.parametrize("runs", [run, lambda agent: asyncio.run(streamed(agent))[0]])
def test_an_agent_calls_a_tool_and_reads_its_result(agent, far, runs):
    far.says(tool_calls=[("weather", {"city": "Graz"})])
    far.says("It snows.")
    assert runs(agent(tools=[weather])) == "It snows."
    first, second = (asked["body"] for asked in far.asked)
    assert first["tools"][0]["function"]["name"] == "weather"
    assert second["messages"][-1]["content"] == "Snow in Graz."


def test_an_agent_hands_over_to_another(agent, far):
    far.says(tool_calls=[("transfer_to_expert", {})])
    far.says("It snows.")
    assert run(agent(handoffs=[agent("Expert")])) == "It snows."


def test_an_answer_is_structured(agent, far):
    far.says('{"city": "Graz"}')
    assert run(agent(output_type=Weather)) == Weather(city="Graz")
    assert far.body["response_format"]["json_schema"]["strict"] is True


@pytest.mark.parametrize("runs", [run, lambda agent: asyncio.run(streamed(agent))[0]])
def test_settings_of_a_model_arrive(agent, far, runs):
    told = ModelSettings(
        temperature=0.5,
        parallel_tool_calls=False,
        verbosity="low",
        top_logprobs=2,
        extra_body={"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}},
    )
    runs(agent(tools=[weather], model_settings=told))
    sent = {"temperature": 0.5, "parallel_tool_calls": False, "verbosity": "low", "top_logprobs": 2, "top_k": 20}
    assert {name: far.body.get(name) for name in sent} == sent
    assert far.body["chat_template_kwargs"] == {"enable_thinking": False}


def refusal_of(agent):
    """The refusal, from the answer or, in newer releases, from the error that says it."""
    try:
        return asyncio.run(Runner.run(agent, QUESTION)).raw_responses[0].output[0].content[0].refusal
    except agents.exceptions.AgentsException as refused:
        return str(refused)


def test_a_refusal_stays_a_refusal(agent, far):
    far.says_message({"role": "assistant", "content": None, "refusal": "I cannot help with that."})
    assert "I cannot help with that." in refusal_of(agent())


def test_an_error_keeps_its_class(agent, far):
    far.fails(403)
    with pytest.raises(openai.PermissionDeniedError):
        run(agent())
