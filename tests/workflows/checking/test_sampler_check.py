"""The check of samplers, of protocols that are not offered, and of users who only share workflows."""

import pytest

from tests.workflows.checking.test_config_check import SAYS, problems

LLAMA = {
    "type": "openAIChatCompletion",
    "presetType": "Llama",
    "supportsChatTemplateKwargs": True,
    "thinking": {"location": "chat_template_kwargs", "field": "enable_thinking", "mode": "bool"},
    "samplerFieldMap": {"temperature": "temperature", "min_p": "min_p"},
}
SAMPLERS: dict[str, object] = {
    "temperature": 0.5,
    "min_p": None,
    "dry_base": 1,
    "thinkingMode": "off",
    "chat_template_kwargs": {},
}
ONLY_SHARED = {"allowSharedWorkflows": True, "routingConfig": "", "categorizationWorkflow": ""}
WARNING, ERROR = "warning", "error"


def endpoint(kind="Llama", **members):
    return {"endpoint": "http://127.0.0.1:1", "apiTypeConfigFileName": kind, **members}


def asking(name="Far", preset="Far", **more):
    return {"type": "Standard", "endpointName": name, "preset": preset, "prompt": "", "returnToUser": True, **more}


def found(tmp_path, far, *, llama=None, node=None, files=None, users=()):
    """The problems of a tree with one node that asks the endpoint Far with its own samplers."""
    tree = {
        "ApiTypes/Llama.json": {**LLAMA, **(llama or {})},
        "Endpoints/Far.json": endpoint(**far),
        "Workflows/Ann/Chat.json": [node or asking()],
        **(files or {}),
    }
    return [(problem.level, problem.file, problem.path, problem.fix) for problem in problems(tmp_path, tree, *users)]


def test_a_preset_that_names_an_endpoint_with_samplers_is_sound(tmp_path):
    assert found(tmp_path, {"presetSamplers": SAMPLERS}) == []


def test_a_preset_that_names_an_endpoint_without_samplers_is_reported_with_both_folders(tmp_path):
    tree = {"ApiTypes/Llama.json": LLAMA, "Endpoints/Far.json": endpoint(), "Workflows/Ann/Chat.json": [asking()]}
    (problem,) = problems(tmp_path, tree)
    assert (problem.level, problem.path) == (ERROR, "$[0].preset")
    assert "no Presets/Llama/ann/Far.json nor Presets/Llama/Far.json" in problem.cause
    assert problem.cause.endswith("Endpoint 'Far' has no presetSamplers.")
    assert problem.fix == "Add them, or create the file."


def test_a_preset_with_nearly_an_endpoints_name_is_reported_with_that_name(tmp_path):
    told = (ERROR, "Workflows/Ann/Chat.json", "$[0].preset", "Did you mean 'Far'?")
    assert found(tmp_path, {"presetSamplers": SAMPLERS}, node=asking(preset="Farr")) == [told]


def test_samplers_without_a_name_at_the_asked_endpoint_are_reported(tmp_path):
    sent = found(tmp_path, {"presetSamplers": SAMPLERS}, llama={"samplerFieldMap": {}})
    assert sent == [(WARNING, "Workflows/Ann/Chat.json", "$[0].preset", "Add samplerFieldMap to the API type.")]


@pytest.mark.parametrize(
    ("samplers", "path", "fix"),
    [
        ({"temperatur": 1}, "temperatur", "Did you mean 'temperature'?"),
        ({"zzz": 1}, "zzz", "Put it into a preset file, and name that appendPresetName."),
        ({"thinkingMode": "hard"}, "thinkingMode", "Give off, on, low, medium or high."),
        ({"chat_template_kwargs": [1]}, "chat_template_kwargs", "Make it one."),
    ],
)
def test_wrong_samplers_are_reported(samplers, path, fix, tmp_path):
    told = (WARNING, "Endpoints/Far.json", f"$.presetSamplers.{path}", fix)
    assert found(tmp_path, {"presetSamplers": samplers}) == [told]


def test_a_sampler_that_only_the_api_type_knows_is_sound(tmp_path):
    names = {"top_a": "top_a", "top_k": "top_k"}
    assert found(tmp_path, {"presetSamplers": {"top_a": 1}}, llama={"samplerFieldMap": names}) == []


def test_an_appended_preset_must_be_there(tmp_path):
    (told,) = found(tmp_path, {"presetSamplers": {}, "appendPresetName": "Calmer"})
    assert told[:3] == (ERROR, "Endpoints/Far.json", "$.appendPresetName")
    there = {"Presets/Llama/Calmer.json": {"top_k": None}}
    assert found(tmp_path, {"presetSamplers": {}, "appendPresetName": "Calmer"}, files=there) == []


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"thinking": {"mode": "sideways", "field": "x"}}, "thinking.mode"),
        ({"thinking": {"mode": "effort"}}, "thinking.field"),
        ({"supportsChatTemplateKwargs": False}, "thinking.location"),
    ],
)
def test_an_api_type_with_an_unusable_thinking_switch_is_reported(members, path, tmp_path):
    assert found(tmp_path, {}, llama=members, node=SAYS)[0][:3] == (WARNING, "ApiTypes/Llama.json", f"$.{path}")


@pytest.mark.parametrize("kind", ["claudeMessages", "openAIEmbeddings", "ollamaEmbeddings", "brandNew"])
@pytest.mark.parametrize("users", [(), ("Ann",)])
def test_an_api_type_that_no_endpoint_names_is_a_warning_at_most(kind, users, tmp_path):
    told = [(WARNING, "ApiTypes/Later.json", "$.type")]
    sent = found(tmp_path, {"presetSamplers": {}}, files={"ApiTypes/Later.json": {"type": kind}}, users=users)
    assert [one[:3] for one in sent] == ([] if users else told)


@pytest.mark.parametrize("kind", ["claudeMessages", "openAIEmbeddings", "ollamaEmbeddings"])
def test_an_endpoint_of_a_protocol_not_offered_is_a_warning_until_a_node_asks_it(kind, tmp_path):
    later = {"ApiTypes/Later.json": {"type": kind}, "Endpoints/Spare.json": endpoint("Later")}
    told = (WARNING, "ApiTypes/Later.json", "$.type", "Keep it if no node asks such an endpoint.")
    assert found(tmp_path, {"presetSamplers": {}}, files=later) == [told]
    asked = found(tmp_path, {}, node=asking("Spare"), files=later)
    node = (ERROR, "Workflows/Ann/Chat.json", "$[0].endpointName", "Name an endpoint of another type.")
    assert asked == [told, node]


def test_a_user_who_only_shares_workflows_needs_no_routing(tmp_path):
    files = {"Users/ann.json": ONLY_SHARED, "Workflows/_shared/Cook/_DefaultWorkflow.json": [SAYS]}
    assert problems(tmp_path, files) == []


def test_a_user_who_only_shares_workflows_and_has_none_is_reported(tmp_path):
    (problem,) = problems(tmp_path, {"Users/ann.json": ONLY_SHARED})
    assert (problem.level, problem.path) == (ERROR, "$.sharedWorkflowsSubDirectoryOverride")


def test_incomplete_routing_is_reported_also_beside_shared_workflows(tmp_path):
    files = {
        "Users/ann.json": ONLY_SHARED | {"categorizationWorkflow": "Chat"},
        "Workflows/_shared/Cook/_DefaultWorkflow.json": [SAYS],
    }
    assert {(problem.level, problem.path) for problem in problems(tmp_path, files)} == {
        (ERROR, "$.routingConfig"),
        (WARNING, "$.routingConfig"),
    }
