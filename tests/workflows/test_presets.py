"""Presets: samplers of an endpoint before a preset file, by the names of the endpoint that is asked."""

import pytest
from structlog.testing import capture_logs

from mnemoir.core.errors import SettingsError
from tests.scripted_llm import ScriptedLLM, failure
from tests.tree_kit import answers
from tests.workflows.workflow_kit import chat, events, nodes_of, reply, talk

SAMPLERS = {
    "temperature": 0.6,
    "min_p": 0,
    "repeat_penalty": 1.1,
    "stop": ["<|END|>"],
    "json_schema": None,
    "thinkingMode": "off",
    "chat_template_kwargs": {"thinking_budget": 16},
}
LLAMA = {
    "type": "openAIChatCompletion",
    "presetType": "Llama",
    "maxNewTokensPropertyName": "n_predict",
    "streamPropertyName": "stream",
    "supportsChatTemplateKwargs": True,
    "thinking": {"location": "chat_template_kwargs", "field": "enable_thinking", "mode": "bool"},
    "samplerFieldMap": {name: name for name in ("temperature", "min_p", "repeat_penalty", "stop")},
}
OLLAMA = {
    "type": "ollamaApiChat",
    "presetType": "Ollama",
    "maxNewTokensPropertyName": "num_predict",
    "streamPropertyName": "stream",
    "thinking": {"location": "top", "field": "think", "mode": "bool"},
    "samplerFieldMap": {"temperature": "temperature", "stop": "stop"},
}
TO_LLAMA = {
    "temperature": 0.6,
    "min_p": 0,
    "repeat_penalty": 1.1,
    "stop": ["<|END|>"],
    "chat_template_kwargs": {"enable_thinking": False, "thinking_budget": 16},
}
TYPES = {"ApiTypes/Llama.json": LLAMA, "ApiTypes/Ollama.json": OLLAMA}
WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


def endpoint(url, kind="Llama", **members):
    return {"endpoint": url, "apiTypeConfigFileName": kind, "modelNameToSendToAPI": "far-model", **members}


def asking(desk, preset, files, **node):
    return desk.tree(
        answers("Say", "Hi", preset=preset, maxResponseSizeInTokens=50, **node), files={**TYPES, **files}
    )


async def sent(workflows, llm, *, stream=False):
    """The settings in the one request that a message leads to."""
    await events(workflows, talk("Hi", stream=stream))
    (asked,) = llm.requests
    named = ("messages", "model", "stream", "n_predict", "max_tokens")
    return {name: value for name, value in asked.body.items() if name not in named}


async def note_of(desk):
    (node,) = nodes_of(await desk.runs.next())
    return node.notes


@WAYS
async def test_a_node_asks_with_the_samplers_of_its_endpoint(desk, llm, stream):
    files = {"Endpoints/Main.json": endpoint(llm.url, presetSamplers=SAMPLERS)}
    assert await sent(asking(desk, "Main", files), llm, stream=stream) == TO_LLAMA
    assert await note_of(desk) == []


@WAYS
async def test_samplers_of_any_endpoint_get_the_names_of_the_asked_endpoint(desk, llm, stream):
    files = {
        "Endpoints/Lender.json": endpoint("http://127.0.0.1:9", presetSamplers=SAMPLERS),
        "Endpoints/Main.json": endpoint(llm.url, "Ollama", presetSamplers={"temperature": 2}),
    }
    body = await sent(asking(desk, "Lender", files), llm, stream=stream)
    assert body == {"options": {"temperature": 0.6, "stop": ["<|END|>"], "num_predict": 50}, "think": False}


@WAYS
async def test_left_out_samplers_are_once_in_the_trace_and_once_in_the_log(desk, llm, stream):
    files = {"Endpoints/Main.json": endpoint(llm.url, "Ollama", presetSamplers=SAMPLERS | {"wamth": 1})}
    llm.reply("many words in one answer")
    with capture_logs() as logs:
        await events(asking(desk, "Main", files), talk("Hi", stream=stream))
    notes = [
        "API type Ollama takes no min_p, repeat_penalty, chat_template_kwargs: left out of presetSamplers.",
        "presetSamplers has no sampler wamth: left out.",
    ]
    assert await note_of(desk) == notes
    (line,) = [line for line in logs if line["log_level"] == "warning"]
    assert (line["endpoint"], line["preset"], line["reasons"]) == ("Main", "Main", notes)


async def test_a_backup_of_another_protocol_gets_the_samplers_in_its_own_names(desk, llm):
    async with ScriptedLLM() as spare:
        files = {
            "Endpoints/Main.json": endpoint(llm.url, backupEndpointName="Spare", presetSamplers=SAMPLERS),
            "Endpoints/Spare.json": endpoint(spare.url, "Ollama"),
        }
        llm.queue(failure(500))
        assert await reply(asking(desk, "Main", files)) == "Understood."
        (asked,) = spare.requests
    assert asked.body["options"] == {"temperature": 0.6, "stop": ["<|END|>"], "num_predict": 50}
    assert any("API type Ollama takes no" in note for note in await note_of(desk))


