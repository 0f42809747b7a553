"""The directories of discussions."""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mnemoir.core.data_directory import OWN_DISCUSSIONS
from mnemoir.core.discussion_id import directory_name
from mnemoir.core.discussions import ClientFolder, ClientKeys, Discussion
from mnemoir.core.errors import KeyUnavailable
from mnemoir.core.scope import Scope
from mnemoir.ports.discussions import DiscussionFiles
from mnemoir.workflows.config.tree import UserTree

_FOREIGN = re.compile(r"[A-Za-z]:[\\/]|\\\\")  # the beginning of a Windows path
DISCUSSIONS = "DiscussionIds"  # the default folder, in the public folder
USERS = "%users"  # never the folder name of a discussion
OWNERS = "%owners"  # nor is this
PREVIOUS_KEY = "X-Mnemoir-Previous-Key"  # the header with the key that discussions were encrypted by before


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
    the same discussion id. Discussions already in the common folder continue there.

    All these are of one owner, `nobody`: the one whose is what requests say that name nobody. Any other owner has a
    folder in place of them. So the owner of a discussion is told by where it is, from its first message, and by
    nothing else. An `owner` of None is `nobody`.

    In any of them the format has a folder for each client's key. A discussion that is there for the key of a request
    is found. New ones are made there only for users with `encryptUsingApiKey`, as front ends send any key to servers
    that need none. Where `is_plain_refused`, requests about files that are not encrypted are refused.
    """

    def __init__(
        self,
        files: DiscussionFiles,
        data_dir: Path,
        *,
        nobody: Scope,
        several_users: bool = False,
        directory: Path | None = None,
        is_plain_refused: bool = False,
    ) -> None:
        self._files = files
        self.nobody = nobody.owner
        self._data_dir = data_dir
        self._several_users = several_users
        self._directory = directory
        self._is_plain_refused = is_plain_refused

    async def of(
        self, user: UserTree | None, id: str, owner: Scope | None = None, keys: ClientKeys | None = None
    ) -> Discussion:
        """The discussion with the paths of its files; `user` is None without a config tree.

        One of the previous key is moved to the current one first. Raises KeyUnavailable when there is one of other
        keys only, or when a key is needed; StorageUnavailable.
        """
        return self._checked_discussion(user, await self._discussion_of(user, id, owner, keys))

    async def stored_discussion(
        self, user: UserTree | None, id: str, owner: Scope | None = None, keys: ClientKeys | None = None
    ) -> Discussion | None:
        """The discussion as `of` gives it; None when it has no files."""
        found = await self._discussion_of(user, id, owner, keys)
        return self._checked_discussion(user, found) if await self._files.exists(found) else None

    async def is_of_a_key(self, user: UserTree | None, id: str, owner: Scope | None = None) -> bool:
        """True when a discussion of that id is there for the key of some client."""
        roots = () if user is None else self.roots(user, owner)
        return any([await self._of_keys(root, id) for root in roots])

    async def everywhere(self, user: UserTree | None, id: str, owner: Scope | None = None) -> Sequence[Discussion]:
        """The discussions of that id, without a key and of all keys, that may have files. None can be decrypted."""
        found = [await self._of_none(user, id, owner)]
        if user is not None:
            for root in self.roots(user, owner):
                found += await self._of_keys(root, id)
        return found

    async def folders(
        self, user: UserTree | None, owner: Scope | None = None, keys: ClientKeys | None = None
    ) -> Sequence[tuple[Path, ClientFolder | None]]:
        """The directories in which a request finds discussions; what is in a later one goes before the others."""
        roots: list[tuple[Path, ClientFolder | None]] = [(root, None) for root in self.roots(user, owner)]
        if user is None or keys is None:
            return roots
        encrypts = user.settings.encrypts_discussions
        own = await self._files.client_folder(keys.current, user.name if encrypts else None)
        keyed: list[tuple[Path, ClientFolder | None]] = [(root / own.name, own) for root, _ in roots]
        return keyed if encrypts else roots + keyed

    async def _discussion_of(
        self, user: UserTree | None, id: str, owner: Scope | None, keys: ClientKeys | None
    ) -> Discussion:
        keyed = None if user is None or keys is None else await self._of_key(user, id, owner, keys)
        return keyed or await self._of_none(user, id, owner)

    def _checked_discussion(self, user: UserTree | None, found: Discussion) -> Discussion:
        is_plain = found.client is None or found.client.secret is None
        if user is not None and is_plain and self._is_plain_refused:
            raise KeyUnavailable(
                f"The files of discussion {found.id[:80]!r} would stay plain, which encryption.allow_plain does not "
                "allow. Have the client send a key as `Authorization: Bearer`, and set encryptUsingApiKey in the "
                f"file of {user.name}."
            )
        return found

    async def _of_none(self, user: UserTree | None, id: str, owner: Scope | None) -> Discussion:
        legacy = self.legacy(user, owner)
        roots = self.roots(user, owner)
        for root in roots[1:]:
            discussion = await self._files.named_discussion(root, id, legacy)
            if await self._files.exists(discussion):
                return discussion
        return await self._files.named_discussion(roots[0], id, legacy)

    async def _of_key(self, user: UserTree, id: str, owner: Scope | None, keys: ClientKeys) -> Discussion | None:
        """The discussion in the folder of a key; None for one that belongs to no key."""
        encrypts, roots = user.settings.encrypts_discussions, self.roots(user, owner)
        own = await self._files.client_folder(keys.current, None)
        mine = [await self._files.named_discussion(root / own.name, id, None, own) for root in roots]
        found = [one for one in mine if await self._files.exists(one)]
        if found:
            return await self._with_secret(found[0], user, keys.current)
        if not encrypts and keys.previous is None:
            return None
        others = [one for root in roots for one in await self._of_keys(root, id)]
        if keys.previous is not None and others:
            new = await self._with_secret(mine[0], user, keys.current)
            if await self._is_taken_over(user, others, keys.previous, new):
                return new
        if not encrypts:
            return None
        if others:
            raise KeyUnavailable(
                f"Discussion {id[:80]!r} is there for another key. Nothing was changed. Send that key; or send it "
                f"once as {PREVIOUS_KEY}, beside this one, which the discussion will then have; or choose another id."
            )
        return await self._with_secret(mine[0], user, keys.current)

    async def _with_secret(self, discussion: Discussion, user: UserTree, key: str) -> Discussion:
        """The discussion with the secret of its files, which takes a while to derive; wrong keys never get here."""
        encrypts = user.settings.encrypts_discussions
        return replace(discussion, client=await self._files.client_folder(key, user.name if encrypts else None))

    async def _is_taken_over(self, user: UserTree, others: Sequence[Discussion], key: str, new: Discussion) -> bool:
        """Move the discussion of the previous key, if there is one. True when it is that of the current key then."""
        before = await self._files.client_folder(key, None)
        at = next((one for one in others if one.client == before), None)
        if at is None:
            return False
        secret = await self._files.client_folder(key, user.name)  # it may be encrypted although new ones are not
        return await self._files.move(replace(at, client=secret), new) or await self._files.exists(new)

    async def _of_keys(self, root: Path, id: str) -> list[Discussion]:
        """The stored discussions of that id in the folders of clients' keys."""
        clients = await self._files.client_folders(root)
        found = [await self._files.named_discussion(root / client.name, id, None, client) for client in clients]
        return [one for one in found if await self._files.exists(one)]

    def roots(self, user: UserTree | None, owner: Scope | None = None) -> Sequence[Path]:
        """The directories of a user's discussions; the first is for new ones."""
        common = self.common(user)
        if not self.is_of_nobody(owner):
            return [_of_owner(common, owner or self.nobody)]
        if user is None:
            return [common]
        public, named = user.tree.public, "" if self._directory else user.settings.discussion_directory
        root = own_directory(named, public, common)
        if root == common and not named.strip() and self._several_users:
            return [common / USERS / directory_name(user.name.lower()), common]
        return [root]

    def legacy(self, user: UserTree | None, owner: Scope | None) -> Path | None:
        """The directory in which WilmerAI kept databases of an owner's discussions; None for none."""
        return user.tree.public if user is not None and self.is_of_nobody(owner) else None

    def is_of_nobody(self, owner: Scope | None) -> bool:
        """True for the owner of what lies outside the folders of owners."""
        one = self.nobody  # compared by hand, as each chat of a discussion asks
        return owner is None or (owner.user, owner.project, owner.tenant) == (one.user, one.project, one.tenant)

    def common(self, user: UserTree | None) -> Path:
        """The directory that is every user's where none is named."""
        own = self._data_dir / OWN_DISCUSSIONS if user is None else user.tree.public / DISCUSSIONS
        return self._directory or own


def _of_owner(common: Path, owner: Scope) -> Path:
    return common / OWNERS / directory_name(owner_name(owner))


def named_owner(folder: str) -> Scope | None:
    """The owner whose folder has that name; None for another one, and for an encoded one."""
    try:
        tenant, project, user = json.loads(folder)
        return Scope(tenant=str(tenant), project=str(project), user=str(user))
    except (ValueError, TypeError):
        return None


def owner_name(owner: Scope) -> str:
    """A name of an owner that no other owner has."""
    return json.dumps([owner.tenant, owner.project, owner.user])
