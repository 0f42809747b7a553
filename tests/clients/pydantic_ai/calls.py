"""Pydantic AI, with its model for OpenAI chat."""

import asyncio
import base64

import openai
import pytest
from mnemoir_calls import MODEL, PIXEL
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, NativeOutput
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

QUESTION = "How is the weather in Graz?"


class Weather(BaseModel):
    """The weather of a city."""

    city: str


@pytest.fixture
def agent(servers):
    """Makes an agent."""
    client = openai.AsyncOpenAI(base_url=f"{servers['openai']}/v1", api_key="any", max_retries=0)
    return lambda **more: Agent(OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client)), **more)


def weather(city: str) -> str:
    """The weather of a city."""
    return f"Snow in {city}."


def test_an_agent_answers(agent, far):
    far.says("Much snow.")
    assert agent().run_sync(QUESTION).output == "Much snow."


async def streamed(agent):
    async with agent.run_stream(QUESTION) as result:
        return [part async for part in result.stream_text(delta=True)]


def test_an_agent_streams(agent, far):
    far.says("Much snow.")
    assert "".join(asyncio.run(streamed(agent()))) == "Much snow."


def test_an_agent_calls_a_tool_and_reads_its_result(agent, far):
    far.says(tool_calls=[("weather", {"city": "Graz"})])
    far.says("It snows.")
    assert agent(tools=[weather]).run_sync(QUESTION).output == "It snows."
    first, second = (asked["body"] for asked in far.asked)
    assert first["tools"][0]["function"]["name"] == "weather"
    assert second["messages"][-1]["content"] == "Snow in Graz."


def test_a_streamed_agent_calls_a_tool(agent, far):
    far.says(tool_calls=[("weather", {"city": "Graz"})])
    far.says("It snows.")
    assert "".join(asyncio.run(streamed(agent(tools=[weather])))) == "It snows."


def test_an_answer_is_structured_by_a_call(agent, far):
    far.says(tool_calls=[("final_result", {"city": "Graz"})])
    assert agent(output_type=Weather).run_sync(QUESTION).output == Weather(city="Graz")


def test_an_answer_is_structured_by_its_text(agent, far):
    far.says('{"city": "Graz"}')
    asked = agent(output_type=NativeOutput(Weather, strict=True))
    assert asked.run_sync(QUESTION).output == Weather(city="Graz")
    assert far.body["response_format"]["json_schema"]["strict"] is True


def test_settings_of_a_model_arrive(agent, far):
    told = {"temperature": 0.5, "seed": 7, "parallel_tool_calls": False, "logit_bias": {"42": 1}}
    own = {"openai_service_tier": "flex", "openai_logprobs": True, "openai_top_logprobs": 2}
    own |= {"extra_body": {"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}}}
    agent(tools=[weather]).run_sync(QUESTION, model_settings={**told, **own})
    sent = {**told, "service_tier": "flex", "logprobs": True, "top_logprobs": 2, **own["extra_body"]}
    assert {name: far.body.get(name) for name in sent} == sent


def test_details_of_the_usage_come_back(agent, far):
    details = {"reasoning_tokens": 3}
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12, "completion_tokens_details": details}
    far.says_message({"role": "assistant", "content": "Snow"}, usage=usage)
    used = agent().run_sync(QUESTION).usage
    used = used() if callable(used) else used
    assert used.details["reasoning_tokens"] == 3


def test_a_picture_arrives(agent, far):
    picture = BinaryContent(data=base64.b64decode(PIXEL.partition(",")[2]), media_type="image/png")
    agent().run_sync([QUESTION, picture])
    assert far.body["messages"][-1]["content"][-1]["image_url"]["url"] == PIXEL


def test_an_error_keeps_its_status_and_its_code(agent, far):
    far.fails(403, code="unsupported_country")
    with pytest.raises(ModelHTTPError) as caught:
        agent().run_sync(QUESTION)
    assert (caught.value.status_code, caught.value.body["code"]) == (403, "unsupported_country")
