"""The check of discussion settings, and of the settings that memory nodes require."""

import pytest

from mnemoir.workflows.checking import check
from mnemoir.workflows.node import installed_nodes
from tests.workflows.config.config_kit import SMALL, tree_of

KEY = "discussionIdMemoryFileWorkflowSettings"
SAYS = {"type": "StaticResponse", "content": "hello"}
MAKES = {"Workflows/Ann/Chat.json": [SAYS, {"type": "QualityMemory"}]}
DIRECT = {"endpointName": "Main", "preset": "Calm", "prompt": "Sum up: [TextChunk]"}


def problems(tmp_path, settings, files=(), *users):
    """The problems of the small tree with additional settings of its user."""
    ann = {**SMALL["Users/ann.json"], **settings}
    return check(tree_of(tmp_path, {"Users/ann.json": ann, **dict(files)}), users, installed_nodes().types)


def of_settings(tmp_path, said, **files):
    """The problems of a discussion settings file that a memory node uses: level, path and cause."""
    found = problems(tmp_path, {KEY: "Mine"}, {**MAKES, "Workflows/Ann/Mine.json": said, **files})
    assert {problem.file for problem in found} <= {"Workflows/Ann/Mine.json"}
    return [(problem.level, problem.path, problem.cause) for problem in found]


def of_node(tmp_path, node, **settings):
    """The problems of the user's only workflow, which has this node and a responder."""
    found = problems(tmp_path, settings, {"Workflows/Ann/Chat.json": [node, SAYS]})
    return [(problem.level, problem.file, problem.path, problem.cause) for problem in found]


def test_all_node_types_that_are_listed_can_be_loaded():
    assert installed_nodes().problems == []


@pytest.mark.parametrize(
    "said",
    [
        DIRECT,
        {**DIRECT, "multiModelList": [{"endpointName": "main"}], "endpointName": "Gone"},
        {**DIRECT, "endpointName": "{agent1Input}", "preset": "{agent2Input}"},
        {"fileMemoryWorkflowName": "Chat", "endpointName": "Gone", "preset": "Gone"},
        {"useVectorForQualityMemory": True, "vectorMemoryWorkflowName": "Chat"},
        {"useVectorForQualityMemory": True, "vectorMemoryEndpointName": "Main", "vectorMemoryPreset": "Calm"},
        {**DIRECT, "useVectorForQualityMemory": True},
        {**DIRECT, "vectorMemoryEndpointName": "Gone", "vectorMemoryPreset": "Gone"},
        {**DIRECT, "displayOnlyComment": "x", "Display_Only_Description": "x", "_x": 1, "somethingNew": 1},
    ],
)
def test_sound_settings_have_no_problems_and_are_no_workflow(tmp_path, said):
    assert of_settings(tmp_path, said) == []


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ({**DIRECT, "endpointName": "Gone"}, "$.endpointName"),
        ({**DIRECT, "preset": "Gone"}, "$.preset"),
        ({**DIRECT, "multiModelList": [{"endpointName": "Main"}, {"endpointName": "Gone"}]}, "$.multiModelList[1]"),
        ({**DIRECT, "multiModelList": [{}]}, "$.multiModelList[0].endpointName"),
        ({**DIRECT, "lookbackStartTurn": "many"}, "$.lookbackStartTurn"),
        ({"fileMemoryWorkflowName": "Gone"}, "$.fileMemoryWorkflowName"),
        ({"prompt": "[TextChunk]"}, "$.endpointName"),
        ({"useVectorForQualityMemory": True}, "$.vectorMemoryEndpointName"),
        ({"useVectorForQualityMemory": True, "vectorMemoryEndpointName": "Gone"}, "$.vectorMemoryEndpointName"),
        ({"useVectorForQualityMemory": True, "vectorMemoryWorkflowName": "Gone"}, "$.vectorMemoryWorkflowName"),
        ({**DIRECT, "useVectorForQualityMemory": True, "vectorMemoryPreset": "Gone"}, "$.vectorMemoryPreset"),
        ([SAYS], "$"),
        (b"{", "$"),
    ],
)
def test_settings_that_cannot_make_memories_are_reported_at_their_position(tmp_path, said, path):
    [(level, found, cause)] = of_settings(tmp_path, said)
    assert (level, found.startswith(path)) == ("error", True), found
    assert cause.endswith(".")


def test_a_prompt_that_does_not_show_the_chunk_is_a_warning(tmp_path):
    [(level, path, cause)] = of_settings(tmp_path, {**DIRECT, "prompt": "Sum up."})
    assert (level, path) == ("warning", "$.prompt")
    assert "[TextChunk]" in cause
    assert of_settings(tmp_path / "other", {**DIRECT, "prompt": "", "systemPrompt": "[TextChunk]"}) == []


def test_a_misspelled_key_is_a_warning_that_names_the_nearest_key(tmp_path):
    said = {**DIRECT, "chunkEstimatedTokensSize": 5}
    [problem] = problems(tmp_path, {KEY: "Mine"}, {"Workflows/Ann/Mine.json": said})
    assert (problem.level, problem.path) == ("warning", "$.chunkEstimatedTokensSize")
    assert problem.fix == "Did you mean 'chunkEstimatedTokenSize'?"


@pytest.mark.parametrize("name", ["Gone", "../Users/ann"])
def test_a_missing_settings_file_is_reported_at_the_users_key(tmp_path, name):
    [problem] = problems(tmp_path, {KEY: name}, MAKES)
    assert (problem.level, problem.file, problem.path) == ("error", "Users/ann.json", f"$.{KEY}")


NAMED = {
    KEY: "Gone",
    "chatSummaryToolWorkflow": "Gone",
    "recentMemoryToolWorkflow": "Gone",
    "conversationMemoryToolWorkflow": "Gone",
}


