"""The check of a config tree: all problems at once, each with its position."""

import re
from pathlib import Path
from typing import Any

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.checking import Problem, check
from mnemoir.workflows.checking.nodes import LATER, LATER_DETAILS
from mnemoir.workflows.nodes.conditional_custom_workflow import ConditionalCustomWorkflow
from mnemoir.workflows.nodes.custom_workflow import CustomWorkflow
from mnemoir.workflows.nodes.slow_but_quality_rag import SlowButQualityRag
from mnemoir.workflows.nodes.standard import Standard
from mnemoir.workflows.nodes.static_response import StaticResponse
from tests.workflows.config.config_kit import tree_of

KINDS = (Standard, CustomWorkflow, ConditionalCustomWorkflow, StaticResponse, SlowButQualityRag)
TYPES = {name.lower(): kind for kind in KINDS for name in (kind.kind, *kind.aliases)}
SAYS = {"type": "StaticResponse", "content": "hello"}
PAGE = Path(__file__).parents[3] / "docs/migrating-from-wilmerai.md"


def problems(tmp_path, files, *users):
    return check(tree_of(tmp_path, files), users, TYPES)


def places(found: list[Problem]):
    return [(problem.level, problem.file, problem.path) for problem in found]


def in_chat(tmp_path, *nodes, **files):
    """The problems of the user's one workflow, made of these nodes."""
    found = problems(tmp_path, {"Workflows/Ann/Chat.json": list(nodes), **files})
    return [(problem.level, problem.path, problem.cause) for problem in found]


def routed(**more):
    """A user with prompt routing."""
    settings = {"routingConfig": "Mine", "categorizationWorkflow": "Sort", **more}
    return {
        "Users/ann.json": settings,
        "Workflows/Ann/Sort.json": [SAYS],
        "Workflows/Ann/_DefaultWorkflow.json": [SAYS],
    }


def test_a_sound_tree_has_no_problems(tmp_path):
    assert problems(tmp_path, {}) == []


