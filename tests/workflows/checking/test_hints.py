"""Hints of the check: answering nodes that drop tools of clients."""

import pytest

from mnemoir.workflows.checking import check_with_hints
from mnemoir.workflows.node import installed_nodes
from tests.workflows.config.config_kit import tree_of

ANSWER = {"type": "Standard", "endpointName": "Main", "preset": "Calm", "prompt": "", "returnToUser": True}
TEXT_API = {"ApiTypes/Text.json": {"type": "openAIV1Completion", "presetType": "OpenAiCompatibleApis"}}
TEXT_ENDPOINT = {"endpoint": "http://127.0.0.1:8080", "apiTypeConfigFileName": "Text", "promptTemplate": "_chatonly"}


def hinted(tmp_path, *nodes, **files):
    """The positions of hints in the workflows of a user with these nodes in Chat."""
    tree = tree_of(tmp_path, {"Workflows/Ann/Chat.json": list(nodes), **files})
    return [f"{hint.file} {hint.path}" for hint in check_with_hints(tree, ["Ann"], installed_nodes().types)[1]]


def test_the_answering_node_is_named_and_no_other(tmp_path):
    inner = {**ANSWER, "returnToUser": False}
    assert hinted(tmp_path, inner, ANSWER, inner) == ["Workflows/Ann/Chat.json $[1]"]


@pytest.mark.parametrize(
    "said",
    [
        {"allowTools": True},
        {"allowTools": "true"},
        {"prompt": "Sum it up: {chat_user_prompt_last_one}"},
        {"endpointName": "{which}"},
        {"endpointName": "Nowhere"},
        {"type": "StaticResponse", "content": "x"},
    ],
)
def test_a_node_that_passes_tools_on_or_could_not_is_not_named(tmp_path, said):
    assert hinted(tmp_path, ANSWER | said) == []


def test_an_endpoint_that_completes_a_text_takes_no_tools(tmp_path):
    files = {**TEXT_API, "Endpoints/Text.json": TEXT_ENDPOINT}
    assert hinted(tmp_path, ANSWER | {"endpointName": "Text"}, **files) == []


def test_a_sub_workflow_that_answers_is_checked(tmp_path):
    chosen = {"Default": "Inner", "Other": "Inner"}
    runs = {"type": "ConditionalCustomWorkflow", "conditionalKey": "x", "conditionalWorkflows": chosen}
    found = hinted(tmp_path, {**runs, "returnToUser": True}, **{"Workflows/Ann/Inner.json": [ANSWER]})
    assert found == ["Workflows/Ann/Inner.json $[0]"]


def test_a_circle_of_workflows_ends(tmp_path):
    runs = {"type": "CustomWorkflow", "workflowName": "Chat", "returnToUser": True}
    assert hinted(tmp_path, runs) == []


def test_the_categoriser_gets_no_hint_and_the_workflows_of_categories_do(tmp_path):
    settings = {"routingConfig": "Mine", "categorizationWorkflow": "Sort"}
    files = {
        "Users/ann.json": settings,
        "Routing/Mine.json": {"CODING": {"description": "code", "workflow": "Code"}},
        "Workflows/Ann/Sort.json": [ANSWER],
        "Workflows/Ann/Code.json": [ANSWER],
    }
    assert hinted(tmp_path, ANSWER, **files) == ["Workflows/Ann/Code.json $[0]"]
