"""LiteLLM: its routes for OpenAI servers and for Ollama."""

import json

import litellm
import openai
import pytest
from mnemoir_calls import MODEL, USER, WEATHER

TOOL = {"type": "function", "function": WEATHER}
CALLS = [("weather", {"city": "Graz"})]
litellm.suppress_debug_info = True


@pytest.fixture
def ask(servers):
    """Asks over LiteLLM's route for OpenAI servers."""
    given = {"model": f"openai/{MODEL}", "api_base": f"{servers['openai']}/v1", "api_key": "any", "max_retries": 0}
    return lambda **more: litellm.completion(**{"messages": [USER], **given, **more})


@pytest.fixture
def ask_ollama(servers, monkeypatch):
    """Asks over one of LiteLLM's routes for Ollama."""
    monkeypatch.setenv("OLLAMA_API_BASE", servers["ollama"])  # where older releases look up what a model can do
    return lambda route, **more: litellm.completion(
        **{"model": f"{route}/{MODEL}", "api_base": servers["ollama"], "messages": [USER], **more}
    )


def text(parts):
    return "".join(part.choices[0].delta.content or "" for part in parts if part.choices)


def test_an_answer_comes_whole_and_streamed(ask, far):
    far.says("Much snow.")
    assert ask().choices[0].message.content == "Much snow."
    far.says("Much snow.")
    assert text(ask(stream=True)) == "Much snow."


@pytest.mark.parametrize("stream", [False, True])
def test_members_that_mnemoir_does_not_use_arrive(ask, far, stream):
    told = {"logit_bias": {"42": 1}, "logprobs": True, "top_logprobs": 2, "service_tier": "flex"}
    local = {"top_k": 20, "min_p": 0.05, "chat_template_kwargs": {"enable_thinking": False}}
    answer = ask(tools=[TOOL], parallel_tool_calls=False, stream=stream, **told, **local)
    list(answer) if stream else None
    sent = {**told, **local, "parallel_tool_calls": False}
    assert {name: far.body.get(name) for name in sent} == sent


def test_tools_are_called(ask, far):
    far.says(tool_calls=CALLS)
    (made,) = ask(tools=[TOOL]).choices[0].message.tool_calls
    assert json.loads(made.function.arguments) == {"city": "Graz"}
    assert far.body["tools"] == [TOOL]


def test_a_schema_arrives_as_sent(ask, far):
    form = {"name": "weather", "description": "One city.", "strict": True, "schema": WEATHER["parameters"]}
    far.says('{"city": "Graz"}')
    answer = ask(response_format={"type": "json_schema", "json_schema": form})
    assert json.loads(answer.choices[0].message.content) == {"city": "Graz"}
    assert far.body["response_format"]["json_schema"] == form


def test_two_answers_of_one_question(ask, far):
    far.says_whole([{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"} for text in "ab"])
    assert [choice.message.content for choice in ask(n=2).choices] == ["a", "b"]


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (400, "context_length_exceeded", litellm.BadRequestError),
        (401, "invalid_api_key", litellm.AuthenticationError),
        (403, "unsupported_country", openai.APIError),
        (404, "model_not_found", litellm.NotFoundError),
        (429, "rate_limit_exceeded", litellm.RateLimitError),
        (503, None, litellm.ServiceUnavailableError),
    ],
)
def test_an_error_keeps_its_class(ask, far, status, code, error):
    far.fails(status, code=code, Retry_After="30")
    with pytest.raises(error, match="said the far side") as caught:
        ask()
    assert caught.value.status_code == status
    assert len(far.asked) == 1


def test_texts_are_embedded(servers, far):
    made = litellm.embedding(
        model="openai/text-embedding-3-small", input=["one"], api_base=f"{servers['openai']}/v1", api_key="any"
    )
    assert len(made.data[0]["embedding"]) == 16


@pytest.mark.parametrize("route", ["ollama_chat", "ollama"])
def test_ollama_answers_whole_and_streamed(ask_ollama, far, route):
    far.says("Much snow.")
    assert ask_ollama(route).choices[0].message.content == "Much snow."
    far.says("Much snow.")
    assert text(ask_ollama(route, stream=True)) == "Much snow."


@pytest.mark.parametrize("route", ["ollama_chat", "ollama"])
def test_options_of_ollama_arrive(ask_ollama, far, route):
    ask_ollama(route, num_ctx=8192, top_k=20, repeat_penalty=1.1, keep_alive="10m")
    asked = next(one["body"] for one in far.asked if one["path"] in ("/api/chat", "/api/generate"))
    told = {name: asked.get("options", {}).get(name) for name in ("num_ctx", "top_k", "repeat_penalty")}
    assert told == {"num_ctx": 8192, "top_k": 20, "repeat_penalty": 1.1}


def test_ollama_calls_tools(ask_ollama, far):
    far.says(tool_calls=CALLS)
    (made,) = ask_ollama("ollama_chat", tools=[TOOL]).choices[0].message.tool_calls
    assert json.loads(made.function.arguments) == {"city": "Graz"}
