"""The check of workflows that the switch between one workflow and routing leaves unused."""

import pytest

from tests.workflows.checking.test_config_check import SAYS, places, problems

BROKEN = [{"type": "Standard", "endpointName": "Gone"}, {"type": "Nothing"}, 5]
ROUTES = {"Routing/Mine.json": {"A": {"description": "a", "workflow": "Plan"}}}
ALWAYS = {"customWorkflowOverride": True, "customWorkflow": "Chat"}
BY_ROUTE = {"customWorkflowOverride": False, "categorizationWorkflow": "Sort", "routingConfig": "Mine"}


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({**ALWAYS, "categorizationWorkflow": "Sort"}, "Sort"),
        ({**ALWAYS, "categorizationWorkflow": "Sort", "routingConfig": "Mine"}, "Plan"),
        (ALWAYS, "_DefaultWorkflow"),
        ({**BY_ROUTE, "customWorkflow": "Other"}, "Other"),
    ],
)
@pytest.mark.parametrize("users", [(), ("Ann",)])
def test_faults_of_a_workflow_that_the_switch_does_not_use_are_warnings(settings, name, users, tmp_path):
    sound = {f"Workflows/Ann/{each}.json": [SAYS] for each in ("Sort", "Plan", "Other", "_DefaultWorkflow")}
    files = {"Users/ann.json": settings, **ROUTES, **sound, f"Workflows/Ann/{name}.json": BROKEN}
    found = problems(tmp_path, files, *users)
    assert {(one.level, one.file) for one in found} == {("warning", f"Workflows/Ann/{name}.json")}
    assert {one.path for one in found} >= {"$[0].endpointName", "$[1].type", "$[2]"}


def test_they_are_errors_where_another_workflow_runs_it(tmp_path):
    settings = {**ALWAYS, "categorizationWorkflow": "Sort"}
    chat = [{"type": "CustomWorkflow", "workflowName": "Sort"}]
    found = problems(
        tmp_path, {"Users/ann.json": settings, "Workflows/Ann/Chat.json": chat, "Workflows/Ann/Sort.json": BROKEN}
    )
    assert ("error", "Workflows/Ann/Sort.json", "$[0].endpointName") in places(found)


def test_they_are_errors_where_another_user_runs_it(tmp_path):
    other = {**ALWAYS, "customWorkflow": "Sort", "workflowConfigsSubDirectoryOverride": "Ann"}
    users = {"Users/ann.json": {**ALWAYS, "categorizationWorkflow": "Sort"}, "Users/bob.json": other}
    found = problems(tmp_path, {**users, "Workflows/Ann/Sort.json": BROKEN})
    assert ("error", "Workflows/Ann/Sort.json", "$[0].endpointName") in places(found)
    assert {one.level for one in found if one.path == "$[0].endpointName"} == {"error"}


def test_what_the_switch_does_not_use_and_cannot_be_read_is_a_warning(tmp_path):
    settings = {**ALWAYS, "categorizationWorkflow": "Sort"}
    found = problems(tmp_path, {"Users/ann.json": settings, "Workflows/Ann/Sort.json": "{"})
    assert [(one.level, one.file) for one in found] == [("warning", "Workflows/Ann/Sort.json")]