BAD = {
    "Users/_current-user.json": {"currentUser": "Nan"},
    "Users/ann.json": {
        "customWorkflowOverride": True,
        "customWorkflow": "Chat",
        "chatPromptTemplateName": "_chatnolly",
        "discussionDirectory": "D:\\Temp",
    },
    "Users/bob.json": {"routingConfig": "Mine", "categorizationWorkflow": "Sort"},
    "Users/cid.json": {"port": "high"},
    "Routing/Mine.json": {"CODING": {"description": "code", "workflow": "Nowhere"}, "OTHER": {"description": "x"}},
    "ApiTypes/Odd.json": {"type": "openAIChatCompletions", "presetType": "X"},
    "Endpoints/Odd.json": {
        "endpoint": "ftp://files",
        "apiTypeConfigFileName": "Odd",
        "promptTemplate": "None",
        "removeThinking": True,
    },
    "Endpoints/Bare.json": {"apiTypeConfigFileName": "Open-Api"},
    "Presets/OpenAiCompatibleApis/broken.json": b'{"a": }',
    "Workflows/Ann/Chat.json": {
        "topic": "cats",
        "nodes": [
            {"type": "Standart", "endpointName": "Main"},
            {"type": "Standard", "endpointName": "Mein", "preset": "Calm"},
            {"type": "Standard", "endpointName": "Main", "preset": "Clam", "maxResponseSizeInTokns": 5},
            {"type": "QualityMemory"},
            {"type": "Standard", "prompt": "{topic} {topik} {agent5Output} {agent4Output}", "endpointName": "Main"},
            {"type": "CustomWorkflow", "workflowName": "Chat"},
            "no node",
            {"type": "Standard"},
            {"type": "Teleport"},
            {"type": "CustomWorkflow", "workflowName": "../Users/ann"},
        ],
    },
    "Workflows/_common/Unread.json": {"nodes": {"type": "Standard"}},
    "Workflows/bob/Sort.json": "text",
}
BAD_PLACES = [
    ("error", "ApiTypes/Odd.json", "$.type"),
    ("error", "Endpoints/Bare.json", "$.endpoint"),
    ("error", "Endpoints/Odd.json", "$.endpoint"),
    ("error", "Endpoints/Odd.json", "$.promptTemplate"),
    ("warning", "Endpoints/Odd.json", "$.removeThinking"),
    ("error", "Presets/OpenAiCompatibleApis/broken.json", "$"),
    ("error", "Routing/Mine.json", "$.OTHER.workflow"),
    ("error", "Users/_current-user.json", "$.currentUser"),
    ("error", "Users/ann.json", "$.chatPromptTemplateName"),
    ("warning", "Users/ann.json", "$.discussionDirectory"),
    ("warning", "Users/bob.json", "$.routingConfig"),
    ("error", "Users/cid.json", "$.port"),
    ("warning", "Workflows/Ann/Chat.json", "$.nodes[0].type"),
    ("error", "Workflows/Ann/Chat.json", "$.nodes[1].endpointName"),
    ("warning", "Workflows/Ann/Chat.json", "$.nodes[2].maxResponseSizeInTokns"),
    ("error", "Workflows/Ann/Chat.json", "$.nodes[2].preset"),
    ("error", "Workflows/Ann/Chat.json", "$.nodes[3].type"),
    ("warning", "Workflows/Ann/Chat.json", "$.nodes[4].prompt"),
    ("warning", "Workflows/Ann/Chat.json", "$.nodes[4].prompt"),
    ("error", "Workflows/Ann/Chat.json", "$.nodes[5].workflowName"),
    ("error", "Workflows/Ann/Chat.json", "$.nodes[6]"),
    ("error", "Workflows/Ann/Chat.json", "$.nodes[7].endpointName"),
    ("error", "Workflows/Ann/Chat.json", "$.nodes[8].type"),
    ("error", "Workflows/Ann/Chat.json", "$.nodes[9].workflowName"),
    ("error", "Workflows/_common/Unread.json", "$.nodes"),
    ("error", "Workflows/bob/Sort.json", "$"),
]


def test_all_problems_of_a_bad_tree_are_reported_with_their_positions(tmp_path):
    assert sorted(places(problems(tmp_path, BAD))) == sorted(BAD_PLACES)


def test_every_problem_says_what_to_do(tmp_path):
    for problem in problems(tmp_path, BAD):
        assert problem.cause.endswith("."), problem
        assert problem.fix.endswith((".", "?")), problem


def test_missing_names_are_reported_with_the_nearest_known_name(tmp_path):
    fixes = {problem.path: problem.fix for problem in problems(tmp_path, BAD)}
    assert fixes["$.nodes[0].type"] == "Did you mean 'Standard'?"
    assert fixes["$.nodes[1].endpointName"] == "Did you mean 'Main'?"
    assert fixes["$.nodes[2].preset"] == "Did you mean 'Calm'?"
    assert fixes["$.nodes[2].maxResponseSizeInTokns"] == "Did you mean 'maxResponseSizeInTokens'?"
    assert fixes["$.chatPromptTemplateName"] == "Did you mean '_chatonly'?"


def test_only_problems_that_a_named_user_reaches_are_reported(tmp_path):
    files = {name: content for name, content in BAD.items() if name != "Workflows/Ann/Chat.json"}
    found = problems(tmp_path, files, "Ann")
    assert {problem.file for problem in found} == {
        "ApiTypes/Odd.json",
        "Endpoints/Bare.json",
        "Endpoints/Odd.json",
        "Users/ann.json",
    }


def test_an_unknown_user_is_reported(tmp_path):
    assert places(problems(tmp_path, {}, "Zoe")) == [("error", "Users/zoe.json", "$")]


