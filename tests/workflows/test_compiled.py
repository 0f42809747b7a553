"""Compiled workflows: the answering node, and the errors of faulty nodes."""

import gc

import pytest
import structlog

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.compiled import Compiler
from mnemoir.workflows.config.workflow import read_workflow
from mnemoir.workflows.node import node_types

RESPOND, STATIC = {"type": "Respond"}, {"type": "StaticResponse", "content": "x"}


@pytest.fixture
def compiler(desk):
    return Compiler(node_types(), desk.services)


@pytest.fixture
def compiled(compiler):
    kept = []  # a compiled workflow lives as long as its definition

    def compile_nodes(*nodes, **variables):
        kept.append(read_workflow("Tested", {"nodes": list(nodes), **variables}))
        return compiler.compiled_workflow(kept[-1])

    return compile_nodes


@pytest.mark.parametrize(
    ("said", "responder"),
    [
        (({}, {}, {}), 2),
        (({}, {"returnToUser": True}, {}), 1),
        (({"returnToUser": True}, {"returnToUser": True}, {}), 0),
        (({"is_responder": True}, {"returnToUser": True}, {}), 0),
        (({"returnToUser": True, "is_responder": False}, {"is_responder": True}, {}), 1),
        (({}, {}, {"returnToUser": False, "is_responder": False}), 2),
        ((), -1),
    ],
)
def test_the_first_node_marked_as_responder_answers_else_the_last(compiled, said, responder):
    assert compiled(*({**STATIC, **node} for node in said)).responder == responder


@pytest.mark.parametrize(
    ("said", "overridden"),
    [(({}, {"prompt": ""}), 1), (({}, {"systemPrompt": "S"}, {"prompt": "P"}), 1), (({}, {}), -1)],
)
def test_a_parent_may_replace_the_prompts_of_the_first_node_that_has_any(compiled, said, overridden):
    assert compiled(*({**STATIC, **node} for node in said)).overridden == overridden


def test_types_are_known_without_regard_to_case(compiled):
    assert compiled({"type": "RESPOND"}).nodes[0].node.kind == "Respond"


def test_a_node_without_a_type_is_a_standard_one(compiled):
    assert compiled({"title": "only"}).nodes[0].node.kind == "Standard"


def test_a_type_that_is_not_known_asks_its_endpoint_with_a_warning(compiled):
    with structlog.testing.capture_logs() as logs:
        assert compiled({"type": "Dance", "endpointName": "Main"}).nodes[0].node.kind == "Standard"
    assert [(entry["event"], entry["type"]) for entry in logs] == [("unknown node type", "Dance")]


@pytest.mark.parametrize(
    ("node", "told"),
    [
        ({"type": "Respnod", "title": "t"}, r"Tested: node 1 \(t\) has the unknown type 'Respnod'. .* Respond\?"),
        ({"type": "Dance"}, "has the unknown type 'Dance'. docs/nodes"),
        ({"type": "Standard", "title": "t", "prompt": []}, r"node 1 \(t\): prompt: input should be"),
        ({"type": "Standard", "timeoutSeconds": -1}, "timeoutSeconds: input should be greater than 0"),
        ({"type": "CustomWorkflow", "scoped_variables": "one"}, "scoped_variables: "),
        ({"type": "WorkflowLock"}, "workflowLockId: field required"),
    ],
)
def test_a_fault_of_a_node_is_reported_with_its_position(compiled, node, told):
    with pytest.raises(SettingsError, match=told):
        compiled(node)


def test_unknown_keys_are_no_mistake(compiled):
    assert compiled({**STATIC, "id": 7, "displayOnlyComment": ["x"], "isResponder": "maybe"}).responder == 0


@pytest.mark.parametrize(
    ("nodes", "variables", "names"),
    [
        ([{**STATIC, "content": "{time_context_summary}"}], {}, True),
        ([STATIC], {"greeting": "It is {time_context_summary}."}, True),
        ([STATIC], {}, False),
    ],
)
def test_whether_the_time_context_is_needed_is_known_before_the_first_node(compiled, nodes, variables, names):
    assert compiled(*nodes, **variables).names_time_context is names


@pytest.mark.slow
def test_a_workflow_is_compiled_once_and_forgotten_with_its_definition(compiler):
    workflow = read_workflow("Tested", [RESPOND])
    assert compiler.compiled_workflow(workflow) is compiler.compiled_workflow(workflow)
    del workflow
    gc.collect()
    assert len(compiler._done) == 0
