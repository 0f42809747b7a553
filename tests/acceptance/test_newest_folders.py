"""Folders in the shape of the newest release: samplers in endpoints, names handed on, shared workflows."""

import json

import pytest
import requests

from mnemoir.workflows.checking import check
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.node import node_types
from mnemoir.workflows.prompting.options import CANONICAL
from tests.scripted_llm import ScriptedLLM
from tests.serving import ServerProcess
from tests.tree_kit import write_tree

LLAMA = {
    "type": "openAIChatCompletion",
    "presetType": "LlamaCppServer",
    "truncateLengthPropertyName": "truncation_length",
    "maxNewTokensPropertyName": "n_predict",
    "streamPropertyName": "stream",
    "supportsChatTemplateKwargs": True,
    "structuredOutput": {"field": "response_format", "style": "openaiJsonSchema"},
    "thinking": {"location": "chat_template_kwargs", "field": "enable_thinking", "mode": "bool"},
    "samplerFieldMap": {name: name for name in CANONICAL},
}
QUIET = {"enable_thinking": False, "thinking_budget": 0}
CALM = {"temperature": 0.3, "min_p": 0.05, "stop": ["<|OVER|>"], "chat_template_kwargs": QUIET}
THOROUGH = {"temperature": 0.6, "top_p": 0.95, "min_p": 0, "chat_template_kwargs": {"thinking_budget": 16384}}
WAYS = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


def endpoint(url, samplers):
    told = {"endpoint": url, "apiTypeConfigFileName": "LlamaCppServer", "maxContextTokenSize": 32786}
    empty = {
        "modelNameToSendToAPI": "",
        "startThinkTag": "",
        "textToAddToStartOfSystem": " ",
        "removeThinking": False,
    }
    return told | empty | {"dontIncludeModel": True, "promptTemplate": "_chatonly", "presetSamplers": samplers}


def someone(folder, **members):
    told = {"customWorkflowOverride": False, "customWorkflow": "", "routingConfig": "", "categorizationWorkflow": ""}
    shown = {"chatPromptTemplateName": "_chatonly", "chatCompleteAddUserAssistant": True}
    folders = {"endpointConfigsSubDirectory": folder, "presetConfigsSubDirectoryOverride": folder}
    return {**told, **shown, **folders, "clampPromptToContextWindow": True, **members}


def handing_on(model, size):
    """A workflow that runs the common one and names its model, its preset and its sizes."""
    names = ("Model", "Preset", "Size", "Least", "Most")
    call = {"title": "Run it", "type": "CustomWorkflow", "workflowName": "General"}
    given = {"workflowUserFolderOverride": "_common", "scoped_variables": [f"{{{name}}}" for name in names]}
    return {"Model": model, "Preset": model, "Size": size, "Least": 10, "Most": 15000, "nodes": [call | given]}


def sorting(title, prompt):
    asked = {"title": title, "systemPrompt": title, "prompt": prompt, "addUserTurnTemplate": True}
    return asked | {"endpointName": "Worker", "preset": "Worker", "maxResponseSizeInTokens": 300}


GENERAL = {
    "title": "Answer",
    "systemPrompt": "It is {current_day_of_week}. The app says: {chat_system_prompt}",
    "prompt": "Go on with this: {chat_user_prompt_min_n_max_tokens}",
    "endpointName": "{agent1Input}",
    "preset": "{agent2Input}",
    "maxResponseSizeInTokens": "{agent3Input}",
    "minMessagesInVariable": "{agent4Input}",
    "maxEstimatedTokensInVariable": "{agent5Input}",
    "acceptImages": True,
    "maxImagesToSend": 5,
    "allowTools": True,
}


def files(url):
    category = {"description": "everything else", "workflow": "General-Route"}
    return {
        "ApiTypes/LlamaCppServer.json": LLAMA,
        "ApiTypes/Claude.json": {"type": "claudeMessages", "presetType": "ClaudeMessages"},
        "ApiTypes/OpenAI-Embeddings.json": {"type": "openAIEmbeddings"},
        "Users/router.json": someone("_router", routingConfig="Kinds", categorizationWorkflow="Sort"),
        "Users/chat-ui.json": someone(
            "_offered", allowSharedWorkflows=True, sharedWorkflowsSubDirectoryOverride="_offered"
        ),
        "Routing/Kinds.json": {"CODING": {**category, "workflow": "General-Route"}, "GENERAL": category},
        "Endpoints/_router/Worker.json": endpoint(url, CALM),
        "Endpoints/_router/General.json": endpoint(url, THOROUGH),
        "Endpoints/_offered/Quick.json": endpoint(url, CALM),
        "Endpoints/_offered/Thorough.json": endpoint(url, THOROUGH),
        "Workflows/router/Sort.json": [
            sorting("Look at it", "{chat_user_prompt_min_n_max_tokens}\n{category_colon_descriptions}"),
            sorting("Choose", "{agent1Output}\nOne word of {categoryNameBulletpoints}."),
        ],
        "Workflows/router/General-Route.json": handing_on("General", 8000),
        "Workflows/router/_DefaultWorkflow.json": handing_on("General", 8000),
        "Workflows/_common/General.json": [GENERAL],
        "Workflows/_offered/quick/_DefaultWorkflow.json": handing_on("Quick", 8000),
        "Workflows/_offered/thorough/_DefaultWorkflow.json": handing_on("Thorough", 12000),
    }


