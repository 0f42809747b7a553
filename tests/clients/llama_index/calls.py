"""LlamaIndex: `OpenAILike`, as a chat model and as a completion model."""

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from mnemoir_calls import MODEL
from pydantic import BaseModel

QUESTION = [ChatMessage(role="user", content="How is the weather in Graz?")]
CALLS = [("weather", {"city": "Graz"})]


class Weather(BaseModel):
    """The weather of a city."""

    city: str


def weather(city: str) -> str:
    """The weather of a city."""
    return f"Snow in {city}."


@pytest.fixture
def model(servers):
    """Makes a model."""
    given = {"model": MODEL, "api_base": f"{servers['openai']}/v1", "api_key": "any", "max_retries": 0}
    given |= {"is_chat_model": True, "is_function_calling_model": True, "context_window": 8192}
    return lambda **more: OpenAILike(**{**given, **more})


def test_a_chat_comes_whole_and_streamed(model, far):
    far.says("Much snow.")
    assert model().chat(QUESTION).message.content == "Much snow."
    far.says("Much snow.")
    assert "".join(part.delta or "" for part in model().stream_chat(QUESTION)) == "Much snow."


def test_a_chat_model_completes(model, far):
    far.says("Much snow.")
    assert model().complete("Weather?").text == "Much snow."
    far.says("Much snow.")
    assert "".join(part.delta or "" for part in model().stream_complete("Weather?")) == "Much snow."


@pytest.mark.parametrize("parallel", [True, False])
def test_tools_are_called(model, far, parallel):
    far.says(tool_calls=CALLS)
    tool = FunctionTool.from_defaults(fn=weather)
    llm = model()
    answer = llm.chat_with_tools([tool], user_msg="Weather?", allow_parallel_tool_calls=parallel)
    (made,) = llm.get_tool_calls_from_response(answer)
    assert (made.tool_name, made.tool_kwargs) == ("weather", {"city": "Graz"})
    assert far.body["tools"][0]["function"]["name"] == "weather"


def test_tools_are_called_in_a_stream(model, far):
    far.says(tool_calls=CALLS)
    tool = FunctionTool.from_defaults(fn=weather)
    llm = model()
    *_, last = llm.stream_chat_with_tools([tool], user_msg="Weather?")
    assert llm.get_tool_calls_from_response(last)[0].tool_kwargs == {"city": "Graz"}


def test_an_answer_is_structured_by_its_text(model, far):
    far.says('{"city": "Graz"}')
    asked = model(is_function_calling_model=False)
    assert asked.structured_predict(Weather, PromptTemplate("Weather?")) == Weather(city="Graz")


def test_an_answer_is_structured_by_a_call(model, far):
    far.says(tool_calls=[("Weather", {"city": "Graz"})])
    asked = model().as_structured_llm(Weather)
    assert asked.chat(QUESTION).raw == Weather(city="Graz")


def test_members_that_mnemoir_does_not_use_arrive(model, far):
    own = {"parallel_tool_calls": False, "extra_body": {"top_k": 20, "min_p": 0.05}, "service_tier": "flex"}
    model(additional_kwargs=own).chat(QUESTION)
    told = {name: far.body.get(name) for name in ("parallel_tool_calls", "top_k", "min_p", "service_tier")}
    assert told == {"parallel_tool_calls": False, "top_k": 20, "min_p": 0.05, "service_tier": "flex"}


def test_logprobs_come_back(model, far):
    token = {"token": "Snow", "logprob": -0.1, "bytes": [83]}
    logprobs = {"content": [{**token, "top_logprobs": [token]}], "refusal": None}
    far.says_message({"role": "assistant", "content": "Snow"}, choice={"logprobs": logprobs})
    answer = model(logprobs=True, top_logprobs=1).chat(QUESTION)
    assert answer.logprobs[0][0].token == "Snow"
    assert (far.body["logprobs"], far.body["top_logprobs"]) == (True, 1)


def test_a_completion_model_completes(model, far):
    far.says("upon a time")
    assert model(is_chat_model=False).complete("Once").text == "upon a time"
    far.says("upon a time")
    parts = model(is_chat_model=False).stream_complete("Once")
    assert "".join(part.delta or "" for part in parts) == "upon a time"
