"""What is sent beside a prompt."""

import pytest

from mnemoir.workflows.config.api_type import ApiType
from mnemoir.workflows.prompting.options import options

PRESET = {"temperature": 0.5, "max_tokens": 7, "custom": "x"}


def api_type(kind, truncate=None, most="max_tokens", stream="stream"):
    return ApiType.model_validate(
        {
            "type": kind,
            "truncateLengthPropertyName": truncate,
            "maxNewTokensPropertyName": most,
            "streamPropertyName": stream,
        }
    )


@pytest.mark.parametrize(
    ("protocol", "added"),
    [
        (api_type("openAIChatCompletion"), {"max_tokens": 50, "stream": False}),
        (
            api_type("openAIChatCompletion", "truncation_length", "n_predict"),
            {"truncation_length": 8192, "n_predict": 50, "stream": False},
        ),
        (
            api_type("koboldCppGenerate", "max_context_length", "max_length"),
            {"max_context_length": 8192, "max_length": 50, "stream": False},
        ),
        (api_type("ollamaApiChat", "num_ctx", "num_predict"), {"num_ctx": 8192, "num_predict": 50}),
        (api_type("ollamaApiGenerate", "num_ctx", "num_predict"), {"num_ctx": 8192, "num_predict": 50}),
        (api_type("openAIApiChatImageSpecific", "max_tokens"), {"max_tokens": 50, "stream": False}),
        (api_type("openAIV1Completion", None, None, None), {}),
    ],
)
def test_the_named_members_overwrite_the_preset(protocol, added):
    assert options(PRESET, protocol, context_tokens=8192, max_tokens=50, stream=False) == {**PRESET, **added}


def test_nulls_of_a_preset_are_not_sent():
    sent = options({"top_k": None, "top_p": 0}, api_type("x"), context_tokens=None, max_tokens=5, stream=True)
    assert sent == {"top_p": 0, "max_tokens": 5, "stream": True}


def test_a_stream_flag_in_the_preset_of_an_ollama_model_is_not_sent():
    sent = options({"stream": True}, api_type("ollamaApiChat"), context_tokens=None, max_tokens=5, stream=True)
    assert sent == {"max_tokens": 5}


def test_an_endpoint_without_a_context_size_sends_none():
    sent = options({}, api_type("koboldCppGenerate", "cut"), context_tokens=None, max_tokens=5, stream=False)
    assert sent == {"max_tokens": 5, "stream": False}


def test_the_preset_itself_is_left_as_it_is():
    preset = dict(PRESET)
    options(preset, api_type("openAIChatCompletion"), context_tokens=1, max_tokens=2, stream=True)
    assert preset == PRESET