def test_checking_changes_nothing_and_reports_the_present_version_of_a_broken_file(tmp_path):
    tree = tree_of(tmp_path)
    tree.user("Ann").workflow("Chat")
    (tree.root / "Workflows/Ann/Chat.json").write_text("[")
    assert places(check(tree, ["Ann"], TYPES)) == [("error", "Workflows/Ann/Chat.json", "$")]


@pytest.mark.parametrize(
    "url", ["", "localhost:8080", "http://", "ftp://a", "http://a:port", "http://[::1", "file:///x"]
)
def test_an_invalid_address_is_reported_without_quoting_it(url, tmp_path):
    files = {"Endpoints/Main.json": {"endpoint": url, "apiTypeConfigFileName": "Open-AI-API"}}
    found = problems(tmp_path, files)
    assert places(found) == [("error", "Endpoints/Main.json", "$.endpoint")]
    assert found[0].cause == "It is not the address of a server."


@pytest.mark.parametrize(
    ("url", "repeated"),
    [
        ("http://127.0.0.1:5000/v1", "/v1"),
        ("http://127.0.0.1:5000/v1/", "/v1"),
        ("https://me:hidden@api.example.org/base/v1/chat/completions", "/v1/chat/completions"),
        ("https://api.example.org/openai/v1/chat?api-version=2", "/v1/chat"),
    ],
)
def test_an_end_that_the_protocol_adds_itself_is_told(url, repeated, tmp_path):
    files = {"Endpoints/Main.json": {"endpoint": url, "apiTypeConfigFileName": "Open-AI-API"}}
    (found,) = problems(tmp_path, files)
    assert (found.level, found.path) == ("warning", "$.endpoint")
    assert found.cause.startswith(f"It ends with {repeated},")
    assert "hidden" not in found.cause + found.fix


@pytest.mark.parametrize("url", ["http://127.0.0.1:5000/", "https://api.example.org/base", "http://[::1]:8080"])
def test_an_address_of_a_server_is_accepted(url, tmp_path):
    assert (
        problems(tmp_path, {"Endpoints/Main.json": {"endpoint": url, "apiTypeConfigFileName": "Open-AI-API"}}) == []
    )


def test_backups_in_a_circle_are_reported(tmp_path):
    end = {"endpoint": "http://a", "apiTypeConfigFileName": "Open-AI-API"}
    files = {
        "Endpoints/A.json": {**end, "backupEndpointName": "b"},
        "Endpoints/B.json": {**end, "backupEndpointName": "A"},
    }
    found = problems(tmp_path, files)
    assert places(found) == [("error", "Endpoints/B.json", "$.backupEndpointName")]
    assert "Endpoints/A.json → Endpoints/B.json → Endpoints/A.json" in found[0].cause


def test_a_category_without_a_workflow_is_reported(tmp_path):
    table = {"A": {"description": "a", "workflow": "Chat"}, "B": {"description": "b", "workflow": "Chatt"}}
    found = problems(tmp_path, {**routed(), "Routing/Mine.json": table})
    assert [(problem.path, problem.fix) for problem in found] == [("$.B.workflow", "Did you mean 'Chat'?")]


def test_routing_without_table_categoriser_and_default_is_reported(tmp_path):
    found = problems(tmp_path, {"Users/ann.json": {}})
    assert sorted(places(found)) == [
        ("error", "Users/ann.json", "$.categorizationWorkflow"),
        ("error", "Users/ann.json", "$.routingConfig"),
        ("warning", "Users/ann.json", "$.routingConfig"),
    ]


def test_category_variables_are_set_only_in_the_categoriser(tmp_path):
    table = {"A": {"description": "a", "workflow": "Chat"}}
    asks = [{"type": "StaticResponse", "content": "{categoriesSeparatedByOr}"}]
    files = {**routed(), "Routing/Mine.json": table, "Workflows/Ann/Sort.json": asks, "Workflows/Ann/Chat.json": asks}
    assert places(problems(tmp_path, files)) == [("warning", "Workflows/Ann/Chat.json", "$[0].content")]


