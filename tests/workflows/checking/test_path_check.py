"""The check of paths of file nodes and of discussions: unusable ones are reported before a chat uses them."""

import pytest

from mnemoir.storage.files.user_files import FileUserFiles
from mnemoir.workflows.checking import Outside, check
from mnemoir.workflows.node import installed_nodes
from tests.workflows.config.config_kit import SMALL, tree_of


def in_chat(tmp_path, *nodes):
    """The problems of a user's only workflow, with these nodes; files are allowed below the public folder."""
    tree = tree_of(tmp_path, {"Workflows/Ann/Chat.json": list(nodes)})
    files = FileUserFiles([tree.public], tree.public, closed=[tree.root])
    return [
        (one.level, one.path, one.cause, one.fix)
        for one in check(tree, ["Ann"], installed_nodes().types, Outside(user_files=files))
    ]


def reading(path):
    return {"type": "GetCustomFile", "filepath": path}


def test_a_windows_path_and_a_path_outside_are_named_with_what_to_do(tmp_path):
    windows, outside = in_chat(tmp_path, reading("D:\\temp\\x.txt"), reading("/data/x.txt"))
    assert (windows[:2], outside[:2]) == (("warning", "$[0].filepath"), ("warning", "$[1].filepath"))
    assert "is written for Windows" in windows[2]
    assert "relative path" in windows[3]
    assert "outside the directories" in outside[2]
    assert "workflows.file_directories" in outside[3]


@pytest.mark.parametrize(
    "path", ["files/notes.md", "files/absent.md", "{Discussion_Id}.md", "/data/{Discussion_Id}.md", ""]
)
def test_a_path_that_may_be_read_some_day_is_no_problem(tmp_path, path):
    assert in_chat(tmp_path, reading(path)) == []


def test_a_path_that_must_not_be_written_is_an_error_for_it_ends_the_chat(tmp_path):
    node = {"type": "SaveCustomFile", "filepath": "Configs/Users/ann.json", "content": "x"}
    assert [problem[:2] for problem in in_chat(tmp_path, node)] == [("error", "$[0].filepath")]


def of_directory(tmp_path, named, chosen=None):
    """The problems of a user with this directory of discussions; `chosen` is the directory of the settings."""
    tree = tree_of(tmp_path, {"Users/ann.json": {**SMALL["Users/ann.json"], "discussionDirectory": str(named)}})
    outside = Outside(user_files=FileUserFiles([tree.public], tree.public), discussion_directory=chosen)
    return check(tree, ["Ann"], installed_nodes().types, outside)


@pytest.fixture
def blocked(tmp_path):
    """A directory that cannot be created, not even by root, because a file has the name of its parent."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "talks"


def test_a_directory_of_discussions_that_cannot_be_made_is_an_error_with_path_cause_and_next_step(tmp_path, blocked):
    [problem] = of_directory(tmp_path, blocked)
    assert (problem.level, problem.file, problem.path) == ("error", "Users/ann.json", "$.discussionDirectory")
    assert f"{blocked} cannot be created or written (Not a directory)" in problem.cause
    assert "Name a directory that the server may write" in problem.fix


def test_a_link_to_nowhere_in_place_of_the_directory_is_an_error(tmp_path):
    (tmp_path / "talks").symlink_to(tmp_path / "nowhere" / "talks")
    assert [one.path for one in of_directory(tmp_path, tmp_path / "talks")] == ["$.discussionDirectory"]


def test_a_directory_of_discussions_that_can_be_made_is_no_problem_and_is_not_made(tmp_path):
    (tmp_path / "there").mkdir()
    for named in (tmp_path / "there", tmp_path / "new/talks", "beside", ""):
        assert of_directory(tmp_path, named) == []
    assert not (tmp_path / "new").exists()
    assert list((tmp_path / "there").iterdir()) == []


def test_a_directory_that_the_settings_replace_is_no_problem(tmp_path, blocked):
    assert of_directory(tmp_path, blocked, chosen=tmp_path / "chosen") == []
