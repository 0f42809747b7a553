"""Giving discussions of a config user another key, a first one, or none, also beside a running server."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mnemoir.core.api_keys import ApiKey
from mnemoir.core.discussion_id import is_allowed
from mnemoir.core.discussions import ClientFolder
from mnemoir.core.errors import InvalidRequest, KeyUnavailable, SettingsError, StorageUnavailable
from mnemoir.settings import Settings
from mnemoir.storage.discussions.files import FileDiscussionFiles
from mnemoir.trees.served import discussion_places, open_tree
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.discussion_files import OWNERS, PREVIOUS_KEY, DiscussionPlaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Rekeyed:
    """The ids of the discussions that have the other key now, and of those that have not, with the cause."""

    moved: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)


async def rekey(
    settings: Settings, user: str | None, old: str | None, new: str | None, ids: Collection[str]
) -> Rekeyed:
    """Move discussions from the folder of the key `old` to that of `new`; all there, unless ids are given.

    None stands for no key: plain files outside the folders of keys. Raises InvalidRequest and SettingsError.
    """
    tree, places = _tree_and_places(settings, user)
    if new is not None and not tree.settings.encrypts_discussions:
        raise InvalidRequest(
            f"Users/{tree.name.lower()}.json has no encryptUsingApiKey, so nothing is encrypted. Set it to true."
        )
    files, done = FileDiscussionFiles(), Rekeyed()
    before, after = [None if key is None else await files.client_folder(key, tree.name) for key in (old, new)]
    for root in _roots(places, tree, has_owners=old is not None and new is not None):
        legacy = tree.tree.public if before is None else None
        source, target = _place(root, before), _place(root, after)
        for one in await files.discussions_in(source, legacy, before):
            if not is_allowed(one.id) or (ids and one.id not in ids):
                continue
            was = await files.named_discussion(source, one.id, legacy, before)
            try:
                is_moved = await files.move(was, await files.named_discussion(target, one.id, None, after))
            except (KeyUnavailable, StorageUnavailable) as exc:
                done.left[one.id] = exc.message
                continue
            if is_moved:
                done.moved.append(one.id)
            else:
                done.left[one.id] = "There is one of that id under the other key already. Delete one of the two."
    return done


def warning_of_rotation(settings: Settings, key: ApiKey) -> str | None:
    """What is to be done for discussions when another key comes in the place of this one; None for nothing."""
    try:
        served = open_tree(settings)
        users = [] if served is None else [served.tree.user(name) for name in served.users]
        encrypting = [user.name for user in users if user.settings.encrypts_discussions and _may_call(key, user.name)]
    except SettingsError:  # a broken tree serves nobody
        return None
    if not encrypting:
        return None
    return (
        f"Discussions of {', '.join(encrypting)} are encrypted by the key that a client sends, and the new key opens "
        f"none of the former one. Keep the former key until they have the new one: send it as {PREVIOUS_KEY} beside "
        "the new one in each discussion, or run `mnemoir discussions rekey`."
    )


def _may_call(key: ApiKey, name: str) -> bool:
    return key.configs is None or name.lower() in (own.lower() for own in key.configs)


def _tree_and_places(settings: Settings, user: str | None) -> tuple[UserTree, DiscussionPlaces]:
    served = open_tree(settings)
    if served is None:
        raise InvalidRequest("No config tree is served, so no discussions have keys. Set workflows.config_dir.")
    name = next((known for known in served.users if user is None or known.lower() == user.lower()), None)
    if name is None:
        raise InvalidRequest(f"--user must name one of the users served here: {', '.join(served.users)}.")
    return served.tree.user(name), discussion_places(settings, served, FileDiscussionFiles())


def _roots(places: DiscussionPlaces, tree: UserTree, *, has_owners: bool) -> Iterator[Path]:
    yield from places.roots(tree)
    if has_owners:
        owners = places.common(tree) / OWNERS
        yield from sorted(folder for folder in owners.glob("*") if folder.is_dir() and not folder.is_symlink())


def _place(root: Path, client: ClientFolder | None) -> Path:
    return root if client is None else root / client.name
