"""The config tree as one of its users sees it."""

import pytest
from structlog.testing import capture_logs

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.config.tree import ConfigTree
from tests.workflows.config.config_kit import SMALL, tree_of, write


@pytest.mark.parametrize("given", ["Public", "Public/", "Public/Configs", "Public/Configs/"])
def test_the_tree_is_found_from_its_own_folder_and_from_the_one_around_it(given, tmp_path):
    write(tmp_path / "Public/Configs", SMALL)
    tree = ConfigTree.open(tmp_path / given)
    assert (tree.root, tree.public) == (tmp_path / "Public/Configs", tmp_path / "Public")


def test_the_folders_are_found_in_any_case_and_from_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "Public/configs", {"users/ann.json": {"customWorkflow": "Chat"}})
    tree = ConfigTree.open(tmp_path.__class__("~/Public"))
    assert tree.user("Ann").settings.custom_workflow == "Chat"


@pytest.mark.parametrize("folder", ["Public/Workflows", "nowhere"])
def test_a_folder_without_users_is_no_tree(folder, tmp_path):
    (tmp_path / "Public/Workflows").mkdir(parents=True)
    with pytest.raises(SettingsError, match="is no config tree: it has no Users folder"):
        ConfigTree.open(tmp_path / folder)


def test_users_are_listed_and_the_current_one_is_named(tmp_path):
    tree = tree_of(tmp_path, {"Users/bob.json": {}})
    assert tree.user_names() == ["ann", "bob"]
    assert tree.current_user() == "Ann"


@pytest.mark.parametrize("content", [{}, {"currentUser": None}, {"currentUser": ""}])
def test_no_user_is_current_when_the_file_names_none(content, tmp_path):
    assert tree_of(tmp_path, {"Users/_current-user.json": content}).current_user() is None


def test_no_user_is_current_without_the_file_and_a_broken_one_is_an_error(tmp_path):
    tree = tree_of(tmp_path, {"Users/_current-user.json": b"{"})
    with pytest.raises(SettingsError, match=r"Users/_current-user\.json is not valid JSON"):
        tree.current_user()
    (tree.root / "Users/_current-user.json").unlink()
    assert tree.current_user() is None


def test_a_user_keeps_the_name_as_configured_and_has_a_file_in_lower_case(tmp_path):
    user = tree_of(tmp_path).user("ANN")
    assert (user.name, user.settings.custom_workflow) == ("ANN", "Chat")


def test_an_unknown_user_is_an_error_that_names_the_nearest(tmp_path):
    with pytest.raises(SettingsError, match=r"user 'anne' was not found: .*Users/anne\.json.*Did you mean 'ann'\?"):
        tree_of(tmp_path).user("Anne")


def test_a_user_file_of_the_wrong_shape_names_the_keys_but_not_their_values(tmp_path):
    tree = tree_of(tmp_path, {"Users/ann.json": {"port": "canary", "useOfflineWikiApi": []}})
    with pytest.raises(SettingsError, match=r"Users/ann\.json: \$\.port: .*; \$\.useOfflineWikiApi: ") as raised:
        tree.user("Ann")
    assert "canary" not in str(raised.value)


def test_names_are_found_in_other_cases_and_with_their_extension(tmp_path):
    user = tree_of(tmp_path).user("ann")
    assert user.endpoint("main") is user.endpoint("Main") is user.endpoint("MAIN.json")
    assert user.api_type("Open-Ai-Api").type == "openAIChatCompletion"
    assert user.template("_chatOnly").user_prefix == "\n"
    assert user.preset("calm", user.api_type("Open-AI-API")) == {"temperature": 0.2}
    assert user.workflow("chat.JSON") is user.workflow("Chat")


def test_a_file_whose_own_name_ends_twice_in_json_is_found_first(tmp_path):
    files = {"Endpoints/A.json": endpoint("http://one"), "Endpoints/A.json.json": endpoint("http://two")}
    user = tree_of(tmp_path, files).user("Ann")
    assert [user.endpoint(name).url for name in ("A", "A.json")] == ["http://one", "http://two"]


