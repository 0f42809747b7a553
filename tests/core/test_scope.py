"""Valid and invalid names of projects and users."""

import pytest

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.scope import Scope, entity_name, project_name


@pytest.mark.parametrize("name", ["default", "a", "_x", "My.Project-2", "0", "a" * 128])
def test_a_plain_project_name_is_kept(name):
    assert project_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../x",
        "..\\x",
        "a/b",
        "/etc/x",
        "C:x",
        "x\0",
        "-x",
        ".x",
        "a" * 129,
        "ä",
        "a b",
        "a\n",
        "%2e%2e",
        "٣",
    ],
)
def test_any_other_project_name_is_refused_with_its_code(name):
    with pytest.raises(InvalidRequest) as caught:
        project_name(name)
    assert caught.value.code == "invalid_project"


@pytest.mark.parametrize(
    ("given", "kept"), [("mira", "mira"), ("  mira ", "mira"), (17, "17"), ("a/b ../c", "a/b ../c"), ("🦊", "🦊")]
)
def test_a_user_name_is_data_trimmed(given, kept):
    assert entity_name(given, "user_id") == kept


@pytest.mark.parametrize("given", ["", "   ", "x" * 257, "a\0b", "\ud800", None, True, 1.5, ["a"], {"ne": "x"}])
def test_an_invalid_user_name_is_refused_with_its_field(given):
    with pytest.raises(InvalidRequest) as caught:
        entity_name(given, "user_id")
    assert caught.value.field == "user_id"


def test_the_owner_of_a_narrow_scope_is_the_whole_user():
    narrow = Scope(project="p", user="u", agent="a", app="b", conversation="c", node="n")
    assert narrow.owner == Scope(project="p", user="u")
