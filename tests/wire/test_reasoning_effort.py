"""How hard a model shall think: what memory asks of every model must be refused by none."""

import pytest

from mnemoir.core.messages import ModelRequest, text_message
from mnemoir.wire import ollama_chat, openai_chat, openai_responses


def asked(model: str, effort: str | None) -> ModelRequest:
    return ModelRequest(messages=[text_message("user", "hi")], model=model, reasoning_effort=effort)


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("gpt-5-mini", "minimal", "minimal"),
        ("gpt-4o", "minimal", None),
        ("llama-3.3", "minimal", None),
        ("gpt-oss-120b", "high", "high"),
        ("gpt-5-mini", None, None),
    ],
)
def test_openai_models_that_do_not_reason_are_not_told_to_reason_little(model, effort, sent):
    request = asked(model, effort)
    assert openai_chat.write_request(request, stream=False).get("reasoning_effort") == sent
    assert openai_responses.write_request(request, stream=False).get("reasoning") == (sent and {"effort": sent})


@pytest.mark.parametrize(("effort", "think"), [("minimal", False), ("high", "high")])
def test_ollama_is_told_not_to_think_where_openai_is_told_to_think_little(effort, think):
    body = ollama_chat.write_request(asked("qwen3", effort), stream=False)
    assert body["think"] == think
    assert ollama_chat.read_request(body).request.reasoning_effort == effort


def test_ollama_is_told_nothing_when_nobody_asked():
    assert "think" not in ollama_chat.write_request(asked("qwen3", None), stream=False)
