"""What clients of Ollama's protocol learn of a model before they chat: what it can do and how much it reads."""

import asyncio
from typing import Any

import ollama
import pytest

from mnemoir.models import choice
from tests.scripted_llm import Answer, ScriptedLLM
from tests.server.conftest import OpenServer
from tests.server.served_tree import answering, calling, served
from tests.server.server_kit import JSON, Server, asks
from tests.server.test_ollama_clients import asks_ollama

SHOWN: JSON = {
    "capabilities": ["completion", "vision", "thinking", "insert"],
    "model_info": {"general.architecture": "far", "far.context_length": 8192},
    "parameters": "num_ctx 4096",
    "template": "{{ .Prompt }}{{ .Suffix }}",
    "details": {"family": "far", "parameter_size": "8B", "quantization_level": "Q4"},
    "license": "long",
}


async def shown(server: Server, model: str = "mnemoir") -> Any:
    return await server.post("/api/show", {"model": model})


async def test_the_clients_package_reads_what_an_ollama_says_of_the_model(
    listen: OpenServer, llm: ScriptedLLM
) -> None:
    llm.shown, llm.cards = SHOWN, {llm.models[0]: {"size": 4_000}}
    server = await listen(asks_ollama(llm, **{"llm.model": llm.models[0]}))
    async with ollama.AsyncClient(host=server.url) as client:
        read = await client.show("mnemoir")
        assert read.capabilities == SHOWN["capabilities"]
        assert (read.parameters, read.template) == ("num_ctx 4096", "{{ .Prompt }}{{ .Suffix }}")
        assert read.modelinfo is not None
        assert read.modelinfo["mnemoir.context_length"] == 8192
        assert read.details is not None
        assert (read.details.families, read.details.parameter_size) == (["far"], "8B")
        assert {model.size for model in (await client.list()).models} == {4_000}
        assert {(model.size, model.context_length) for model in (await client.ps()).models} == {(4_000, 8192)}
    asked = next(one for one in llm.requests if one.path == "/api/show")
    assert asked.body == {"model": llm.models[0]}


async def test_an_ollama_is_asked_once_for_many_looks(open_server: OpenServer, llm: ScriptedLLM) -> None:
    llm.shown = SHOWN
    server = await open_server(asks_ollama(llm))
    for _ in range(3):
        await shown(server)
        await server.get("/api/tags")
    assert [asked.path for asked in llm.requests] == ["/api/show", "/api/tags"]


async def test_a_server_that_forwards_nothing_offers_no_insertion(open_server: OpenServer, llm: ScriptedLLM) -> None:
    llm.shown = SHOWN
    server = await open_server(asks_ollama(llm, **{"llm.forward": "none"}))
    assert (await shown(server))["capabilities"] == ["completion", "vision", "thinking"]


@pytest.mark.parametrize("told", [{}, {"capabilities": 7, "model_info": [], "details": 1, "template": {}}])
async def test_a_server_that_tells_nothing_is_described_as_ever(
    open_server: OpenServer, llm: ScriptedLLM, told: JSON
) -> None:
    llm.shown = told
    answer = await shown(await open_server(asks_ollama(llm)))
    assert answer["capabilities"] == ["completion", "tools"]
    assert "{{ .Tools }}" in answer["template"]
    assert answer["model_info"]["mnemoir.context_length"] == 131_072


async def test_a_server_that_hangs_leaves_the_model_undescribed(
    open_server: OpenServer, llm: ScriptedLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "_PATIENCE_S", 0)
    llm.rule(lambda asked: asked.path == "/api/show", Answer(silent=True))
    server = await open_server(asks_ollama(llm))
    looks = await asyncio.gather(*(shown(server) for _ in range(5)))
    assert [look["capabilities"] for look in looks] == [["completion", "tools"]] * 5
    await llm.arrived.wait()
    assert [asked.path for asked in llm.requests] == ["/api/show"]


@pytest.mark.parametrize(
    ("card", "capabilities", "context"),
    [
        ({"max_model_len": 32_768}, ["completion", "tools"], 32_768),
        ({"meta": {"n_ctx_train": 4096, "size": 7}, "owned_by": "llamacpp"}, ["completion", "tools"], 4096),
        (
            {
                "context_length": 65_536,
                "architecture": {"input_modalities": ["text", "image"]},
                "supported_parameters": ["tools", "reasoning"],
            },
            ["completion", "thinking", "tools", "vision"],
            65_536,
        ),
        ({"supported_parameters": ["temperature"]}, ["completion"], 131_072),
        (
            {"capabilities": {"vision": True, "function_calling": True}, "max_context_length": 9},
            ["completion", "tools", "vision"],
            9,
        ),
        ({"capabilities": ["completion", "multimodal"]}, ["completion", "tools", "vision"], 131_072),
        ({"max_model_len": "?", "meta": 3}, ["completion", "tools"], 131_072),
    ],
)
async def test_a_model_card_of_openais_protocol_is_read_for_what_it_tells(
    open_server: OpenServer, llm: ScriptedLLM, card: JSON, capabilities: list[str], context: int
) -> None:
    llm.cards = {llm.models[0]: card}
    answer = await shown(await open_server(asks(llm, **{"llm.model": llm.models[0]})))
    assert answer["capabilities"] == capabilities
    assert answer["model_info"]["mnemoir.context_length"] == context


@pytest.mark.parametrize(
    ("node", "capabilities"),
    [
        ({}, ["completion"]),
        ({"allowTools": True}, ["completion", "tools"]),
        ({"allowTools": True, "acceptImages": True}, ["completion", "tools", "vision"]),
    ],
)
@pytest.mark.parametrize("nested", [True, False])
async def test_the_answering_node_of_a_tree_decides(
    open_server: OpenServer, llm: ScriptedLLM, tmp_path: Any, node: JSON, capabilities: list[str], nested: bool
) -> None:
    answers = answering(**node)
    nodes = [calling("Inner", returnToUser=True)] if nested else [answers]
    files = {"Workflows/Ann/Inner.json": [answers]} if nested else {}
    server = await open_server(served(tmp_path, llm.url, *nodes, files=files, maxContextTokenSize=16_384))
    answer = await shown(server, "Ann")
    assert (answer["capabilities"], answer["model_info"]["mnemoir.context_length"]) == (capabilities, 16_384)
    assert llm.requests == []


async def test_workflows_that_answer_for_each_other_end(
    open_server: OpenServer, llm: ScriptedLLM, tmp_path: Any
) -> None:
    server = await open_server(served(tmp_path, llm.url, calling("Chat", returnToUser=True)))
    assert (await shown(server, "Ann"))["capabilities"] == ["completion"]


async def test_a_broken_workflow_is_described_as_ever(
    open_server: OpenServer, llm: ScriptedLLM, tmp_path: Any
) -> None:
    server = await open_server(served(tmp_path, llm.url, {"type": "NoSuchType"}))
    assert (await shown(server, "Ann"))["capabilities"] == ["completion", "tools"]
