"""The directories of discussions."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from mnemoir.core.discussion_id import directory_name
from mnemoir.core.discussions import Discussion
from mnemoir.core.scope import Scope
from mnemoir.ports.discussions import DiscussionFiles
from mnemoir.workflows.config.tree import UserTree

_FOREIGN = re.compile(r"[A-Za-z]:[\\/]|\\\\")  # the beginning of a Windows path
DISCUSSIONS = "DiscussionIds"  # the default folder, in the public folder
OWN_DISCUSSIONS = "discussions"  # without a tree, in the data directory
USERS = "%users"  # never the folder name of a discussion
OWNERS = "%owners"  # nor is this


def own_directory(named: str, base: Path, default: Path) -> Path:
    """The directory a configuration names, relative to `base`; `default` for none and for a foreign path.

    A Windows path copied to another system would otherwise become an oddly named folder there, and so would the home
    (`~name`) of a user unknown to the system.
    """
    if not named.strip() or (os.name != "nt" and _FOREIGN.match(named)):
        return default
    place = os.path.expanduser(named)
    return default if place.startswith("~") else base / place


class DiscussionPlaces:
    """Finds the directories of discussions: `directory`, else the one in the user's file, else `DiscussionIds`.

    With several users, a user without a directory in the file has a folder of their own, so that two users may have
    the same discussion id. Discussions already in the common folder continue there. With an `owner`, a folder of that
    owner is in place of all these.
    """

    def __init__(
        self, files: DiscussionFiles, data_dir: Path, *, several_users: bool = False, directory: Path | None = None
    ) -> None:
        self._files = files
        self._data_dir = data_dir
        self._several_users = several_users
        self._directory = directory

    async def of(self, user: UserTree | None, id: str, owner: Scope | None = None) -> Discussion:
        """The discussion with the paths of its files; `user` is None without a config tree."""
        legacy = None if user is None or owner is not None else user.tree.public
        roots = self.roots(user, owner)
        for root in roots[1:]:
            discussion = await self._files.located(root, id, legacy)
            if await self._files.exists(discussion):
                return discussion
        return await self._files.located(roots[0], id, legacy)

    def roots(self, user: UserTree | None, owner: Scope | None = None) -> Sequence[Path]:
        """The directories of a user's discussions; the first is for new ones."""
        if owner is not None:
            return [_of_owner(self._common(user), owner)]
        common = self._common(user)
        if user is None:
            return [common]
        public, named = user.tree.public, "" if self._directory else user.settings.discussion_directory
        root = own_directory(named, public, common)
        if root == common and not named.strip() and self._several_users:
            return [common / USERS / directory_name(user.name.lower()), common]
        return [root]

    def _common(self, user: UserTree | None) -> Path:
        own = self._data_dir / OWN_DISCUSSIONS if user is None else user.tree.public / DISCUSSIONS
        return self._directory or own


def _of_owner(common: Path, owner: Scope) -> Path:
    return common / OWNERS / directory_name(owner_name(owner))


def owner_name(owner: Scope) -> str:
    """A name of an owner that no other owner has."""
    return json.dumps([owner.tenant, owner.project, owner.user])
