"""How hard a model shall think: what memory asks of every model must be refused by none."""

import pytest

from mnemoir.core.messages import ModelRequest, text_message
from mnemoir.wire import ollama_chat, openai_chat, openai_responses


def asked(model: str, effort: str | None = None, think: bool | None = None) -> ModelRequest:
    return ModelRequest(messages=[text_message("user", "hi")], model=model, reasoning_effort=effort, think=think)


@pytest.mark.parametrize("effort", [None, "minimal", "none", "high", "xhigh"])
@pytest.mark.parametrize("model", ["gpt-5-mini", "gpt-4o", "llama-3.3"])
def test_openai_models_get_the_effort_that_a_client_asks_for(model: str, effort: str | None) -> None:
    request = asked(model, effort)
    assert openai_chat.write_request(request, stream=False).get("reasoning_effort") == effort
    assert openai_responses.write_request(request, stream=False).get("reasoning") == (effort and {"effort": effort})


@pytest.mark.parametrize(("model", "sent"), [("gpt-5-mini", "minimal"), ("gpt-4o", None), ("llama-3.3", None)])
def test_only_models_that_take_the_least_effort_are_asked_not_to_think(model: str, sent: str | None) -> None:
    request = asked(model, think=False)
    assert openai_chat.write_request(request, stream=False).get("reasoning_effort") == sent
    assert openai_responses.write_request(request, stream=False).get("reasoning") == (sent and {"effort": sent})


@pytest.mark.parametrize(("effort", "think"), [("minimal", False), ("none", False), ("high", "high")])
def test_ollama_is_asked_not_to_think_where_openai_is_asked_to_think_little(effort: str, think: object) -> None:
    assert ollama_chat.write_request(asked("qwen3", effort), stream=False)["think"] == think


@pytest.mark.parametrize("think", [True, False, "high"])
def test_ollama_gets_what_its_client_said_of_thinking(think: object) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "think": think}
    request = ollama_chat.read_request(body).request
    assert ollama_chat.write_request(request, stream=False)["think"] == think


def test_ollama_is_told_nothing_when_nobody_asked():
    assert "think" not in ollama_chat.write_request(asked("qwen3", None), stream=False)
