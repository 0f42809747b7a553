"""Folders of the data directory that others could enter are closed at the start, and nothing else is."""

import os
import stat

from mnemoir.app import open_parts
from mnemoir.settings import load_settings
from mnemoir.storage.private_folders import close_folders


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def made(*folders):
    """These folders, with the modes that another program or a wide umask left."""
    for folder in folders:
        folder.mkdir(parents=True)
        folder.chmod(0o755)


async def test_a_start_closes_what_mnemoir_fills_and_leaves_what_others_may_fill(tmp_path):
    data = tmp_path / "data"
    own = [data / name for name in ("conversations/default/mira", "discussions/tea", "cache/memories")]
    others = [data / "workspace/project", data / "Public/Configs"]
    made(*own, *others)
    (own[0] / "kept.txt").touch(0o644)
    settings = load_settings(None, {"storage.data_dir": data, "llm.provider": "offline"}, {})
    parts = await open_parts(settings)
    try:
        await parts.start()
        assert {mode(folder) for folder in own} == {0o700}
        assert {mode(folder) for folder in (data / "conversations", data / "discussions")} == {0o700}
        assert {mode(folder) for folder in others} == {0o755}
    finally:
        await parts.aclose()


def test_links_are_not_followed_and_nothing_is_changed_twice(tmp_path):
    inside, outside = tmp_path / "conversations/a", tmp_path / "elsewhere/b"
    made(inside, outside)
    os.symlink(outside, inside / "link")
    os.symlink(outside, tmp_path / "top")
    assert close_folders([tmp_path / "conversations", tmp_path / "top", tmp_path / "gone"]) == 2
    assert close_folders([tmp_path / "conversations"]) == 0
    assert (mode(inside), mode(outside), mode(outside.parent)) == (0o700, 0o755, 0o755)
