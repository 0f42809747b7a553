"""The address of an endpoint file: what the protocol's own path would repeat is left out at its end."""

import pytest

from mnemoir.workflows.config.endpoint import EndpointDefinition


def base(url, kind="openai-chat"):
    return EndpointDefinition.model_validate({"endpoint": url, "apiTypeConfigFileName": "A"}).base_url(kind)


@pytest.mark.parametrize(
    ("kind", "written", "read"),
    [
        ("openai-chat", "http://h/v1", "http://h"),
        ("openai-chat", "http://h/v1/", "http://h"),
        ("openai-chat", " http://h/v1 ", "http://h"),
        ("openai-chat", "http://h/v1/chat/completions", "http://h"),
        ("openai-chat", "http://me:pass@h:1/openai/v1?api-version=2", "http://me:pass@h:1/openai?api-version=2"),
        ("openai-chat", "http://h/v1/v1", "http://h/v1"),
        ("openai-completions", "http://h/x/v1/completions/", "http://h/x"),
        ("ollama-chat", "http://h:11434/api", "http://h:11434"),
        ("ollama-chat", "http://h:11434/api/chat", "http://h:11434"),
        ("ollama-generate", "http://h:11434/api/generate", "http://h:11434"),
        ("koboldcpp", "http://h/api/v1/generate", "http://h"),
        ("koboldcpp", "http://h/api/extra/generate/stream", "http://h"),
    ],
)
def test_what_the_protocol_adds_is_not_there_twice(kind, written, read):
    assert base(written, kind) == read


@pytest.mark.parametrize(
    "url",
    [
        *("http://h", "http://h:80", "http://h/v11", "http://h/xv1", "http://h/v1/models", "http://h/completions"),
        *("http://h/chat/completions", "http://h/v2", "http://h/V1", "http://v1", "http://[", "", "v1x"),
    ],
)
def test_all_else_of_an_address_stays(url):
    assert base(url) == url
