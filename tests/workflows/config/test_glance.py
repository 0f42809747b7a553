"""The tree for one request: each file is checked for changes once between nodes."""

import pytest

from mnemoir.core.errors import SettingsError
from tests.workflows.config.config_kit import tree_of


def test_files_that_were_read_stay_the_same_until_look_again(tmp_path):
    tree = tree_of(tmp_path)
    user = tree.glance("Ann")
    assert (user.settings.custom_workflow, user.endpoint("Main").url) == ("Chat", "http://127.0.0.1:8080")
    (tree.root / "Users/ann.json").write_text('{"customWorkflow": "Other"}')
    (tree.root / "Endpoints/Main.json").write_text('{"endpoint": "http://b", "apiTypeConfigFileName": "x"}')
    assert (user.settings.custom_workflow, user.endpoint("Main").url) == ("Chat", "http://127.0.0.1:8080")
    user.look_again()
    assert (user.settings.custom_workflow, user.endpoint("Main").url) == ("Other", "http://b")


def test_files_of_one_name_are_kept_apart(tmp_path):
    files = {"Endpoints/Chat.json": {"endpoint": "http://c", "apiTypeConfigFileName": "Open-AI-API"}}
    user = tree_of(tmp_path, files).glance("Ann")
    assert user.workflow("Chat").name == "Chat"
    assert user.endpoint("Chat").url == "http://c"


def test_a_user_without_a_file_is_refused_at_once(tmp_path):
    with pytest.raises(SettingsError, match="'nobody' was not found"):
        tree_of(tmp_path).glance("Nobody")


@pytest.mark.parametrize(("name", "is_there"), [("A", True), ("a", False), ("B", False), ("..", False), ("", False)])
def test_a_shared_folder_is_known_by_its_exact_name(name, is_there, tmp_path):
    user = tree_of(tmp_path, {"Workflows/_shared/A/_DefaultWorkflow.json": []}).user("Ann")
    assert user.has_shared_folder(name) is is_there
    assert (name in user.shared_folders()) is is_there