async def test_an_appended_preset_wins_in_the_servers_own_names(desk, llm):
    files = {
        "Endpoints/Main.json": endpoint(llm.url, presetSamplers=SAMPLERS, appendPresetName="On top"),
        "Presets/Llama/On top.json": {
            "min_p": None,
            "cache_prompt": True,
            "draft": "__wilmer_null__",
            "stop": ["x"],
            "chat_template_kwargs": {"enable_thinking": True},
        },
    }
    assert await sent(asking(desk, "Main", files), llm) == {
        "temperature": 0.6,
        "repeat_penalty": 1.1,
        "cache_prompt": True,
        "draft": None,
        "stop": ["x"],
        "chat_template_kwargs": {"enable_thinking": True, "thinking_budget": 16},
    }


@pytest.mark.parametrize(("preset", "below"), [("Calm", {"top_k": 4}), ("", {})])
async def test_an_appended_preset_lies_over_a_preset_file_and_over_none(desk, llm, preset, below):
    files = {
        "Endpoints/Main.json": endpoint(llm.url, appendPresetName="On top"),
        "Presets/Llama/Calm.json": {"top_k": 4, "top_p": 1},
        "Presets/Llama/On top.json": {"top_p": None, "seed": 1},
    }
    assert await sent(asking(desk, preset, files), llm) == {**below, "seed": 1}


async def test_an_endpoint_without_samplers_does_not_hide_a_preset_file_of_its_name(desk, llm):
    files = {"Endpoints/Main.json": endpoint(llm.url), "Presets/Llama/Main.json": {"top_k": 4}}
    assert await sent(asking(desk, "Main", files), llm) == {"top_k": 4}


async def test_samplers_of_an_endpoint_win_over_a_preset_file_of_its_name(desk, llm):
    files = {
        "Endpoints/Main.json": endpoint(llm.url, presetSamplers={}),
        "Presets/Llama/Main.json": {"top_k": 4},
    }
    assert await sent(asking(desk, "Main", files), llm) == {}


async def test_a_null_among_the_samplers_leaves_the_limit_to_the_server(desk, llm):
    kind = LLAMA | {"samplerFieldMap": {"n_probs": "n_predict"}}
    files = {"ApiTypes/Llama.json": kind, "Endpoints/Main.json": endpoint(llm.url, presetSamplers={"n_probs": None})}
    await events(asking(desk, "Main", files), chat(stream=False))
    assert "n_predict" not in llm.requests[0].body


async def test_a_missing_preset_is_an_error_with_all_searched_folders(desk, llm):
    files = {"Endpoints/Main.json": endpoint(llm.url), "Endpoints/Mainly.json": endpoint(llm.url)}
    places = r"no Presets/Llama/Ann/Mainl.json nor Presets/Llama/Mainl.json .* endpoint 'Mainl' with presetSamplers"
    with pytest.raises(SettingsError, match=places):
        await events(asking(desk, "Mainl", files))


async def test_a_missing_appended_preset_is_an_error(desk, llm):
    files = {"Endpoints/Main.json": endpoint(llm.url, presetSamplers={}, appendPresetName="On top")}
    with pytest.raises(SettingsError, match="preset 'On top' was not found"):
        await events(asking(desk, "Main", files))


async def test_a_preset_that_would_leave_its_folder_is_refused_as_a_preset(desk, llm):
    with pytest.raises(SettingsError, match=r"preset '\.\./x' is not allowed"):
        await events(asking(desk, "../x", {"Endpoints/Main.json": endpoint(llm.url)}))


@WAYS
@pytest.mark.parametrize("place", ["OpenAiCompatibleApis/Ann", "OpenAiCompatibleApis", "Ann", ""])
async def test_an_api_type_without_a_folder_takes_the_presets_of_openais_protocol(desk, llm, place, stream):
    old = {"type": "openAIChatCompletion", "maxNewTokensPropertyName": "max_tokens", "streamPropertyName": "stream"}
    files = {
        "ApiTypes/Old.json": old,
        "Endpoints/Main.json": endpoint(llm.url, "Old"),
        "/".join(["Presets", *place.split("/"), "Warm.json"]).replace("//", "/"): {"top_k": 4},
        "Presets/Llama/Warm.json": {"top_k": 9},
    }
    assert await sent(asking(desk, "Warm", files), llm, stream=stream) == {"top_k": 4}


async def test_the_folder_of_openais_protocol_comes_before_the_folder_above_it(desk, llm):
    files = {
        "ApiTypes/Old.json": {"type": "openAIChatCompletion", "presetType": ""},
        "Endpoints/Main.json": endpoint(llm.url, "Old"),
        "Presets/OpenAiCompatibleApis/Warm.json": {"top_k": 4},
        "Presets/Warm.json": {"top_k": 9},
    }
    assert (await sent(asking(desk, "Warm", files), llm))["top_k"] == 4