@pytest.fixture(scope="module")
def model():
    with ScriptedLLM.in_thread() as llm:
        yield llm


@pytest.fixture
def llm(model):
    model.clear()
    return model


@pytest.fixture(scope="module")
def public(tmp_path_factory, model):
    return write_tree(tmp_path_factory.mktemp("newest") / "Public", model.url, files(model.url))


@pytest.fixture(scope="module")
def server(public):
    users = ["--user", "router", "--user", "chat-ui"]
    with ServerProcess(public.parent / "data", arguments=["--config-dir", str(public), *users]) as running:
        yield running


def said(server, model, *, stream):
    """What a client gets of an answer, and the status."""
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Tell me of tea."}]
    body = {"model": model, "messages": messages, "stream": stream, "temperature": 1.9}
    answer = requests.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)
    if answer.status_code != 200:
        return answer.status_code, answer.json()["error"]["message"]
    if not stream:
        return 200, answer.json()["choices"][0]["message"]["content"]
    events = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
    assert events.pop() == "[DONE]"
    deltas = [choice["delta"] for event in events for choice in json.loads(event)["choices"]]
    return 200, "".join(delta.get("content") or "" for delta in deltas)


def settings(asked):
    """A request to the model beside its messages."""
    return {name: value for name, value in asked.body.items() if name != "messages"}


def sent(samplers, most, *, stream):
    return {**samplers, "truncation_length": 32786, "n_predict": most, "stream": stream}


@WAYS
def test_a_router_sorts_and_answers_with_the_samplers_of_each_endpoint(server, llm, stream):
    for reply in ("It is about tea.", "GENERAL", "Tea is a leaf."):
        llm.reply(reply)
    assert said(server, "router", stream=stream) == (200, "Tea is a leaf.")
    inner = sent(CALM, 300, stream=False)
    assert [settings(asked) for asked in llm.requests] == [inner, inner, sent(THOROUGH, 8000, stream=stream)]
    *_, user = llm.requests[-1].body["messages"]
    assert user["content"].startswith("Go on with this: ")
    assert "Tell me of tea." in user["content"]


@WAYS
@pytest.mark.parametrize(("folder", "samplers", "most"), [("quick", CALM, 8000), ("thorough", THOROUGH, 12000)])
def test_each_shared_folder_answers_with_the_samplers_of_its_endpoint(server, llm, folder, samplers, most, stream):
    llm.reply("Tea is a leaf.")
    assert said(server, f"chat-ui:{folder}", stream=stream) == (200, "Tea is a leaf.")
    assert [settings(asked) for asked in llm.requests] == [sent(samplers, most, stream=stream)]


@WAYS
def test_the_bare_user_of_shared_folders_is_not_listed_and_says_which_there_are(server, llm, stream):
    listed = requests.get(f"{server.url}/v1/models", timeout=60).json()["data"]
    assert [card["id"] for card in listed] == ["router", "chat-ui:quick", "chat-ui:thorough"]
    choose = "chat-ui has shared workflows only: choose one of chat-ui:quick, chat-ui:thorough."
    assert said(server, "chat-ui", stream=stream) == (400, choose)
    assert llm.requests == []


def test_the_check_finds_nothing_that_cannot_work(public):
    problems = check(ConfigTree.open(public), (), node_types())
    assert [(problem.level, problem.file) for problem in problems] == [
        ("warning", "ApiTypes/Claude.json"),
        ("warning", "ApiTypes/OpenAI-Embeddings.json"),
    ]


def test_the_first_lines_of_a_server_name_a_model_that_answers(public):
    arguments = ["--config-dir", str(public), "--user", "chat-ui"]
    with ServerProcess(public.parent / "alone", arguments=arguments) as running:
        assert '{"model": "chat-ui:quick"' in running.log.read_text()
