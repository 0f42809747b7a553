"""What a workflow may read and write are a tree's public files, and never the folders the server keeps its own in."""

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.settings import load_settings
from mnemoir.trees.served import user_files
from tests.workflows.config.config_kit import tree_of


@pytest.mark.parametrize("key", ["storage.data_dir", "memory.storage_path", "memory.vector_store.persist_directory"])
async def test_a_folder_of_ours_within_the_public_one_is_closed(tmp_path, key):
    tree = tree_of(tmp_path)
    own = tree.public / "own"
    given = {"storage.data_dir": tmp_path / "data", "workflows.config_dir": tree.root, "workflows.users": ["ann"]}
    settings = load_settings(None, {**given, key: own}, environ={"HOME": str(tmp_path)})
    (own / "mira").mkdir(parents=True)
    (own / "mira" / "conversations.db").write_text("what others said")
    files = user_files(settings, tree)
    await files.write("notes.txt", "mine")
    assert await files.read("notes.txt") == "mine"
    with pytest.raises(SettingsError, match="outside the directories"):
        await files.read("own/mira/conversations.db")
    with pytest.raises(SettingsError, match="outside the directories"):
        await files.write("own/mira/new.txt", "x")