def test_category_variables_are_set_in_an_unused_categoriser_when_routing_is_off(tmp_path):
    settings = {"customWorkflowOverride": True, "customWorkflow": "Chat", "categorizationWorkflow": "sort"}
    asks = [{"type": "StaticResponse", "content": "{categoryNameBulletpoints}"}]
    files = {"Users/ann.json": settings, "Workflows/Ann/Sort.json": asks, "Workflows/Ann/Other.json": asks}
    assert places(problems(tmp_path, files)) == [("warning", "Workflows/Ann/Other.json", "$[0].content")]


@pytest.mark.parametrize("name", ["Gone", "../Users/ann"])
def test_a_categoriser_that_nothing_runs_may_be_missing(name, tmp_path):
    settings = {"customWorkflowOverride": True, "customWorkflow": "Chat", "categorizationWorkflow": name}
    assert problems(tmp_path, {"Users/ann.json": settings}) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"endpointConfigsSubDirectory": "../x"},
        {"presetConfigsSubDirectoryOverride": "/x"},
        {"workflowConfigsSubDirectoryOverride": "a//b"},
        {"sharedWorkflowsSubDirectoryOverride": "..", "allowSharedWorkflows": True},
    ],
)
def test_a_folder_outside_the_tree_is_reported_at_its_key(settings, tmp_path):
    user = {"customWorkflowOverride": True, "customWorkflow": "Chat", **settings}
    assert places(problems(tmp_path, {"Users/ann.json": user}, "Ann")) == [
        ("error", "Users/ann.json", f"$.{next(iter(settings))}")
    ]


def test_shared_workflows_are_checked_where_they_are_offered(tmp_path):
    user = {"customWorkflowOverride": True, "customWorkflow": "Chat", "allowSharedWorkflows": True}
    shared = {"Workflows/_shared/Poet/_DefaultWorkflow.json": [{"type": "Standard", "endpointName": "Gone"}]}
    assert places(problems(tmp_path, {"Users/ann.json": user, **shared}, "Ann")) == [
        ("error", "Workflows/_shared/Poet/_DefaultWorkflow.json", "$[0].endpointName")
    ]


def test_names_with_variables_are_only_known_at_run_time(tmp_path):
    node = {"type": "Standard", "endpointName": "{agent1Input}", "preset": "{calm}", "prompt": ""}
    chat: dict[str, Any] = {"calm": "Calm", "nodes": [{**node, "endpointName": "{which}"}], "which": "Main"}
    child = {"type": "CustomWorkflow", "workflowName": "{which}", "workflowUserFolderOverride": "{calm}"}
    chat["nodes"].append(child)
    assert problems(tmp_path, {"Workflows/Ann/Chat.json": chat}) == []


def test_a_name_never_contains_the_output_of_a_node(tmp_path):
    node = {"type": "Standard", "endpointName": "{agent1Output}", "prompt": "{agent1Output}"}
    found = in_chat(tmp_path, SAYS, node)
    assert [(level, path) for level, path, _ in found] == [("warning", "$[1].endpointName")]


def test_outputs_are_set_by_earlier_nodes_only(tmp_path):
    texts = [{"type": "StaticResponse", "content": f"{{agent{number}Output}}"} for number in (1, 1, 3, 0, 2)]
    assert [path for _, path, _ in in_chat(tmp_path, *texts)] == ["$[0].content", "$[2].content", "$[3].content"]


def test_inputs_are_as_many_as_the_callers_give(tmp_path):
    call = {"type": "CustomWorkflow", "workflowName": "Child", "scoped_variables": ["a", "b"]}
    reads = {"type": "StaticResponse", "content": "{agent1Input} {agent2Input} {agent3Input}"}
    files = {"Workflows/Ann/Child.json": [reads], "Workflows/Ann/Free.json": [reads]}
    found = problems(tmp_path, {"Workflows/Ann/Chat.json": [call], **files})
    assert [(problem.file, problem.cause) for problem in found] == [
        ("Workflows/Ann/Child.json", "{agent3Input} is not set: this workflow is given 2 inputs.")
    ]


