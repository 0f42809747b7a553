"""Paths of file nodes: those that can never be read or written are named before a chat meets them."""

import pytest

from mnemoir.storage.files.user_files import FileUserFiles
from mnemoir.workflows.checking import check
from mnemoir.workflows.node_types import loaded
from tests.workflows.config.config_kit import tree_of


def in_chat(tmp_path, *nodes):
    """The problems of a user's one workflow, made of these nodes; files may be below the public folder."""
    tree = tree_of(tmp_path, {"Workflows/Ann/Chat.json": list(nodes)})
    files = FileUserFiles([tree.public], tree.public, closed=[tree.root])
    return [(one.level, one.path, one.cause, one.fix) for one in check(tree, ["Ann"], loaded().types, files)]


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