def test_settings_of_memory_that_no_node_makes_are_warnings(tmp_path):
    levels = {problem.path: problem.level for problem in problems(tmp_path, NAMED)}
    assert levels == {f"$.{key}": "warning" for key in NAMED}


@pytest.mark.parametrize(
    ("node", "keys"),
    [
        ({"type": "QualityMemory"}, [KEY, "recentMemoryToolWorkflow"]),
        ({"type": "RecentMemory"}, [KEY, "recentMemoryToolWorkflow"]),
        ({"type": "FullChatSummary"}, [KEY, "chatSummaryToolWorkflow"]),
        ({"type": "ConversationMemory"}, ["conversationMemoryToolWorkflow"]),
        ({"type": "FullChatSummary", "isManualConfig": True}, []),
        ({"type": "VectorMemorySearch", "input": "cats"}, []),
    ],
)
def test_missing_settings_that_a_memory_node_uses_are_an_error(tmp_path, node, keys):
    found = problems(tmp_path, NAMED, {"Workflows/Ann/Chat.json": [node, SAYS]})
    levels = {one.path.removeprefix("$."): one.level for one in found if one.file == "Users/ann.json"}
    assert levels == {key: "error" if key in keys else "warning" for key in NAMED}


def test_wrong_settings_that_no_memory_node_uses_are_warnings(tmp_path):
    said = {**DIRECT, "endpointName": "Gone", "lookbackStartTurn": "many"}
    found = problems(tmp_path, {KEY: "Mine"}, {"Workflows/Ann/Mine.json": said})
    assert [(one.level, one.path) for one in found] == [("warning", "$.lookbackStartTurn")]


def test_wrong_settings_used_by_one_of_two_users_are_one_error(tmp_path):
    shared = {KEY: "Mine", "workflowConfigsSubDirectoryOverride": "both"}
    runs = {"customWorkflowOverride": True, "customWorkflow": "Chat", **shared}
    files = {
        "Users/zoe.json": {**runs, "allowSharedWorkflows": True},
        "Workflows/both/Chat.json": [SAYS],
        "Workflows/both/Mine.json": {**DIRECT, "lookbackStartTurn": "many"},
        "Workflows/_shared/Poet/_DefaultWorkflow.json": [{"type": "QualityMemory"}, SAYS],
    }
    found = problems(tmp_path, shared, files)
    assert [(one.level, one.path) for one in found] == [("error", "$.lookbackStartTurn")]


def test_workflows_that_make_memories_are_checked_with_the_inputs_they_are_given(tmp_path):
    said = {
        "fileMemoryWorkflowName": "Sum",
        "useVectorForQualityMemory": True,
        "vectorMemoryWorkflowName": "Records",
    }
    files = {
        "Workflows/Ann/Mine.json": said,
        "Workflows/Ann/Sum.json": [{"type": "StaticResponse", "content": "{agent4Input}{agent5Input}"}],
        "Workflows/Ann/Records.json": [{"type": "StaticResponse", "content": "{agent1Input}{agent2Input}"}],
    }
    found = problems(tmp_path, {KEY: "Mine"}, files)
    assert [(problem.file, problem.cause.split(" ")[0]) for problem in found] == [
        ("Workflows/Ann/Records.json", "{agent2Input}"),
        ("Workflows/Ann/Sum.json", "{agent5Input}"),
    ]


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("QualityMemory", [KEY]),
        ("RecentMemory", ["recentMemoryToolWorkflow", KEY]),
        ("FullChatSummary", ["chatSummaryToolWorkflow", KEY]),
        ("conversationmemory", ["conversationMemoryToolWorkflow"]),
        ("VectorMemorySearch", []),
        ("GetCurrentSummaryFromFile", []),
    ],
)
def test_a_node_without_a_required_setting_of_the_user_is_reported(tmp_path, kind, keys):
    found = of_node(tmp_path, {"type": kind})
    assert [(level, file, path) for level, file, path, _ in found] == [
        ("error", "Workflows/Ann/Chat.json", "$[0].type") for _ in keys
    ]
    assert [cause for *_, cause in found] == [
        f"A node of type {kind} needs {key}, and Users/ann.json has none." for key in keys
    ]


def test_a_node_that_has_what_it_needs_has_no_problems(tmp_path):
    (tmp_path / "Public/Configs/Workflows/Ann").mkdir(parents=True)
    (tmp_path / "Public/Configs/Workflows/Ann/Mine.json").write_text('{"fileMemoryWorkflowName": "Tool"}')
    (tmp_path / "Public/Configs/Workflows/Ann/Tool.json").write_text('[{"type": "StaticResponse", "content": "x"}]')
    tools = ("recentMemoryToolWorkflow", "chatSummaryToolWorkflow", "conversationMemoryToolWorkflow")
    settings = {KEY: "Mine", **dict.fromkeys(tools, "Tool")}
    for kind in ("QualityMemory", "RecentMemory", "FullChatSummary", "ConversationMemory"):
        assert of_node(tmp_path, {"type": kind}, **settings) == []


def test_a_summary_that_is_only_read_needs_no_settings(tmp_path):
    assert of_node(tmp_path, {"type": "FullChatSummary", "isManualConfig": True}) == []


def test_one_users_settings_are_no_workflow_when_the_whole_tree_is_checked(tmp_path):
    files = {
        "Users/bob.json": {"customWorkflowOverride": True, "customWorkflow": "Say", KEY: "Mine"},
        "Workflows/bob/Say.json": [SAYS],
        "Workflows/bob/Mine.json": {**DIRECT, "preset": "", "nodes": "none of yours"},
    }
    assert problems(tmp_path, {}, files) == []