def test_variables_of_the_workflow_the_user_and_the_server_are_known(tmp_path):
    settings = {
        "customWorkflowOverride": True,
        "customWorkflow": "Chat",
        "userWideWorkflowVariables": {"mood": "calm"},
    }
    content = "{topic} {mood} {chat_user_prompt_last_ten} {todays_date_iso} {messages} {{not_me}} {}"
    chat = {"topic": "cats", "nodes": [{"type": "StaticResponse", "content": content}]}
    assert problems(tmp_path, {"Users/ann.json": settings, "Workflows/Ann/Chat.json": chat}) == []


def test_a_variable_that_is_not_set_is_reported_with_the_nearest_one(tmp_path):
    node = {"type": "StaticResponse", "content": "{chat_user_promt_last_ten} {zzz}"}
    found = problems(tmp_path, {"Workflows/Ann/Chat.json": [node]})
    assert [problem.fix for problem in found] == [
        "Did you mean {chat_user_prompt_last_ten}?",
        "Set it at the top of the workflow, or double its braces.",
    ]


def test_a_jinja_node_is_read_as_a_template(tmp_path):
    good = "{% for message in messages %}{{ message.role }}{% endfor %}{% set x = 1 %}{{ x }}{{ range(2) }} {single}"
    nodes = [
        {"type": "StaticResponse", "jinja2": True, "content": text} for text in (good, "{{ nobody }}", "{% if %}")
    ]
    found = in_chat(tmp_path, *nodes)
    assert [(level, path) for level, path, _ in found] == [("warning", "$[1].content"), ("error", "$[2].content")]


def test_texts_in_lists_are_reported_by_their_index(tmp_path):
    call = {"type": "CustomWorkflow", "workflowName": "Child", "scoped_variables": ["fine", "{nobody}"]}
    found = in_chat(tmp_path, call, **{"Workflows/Ann/Child.json": [SAYS]})
    assert [path for _, path, _ in found] == ["$[0].scoped_variables[1]"]


def test_a_route_to_a_missing_workflow_is_reported_at_its_key(tmp_path):
    node = {"type": "conditionalcustomworkflow", "conditionalKey": "x", "conditionalWorkflows": {"C#": "Chat2"}}
    found = in_chat(tmp_path, node)
    assert [(level, path) for level, path, _ in found] == [("error", "$[0].conditionalWorkflows['C#']")]


def test_workflows_in_a_circle_are_an_error_and_one_that_a_choice_may_end_a_warning(tmp_path):
    def call(name):
        return [{"type": "CustomWorkflow", "workflowName": name}]

    choice = [{"type": "ConditionalCustomWorkflow", "conditionalKey": "x", "conditionalWorkflows": {"again": "Chat"}}]
    sure = {"Workflows/Ann/Chat.json": call("Next"), "Workflows/Ann/Next.json": call("chat")}
    found = problems(tmp_path, sure)
    assert places(found) == [("error", "Workflows/Ann/Next.json", "$[0].workflowName")]
    assert found[0].cause == (
        "Workflows run in a circle: Workflows/Ann/Chat.json → Workflows/Ann/Next.json → Workflows/Ann/Chat.json."
    )
    found = problems(tmp_path, {**sure, "Workflows/Ann/Next.json": choice})
    assert places(found) == [("warning", "Workflows/Ann/Next.json", "$[0].conditionalWorkflows.again")]


