"""Requests whose options come from a config tree: the bodies hold those, the prompt, the model, and nothing else."""

from dataclasses import replace
from typing import Any

import pytest

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import Extra, ImagePart, Message, ModelRequest, Sampling, TextPart, text_message
from mnemoir.wire import koboldcpp, ollama_chat, ollama_generate, openai_chat, openai_completions, openai_messages
from tests.wire.samples import TOOL

PRESET = {"temperature": 0.5, "max_tokens": 7, "custom": "x"}
TALK = (text_message("system", "SYS"), text_message("systemMes", "mid"), text_message("user", "U2 "))
SENT = [
    {"role": "system", "content": "SYS"},
    {"role": "system", "content": "mid"},
    {"role": "user", "content": "U2 "},
]


def asked(*messages: Message, **members: Any) -> ModelRequest:
    return ModelRequest(messages=messages or TALK, **{"model": "m1", "options": PRESET, **members})


def test_what_a_client_was_allowed_to_add_stands_below_the_options() -> None:
    extra = Extra(route="openai-chat", members={"top_k": 3, "custom": "client"})
    request = asked(sampling=Sampling(temperature=1.0, seed=3), extra=extra)
    body = openai_chat.write_request(request, stream=False)
    assert body == {"model": "m1", "messages": SENT, "seed": 3, "top_k": 3, **PRESET}


def test_what_an_ollama_client_was_allowed_to_add_stands_below_the_options() -> None:
    extra = Extra(route="ollama-chat", members={"keep_alive": "5m", "options": {"num_ctx": 4096, "custom": "client"}})
    body = ollama_chat.write_request(asked(sampling=Sampling(seed=3), extra=extra), stream=False)
    assert (body["keep_alive"], body["options"]) == ("5m", {"seed": 3, "num_ctx": 4096, **PRESET})


@pytest.mark.parametrize("stream", [True, False])
def test_openai_chat_gets_the_messages_and_the_options(stream: bool) -> None:
    options = {**PRESET, "stream": stream, "max_tokens": 50}
    body = openai_chat.write_request(asked(options=options), stream=stream)
    assert body == {
        "model": "m1",
        "messages": SENT,
        "temperature": 0.5,
        "custom": "x",
        "stream": stream,
        "max_tokens": 50,
    }


def test_the_names_of_another_api_type_stay_as_they_are() -> None:
    options = {**PRESET, "truncation_length": 8192, "n_predict": 50}
    body = openai_chat.write_request(asked(options=options), stream=True)
    assert (body["truncation_length"], body["n_predict"], body["max_tokens"]) == (8192, 50, 7)
    assert "stream_options" not in body


def test_no_model_is_left_out_and_an_empty_one_is_sent() -> None:
    assert "model" not in openai_chat.write_request(asked(model=None), stream=False)
    assert openai_chat.write_request(asked(model=""), stream=False)["model"] == ""
    assert "model" not in openai_chat.write_request(ModelRequest(messages=TALK, model=None), stream=False)


def test_tools_are_sent_beside_the_options() -> None:
    body = openai_chat.write_request(asked(tools=(TOOL,), tool_choice="auto", options={}), stream=False)
    assert body == {"model": "m1", "messages": SENT, "tools": [TOOL], "tool_choice": "auto"}


@pytest.mark.parametrize("stream", [True, False])
def test_ollama_chat_gets_them_as_its_options(stream: bool) -> None:
    options = {**PRESET, "num_ctx": 8192, "num_predict": 50}
    assert ollama_chat.write_request(asked(options=options), stream=stream) == {
        "model": "m1",
        "messages": SENT,
        "options": options,
        "stream": stream,
    }


@pytest.mark.parametrize("dialect", [ollama_chat, ollama_generate])
def test_ollamas_think_and_stream_stand_beside_its_options(dialect: Any) -> None:
    request = asked(text_message("user", "Q"), options={"think": False, "stream": False, "num_ctx": 8})
    body = dialect.write_request(request, stream=True)
    assert (body["options"], body["think"], body["stream"]) == ({"num_ctx": 8}, False, True)


def test_ollama_generate_gets_a_raw_prompt() -> None:
    prompt = text_message("user", "<s>SYS</s>Q")
    assert ollama_generate.write_request(asked(prompt), stream=False) == {
        "model": "m1",
        "prompt": "<s>SYS</s>Q",
        "stream": False,
        "raw": True,
        "options": PRESET,
    }


def test_openai_completions_gets_the_prompt_and_the_options() -> None:
    prompt = text_message("user", "<s>SYS</s>Q")
    body = openai_completions.write_request(asked(prompt, options={**PRESET, "stream": True}), stream=True)
    assert body == {"prompt": "<s>SYS</s>Q", **PRESET, "stream": True, "model": "m1"}
    assert "model" not in openai_completions.write_request(asked(prompt, model=None), stream=True)


def test_koboldcpp_gets_the_prompt_and_the_options() -> None:
    options = {**PRESET, "max_context_length": 8192, "max_length": 50}
    body = koboldcpp.write_request(asked(text_message("user", "Q"), options=options), stream=True)
    assert body == {"prompt": "Q", **options}


def test_each_protocol_has_its_place_for_a_picture() -> None:
    picture = ImagePart(url="data:image/png;base64,iVBORw0KGgoA")
    request = asked(Message(role="user", parts=(TextPart(text="Q"), picture)), options={})
    assert openai_chat.write_request(request, stream=False)["messages"][0]["content"] == [
        {"type": "text", "text": "Q"},
        {"type": "image_url", "image_url": {"url": picture.url}},
    ]
    assert ollama_chat.write_request(request, stream=False)["messages"][0]["images"] == ["iVBORw0KGgoA"]
    for dialect in (koboldcpp, ollama_generate):
        assert dialect.write_request(request, stream=False)["images"] == ["iVBORw0KGgoA"]
    assert "images" not in openai_completions.write_request(request, stream=False)


def test_a_linked_picture_goes_to_openai_as_it_is() -> None:
    linked = Message(role="user", parts=(ImagePart(url="https://x.example/a.png"),))
    assert openai_messages.write_message(linked)["content"] == [
        {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}
    ]


def test_a_client_cannot_send_the_role_of_a_marked_prompt() -> None:
    with pytest.raises(InvalidRequest, match="role must be one of system, developer, user, assistant, tool"):
        openai_chat.read_request({"messages": [{"role": "systemMes", "content": "x"}]})


def test_without_options_a_completion_is_asked_as_any_model_is() -> None:
    request = ModelRequest(messages=(text_message("user", "Q"),), model="m", sampling=Sampling(max_tokens=9))
    assert openai_completions.write_request(request, stream=True) == {
        "prompt": "Q",
        "max_tokens": 9,
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert "model" not in openai_completions.write_request(replace(request, model=""), stream=False)
