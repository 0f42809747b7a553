"""The directories of users' discussions, which two users of one tree never share by accident."""

from dataclasses import replace

import pytest

from mnemoir.core.discussions import ChunkSource, Discussion, SourceMessage
from mnemoir.core.scope import Scope
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from mnemoir.storage.discussions.files import FileDiscussionFiles
from mnemoir.workflows.config.tree import ConfigTree
from mnemoir.workflows.discussion_files import DiscussionPlaces, named_owner
from tests.tree_kit import user, write_json

NOBODY, MIRA = Scope(project="kitchen", user="user"), Scope(project="kitchen", user="mira")
SOURCE = ChunkSource(hash="0" * 64, digests=["0" * 16], messages=[SourceMessage(role="user", text="Hello.")])


@pytest.fixture
def public(tmp_path):
    for name in ("ann", "ben"):
        write_json(tmp_path / f"Public/Configs/Users/{name}.json", user())
    return tmp_path / "Public"


def of(public, name):
    return ConfigTree.open(public).user(name)


def places(tmp_path, *, several_users, directory=None):
    files = FileDiscussionFiles()
    return DiscussionPlaces(files, tmp_path / "data", nobody=NOBODY, several_users=several_users, directory=directory)


async def test_one_user_has_the_folder_of_the_tree(public, tmp_path):
    found = await places(tmp_path, several_users=False).of(of(public, "ann"), "d1")
    assert found == Discussion(root=public / "DiscussionIds", id="d1", legacy=public)


async def test_two_users_have_a_folder_each(public, tmp_path):
    finder = places(tmp_path, several_users=True)
    roots = {(await finder.of(of(public, name), "d1")).root for name in ("Ann", "Ben")}
    assert len(roots) == 2
    assert all((public / "DiscussionIds") in root.parents for root in roots)


async def test_discussions_in_the_common_folder_continue_there(public, tmp_path):
    common = Discussion(root=public / "DiscussionIds", id="d1", legacy=public)
    await FileChunkLedger().append(common, "Before.", SOURCE)
    finder = places(tmp_path, several_users=True)
    assert await finder.of(of(public, "Ann"), "d1") == common
    assert (await finder.of(of(public, "Ann"), "d2")).root != common.root


async def test_a_directory_that_a_user_names_is_used_as_it_is(public, tmp_path):
    write_json(public / "Configs/Users/ann.json", user(discussionDirectory=str(tmp_path / "hers")))
    found = await places(tmp_path, several_users=True).of(of(public, "ann"), "d1")
    assert found.root == tmp_path / "hers"


async def test_a_directory_of_the_settings_wins_over_that_of_a_user_and_keeps_users_apart(public, tmp_path):
    write_json(public / "Configs/Users/ann.json", user(discussionDirectory=str(tmp_path / "hers")))
    alone = places(tmp_path, several_users=False, directory=tmp_path / "all")
    assert alone.roots(of(public, "ann")) == [tmp_path / "all"]
    finder = places(tmp_path, several_users=True, directory=tmp_path / "all")
    roots = {(await finder.of(of(public, name), "d1")).root for name in ("Ann", "Ben")}
    assert len(roots) == 2
    assert all((tmp_path / "all") in root.parents for root in roots)


async def test_without_a_tree_discussions_are_in_the_data_directory(tmp_path):
    found = await places(tmp_path, several_users=False).of(None, "d1")
    assert found == Discussion(root=tmp_path / "data/discussions", id="d1")


async def test_only_what_is_said_for_nobody_is_outside_the_folders_of_owners(public, tmp_path):
    ann, finder = of(public, "ann"), places(tmp_path, several_users=False)
    common = public / "DiscussionIds"
    roots = [(await finder.of(ann, "d1", owner)).root for owner in (None, NOBODY, replace(NOBODY, conversation="c"))]
    assert roots == [common] * 3
    others = [
        MIRA,
        replace(MIRA, project="default"),
        replace(NOBODY, project="default"),
        replace(NOBODY, tenant="acme"),
    ]
    apart = {(await finder.of(ann, "d1", owner)).root for owner in others}
    assert (len(apart), {root.parent for root in apart}) == (4, {common / "%owners"})
    assert {named_owner(root.name) for root in apart} == {*others}
