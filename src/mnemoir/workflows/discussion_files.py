"""Where the files of a discussion are."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from mnemoir.core.discussion_id import directory_name
from mnemoir.core.discussions import Discussion
from mnemoir.ports.discussions import DiscussionFiles
from mnemoir.workflows.config.tree import UserTree

_FOREIGN = re.compile(r"[A-Za-z]:[\\/]|\\\\")  # how a path begins on Windows
DISCUSSIONS = "DiscussionIds"  # in the public folder, where the user's file names no other
_USERS = "%users"  # no discussion has a folder of that name


def own_directory(named: str, base: Path, default: Path) -> Path:
    """The directory a configuration names, relative to `base`; `default` for none, or one of another system.

    A Windows path copied to another system would otherwise become an oddly named folder there. So would the home of a
    user who is not known here.
    """
    if not named.strip() or (os.name != "nt" and _FOREIGN.match(named)):
        return default
    place = os.path.expanduser(named)
    return default if place.startswith("~") else base / place


class DiscussionPlaces:
    """Finds the places of discussions: in `directory`, else the one that the user's file names, else `DiscussionIds`.

    Where several users are served who name no directory, each has a folder of their own in it, so that two of them
    may use one id. What was kept in the common folder before is gone on with there.
    """

    def __init__(
        self, files: DiscussionFiles, data_dir: Path, *, several_users: bool = False, directory: Path | None = None
    ) -> None:
        self._files = files
        self._data_dir = data_dir
        self._several_users = several_users
        self._directory = directory

    async def of(self, user: UserTree | None, id: str) -> Discussion:
        """The discussion with the places of its files; `user` None without a config tree."""
        legacy = None if user is None else user.tree.public
        roots = self.roots(user)
        for root in roots[1:]:
            discussion = Discussion(root=root, id=id, legacy=legacy)
            if await self._files.exists(discussion):
                return discussion
        return Discussion(root=roots[0], id=id, legacy=legacy)

    def roots(self, user: UserTree | None) -> Sequence[Path]:
        """Where a user's discussions are: first where new ones go."""
        if user is None:
            return [self._directory or self._data_dir / "discussions"]
        public, named = user.tree.public, "" if self._directory else user.settings.discussion_directory
        common = self._directory or public / DISCUSSIONS
        root = own_directory(named, public, common)
        if root == common and not named.strip() and self._several_users:
            return [common / _USERS / directory_name(user.name.lower()), common]
        return [root]