def test_a_tool_workflow_that_runs_the_node_that_runs_it_is_a_circle(tmp_path):
    settings = {"customWorkflowOverride": True, "customWorkflow": "Chat", "chatSummaryToolWorkflow": "Sum"}
    files = {"Users/ann.json": settings, "Workflows/Ann/Sum.json": [{"type": "FullChatSummary"}]}
    circles = [problem for problem in problems(tmp_path, files) if "circle" in problem.cause]
    assert places(circles) == [("warning", "Workflows/Ann/Sum.json", "$[0].type")]


def test_all_endpoints_of_one_node_are_looked_up(tmp_path):
    listed = [{"endpointName": "Main"}, {"endpointName": "Gone"}]
    node = {"type": "SlowButQualityRAG", "ragTarget": "x", "ragType": "y", "multiModelList": listed}
    found = in_chat(tmp_path, node)
    assert [(level, path) for level, path, _ in found] == [("error", "$[0].multiModelList[1].endpointName")]


def test_notes_and_properties_of_every_node_are_not_reported(tmp_path):
    node = {
        **SAYS,
        "agentName": "A",
        "id": 3,
        "displayOnlyComment": "…",
        "isResponder": True,
        "_x": 1,
        "endpointName": "",
    }
    assert in_chat(tmp_path, {**node, "minMessagesInVariable": 2, "maxContextTokenSize": 8192}) == []


@pytest.mark.parametrize("key", sorted(LATER))
def test_a_key_without_effect_yet_is_a_warning_where_it_is_switched_on(key, tmp_path):
    assert in_chat(tmp_path, {**SAYS, key: False}, {**SAYS, key: ""}, {**SAYS, key: "false"}) == []
    cause = f"{key!r} has no effect in this version yet."
    assert in_chat(tmp_path, {**SAYS, key: True}) == [("warning", f"$[0].{key}", cause)]


def test_keys_that_belong_to_a_key_without_effect_are_not_reported(tmp_path):
    assert in_chat(tmp_path, {**SAYS, **dict.fromkeys(LATER_DETAILS, "x")}) == []


def test_the_page_on_migrating_lists_exactly_the_keys_of_nodes_without_effect():
    [listed] = [part for part in PAGE.read_text(encoding="utf-8").split("\n- ") if part.startswith("Keys of nodes")]
    assert set(re.findall(r"`(\w+)`", listed)) == LATER | LATER_DETAILS


def test_a_wrong_value_of_a_property_is_reported(tmp_path):
    found = in_chat(tmp_path, {**SAYS, "returnToUser": "perhaps", "timeoutSeconds": -1})
    assert sorted((level, path) for level, path, _ in found) == [
        ("error", "$[0].returnToUser"),
        ("error", "$[0].timeoutSeconds"),
    ]


def test_types_of_newer_releases_are_reported_as_not_offered(tmp_path):
    found = in_chat(tmp_path, {"type": "WebFetch", "url": "http://a"}, SAYS)
    assert [cause for _, _, cause in found] == ["Node type 'WebFetch' is not offered by this version."]


def test_a_link_out_of_the_tree_is_reported(tmp_path):
    tree = tree_of(tmp_path)
    (tmp_path / "outside.json").write_text("[]")
    (tree.root / "Workflows/Ann/Away.json").symlink_to(tmp_path / "outside.json")
    found = check(tree, ["Ann"], TYPES)
    assert [(problem.path, "is a link to" in problem.cause) for problem in found] == [("$", True)]


def test_an_api_key_in_a_wrong_file_is_never_quoted(tmp_path):
    secret = {
        "apiKey": ["canary"],
        "endpoint": "http://user:canary@host:port",
        "apiTypeConfigFileName": "Open-AI-API",
    }
    found = problems(tmp_path, {"Endpoints/Main.json": secret, "Endpoints/B.json": {**secret, "apiKey": "canary"}})
    assert found
    assert "canary" not in repr(found)


def test_a_folder_that_is_no_tree_is_an_error(tmp_path):
    with pytest.raises(SettingsError, match="is no config tree"):
        check(tree_of(tmp_path).open(tmp_path), [], TYPES)