def test_endpoints_are_looked_up_in_the_users_folder_only(tmp_path):
    files = {"Users/ann.json": {"endpointConfigsSubDirectory": "_archived/foo"}, "Endpoints/_archived/foo/A.json": {}}
    user = tree_of(tmp_path, {**files, "Endpoints/_archived/foo/A.json": endpoint("http://a")}).user("Ann")
    assert user.endpoint("A").url == "http://a"
    with pytest.raises(SettingsError, match=r"there is no Endpoints/_archived/foo/Main\.json"):
        user.endpoint("Main")


def test_an_endpoint_needs_its_address_and_its_api_type(tmp_path):
    user = tree_of(tmp_path, {"Endpoints/A.json": {"apiKey": "canary"}}).user("Ann")
    with pytest.raises(
        SettingsError, match=r"Endpoints/A\.json: \$\.endpoint: .*\$\.apiTypeConfigFileName: "
    ) as raised:
        user.endpoint("A")
    assert "canary" not in str(raised.value)


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({}, "own"),
        ({"presetConfigsSubDirectoryOverride": "_example_users"}, "example"),
        ({"presetConfigsSubDirectoryOverride": "empty"}, "root"),
    ],
)
def test_presets_are_looked_up_in_the_users_folder_then_in_its_parent(settings, found, tmp_path):
    folder = "Presets/OpenAiCompatibleApis"
    presets = {"Ann/P.json": "own", "_example_users/P.json": "example", "P.json": "root"}
    files = {f"{folder}/{name}": {"found": where} for name, where in presets.items()}
    user = tree_of(tmp_path, {"Users/ann.json": settings, **files}).user("Ann")
    assert user.preset("P", user.api_type("Open-AI-API")) == {"found": found}


def test_an_empty_preset_is_none_and_a_missing_one_is_an_error_with_the_nearest_name(tmp_path):
    user = tree_of(tmp_path).user("Ann")
    api_type = user.api_type("Open-AI-API")
    assert user.preset("", api_type) == {}
    with pytest.raises(SettingsError, match=r"Did you mean 'Calm'\?"):
        user.preset("Clam", api_type)


def test_a_preset_that_is_no_object_is_an_error(tmp_path):
    user = tree_of(tmp_path, {"Presets/OpenAiCompatibleApis/List.json": []}).user("Ann")
    with pytest.raises(SettingsError, match=r"Presets/OpenAiCompatibleApis/List\.json must be a JSON object"):
        user.preset("List", user.api_type("Open-AI-API"))


def test_an_endpoint_without_a_template_takes_the_users(tmp_path):
    files = {"PromptTemplates/Other.json": {"promptTemplateUserPrefix": "U:"}}
    files |= {f"Endpoints/{name}.json": endpoint("http://a", promptTemplate=name) for name in ("Other",)}
    files |= {"Endpoints/Null.json": endpoint("http://a", promptTemplate=None)}
    user = tree_of(tmp_path, files).user("Ann")
    prefixes = [user.template_of(user.endpoint(name)).user_prefix for name in ("Other", "Null", "Main")]
    assert prefixes == ["U:", "\n", "\n"]


def test_a_user_without_a_template_has_an_empty_one(tmp_path):
    user = tree_of(tmp_path, {"Users/ann.json": {}}).user("Ann")
    assert user.chat_template().user_prefix == ""


def test_a_routing_table_keeps_the_order_of_its_file(tmp_path):
    table = {name: {"description": name.lower(), "workflow": "Chat"} for name in ("ZEBRA", "CODING", "APPLE")}
    routing = tree_of(tmp_path, {"Routing/Mine.json": table}).user("Ann").routing("mine")
    assert list(routing.root) == ["ZEBRA", "CODING", "APPLE"]


