"""A name is durable when its folder was synced: seen at the calls to the operating system, in their order."""

import os
from pathlib import Path

import pytest

from mnemoir.storage.sqlite import open_database


@pytest.fixture
def calls(monkeypatch) -> list[tuple[str, str]]:
    """Syncs and renames as they happen, each with the name it is about."""
    seen: list[tuple[str, str]] = []
    sync, rename, replace = os.fsync, os.rename, os.replace

    def noted_sync(descriptor: int) -> None:
        seen.append(("sync", Path(os.readlink(f"/proc/self/fd/{descriptor}")).name))
        sync(descriptor)

    def noted_rename(old, new, **folders) -> None:
        seen.append(("rename", Path(new).name))
        rename(old, new, **folders)

    def noted_replace(old, new, **folders) -> None:
        seen.append(("rename", Path(new).name))
        replace(old, new, **folders)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "rename", noted_rename)
    monkeypatch.setattr(os, "replace", noted_replace)
    return seen


async def test_a_new_database_gets_its_name_synced(tmp_path, calls):
    await open_database(tmp_path / "data" / "mnemoir.db").aclose()
    at = calls.index(("rename", "mnemoir.db"))
    assert ("sync", "data") in calls[at:]
    assert ("sync", tmp_path.name) in calls