@pytest.mark.parametrize(
    ("settings", "folder", "found"),
    [
        ({}, "", "Ann"),
        ({}, "_common", "_common"),
        ({"workflowConfigsSubDirectoryOverride": "set"}, "", "set"),
        ({"workflowConfigsSubDirectoryOverride": "old"}, "", "_overrides/old"),
        ({"workflowConfigsSubDirectoryOverride": "set"}, "_common", "_common"),
        ({}, "_shared/Poet", "_shared/Poet"),
    ],
)
def test_workflows_are_looked_up_in_the_requested_folder_or_the_users(settings, folder, found, tmp_path):
    places = ("Ann", "_common", "set", "_overrides/set", "_overrides/old", "_shared/Poet")
    files: dict[str, object] = {f"Workflows/{place}/W.json": [] for place in places}
    workflow = tree_of(tmp_path, {"Users/ann.json": settings, **files}).user("Ann").workflow("W", folder)
    assert (workflow.name, workflow.folder) == ("W", found)


def test_a_missing_workflow_names_both_folders_of_an_override(tmp_path):
    user = tree_of(tmp_path, {"Users/ann.json": {"workflowConfigsSubDirectoryOverride": "set"}}).user("Ann")
    with pytest.raises(SettingsError, match=r"no Workflows/set/W\.json nor Workflows/_overrides/set/W\.json in "):
        user.workflow("W")
    assert not user.has_workflow("W")


def test_a_workflow_is_the_same_object_until_its_file_changes(tmp_path):
    tree = tree_of(tmp_path)
    first = tree.user("Ann").workflow("Chat")
    assert tree.user("Ann").workflow("chat") is first
    (tree.root / "Workflows/Ann/Chat.json").write_text('{"greeting": "hi", "nodes": [{"title": "T"}]}')
    second = tree.user("Ann").workflow("Chat")
    assert (second.variables, second.nodes[0].title, second.nodes[0].type) == ({"greeting": "hi"}, "T", "Standard")


def test_an_object_without_nodes_is_an_empty_workflow(tmp_path):
    user = tree_of(tmp_path, {"Workflows/Ann/Settings.json": {"chunkSize": 3}}).user("Ann")
    assert user.has_workflow("Settings")
    assert user.workflow("Settings").nodes == ()


def test_an_edit_of_every_kind_of_file_takes_effect_at_its_next_use(tmp_path):
    tree = tree_of(tmp_path)
    user = tree.user("Ann")
    assert user.settings.custom_workflow == "Chat"
    assert user.endpoint("Main").url == "http://127.0.0.1:8080"
    (tree.root / "Users/ann.json").write_text('{"customWorkflow": "Other"}')
    (tree.root / "Endpoints/Main.json").write_text('{"endpoint": "http://b", "apiTypeConfigFileName": "x"}')
    assert (user.settings.custom_workflow, user.endpoint("Main").url) == ("Other", "http://b")


def test_a_broken_edit_leaves_the_user_in_service_and_is_reported(tmp_path):
    tree = tree_of(tmp_path)
    user = tree.user("Ann")
    (tree.root / "Users/ann.json").write_text('{"customWorkflow": ')
    with capture_logs():
        assert tree.user("Ann").settings.custom_workflow == user.settings.custom_workflow == "Chat"
    assert list(tree.problems()) == ["Users/ann.json"]


def test_shared_folders_are_those_below_the_users_shared_folder(tmp_path):
    files: dict[str, object] = {
        f"Workflows/{place}/_DefaultWorkflow.json": [] for place in ("_shared/B", "_shared/A", "team/C")
    }
    tree = tree_of(tmp_path, {"Users/bob.json": {"sharedWorkflowsSubDirectoryOverride": "team"}, **files})
    assert tree.user("Ann").shared_folders() == ["A", "B"]
    assert tree.user("Bob").shared_folders() == ["C"]


def endpoint(url, **more):
    return {"endpoint": url, "apiTypeConfigFileName": "Open-AI-API", **more}
