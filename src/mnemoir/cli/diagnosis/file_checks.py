"""The checks of `doctor` for the config tree, discussions, conversations and keys; the result type of all."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mnemoir.access.access_file import AccessFile
from mnemoir.cli.output import count_with_noun
from mnemoir.core.data_directory import ACCESS_FILE, PEPPER_FILE, SESSIONS_FILE
from mnemoir.core.errors import SettingsError, StorageUnavailable
from mnemoir.ports.discussions import DiscussionFiles
from mnemoir.settings import Settings
from mnemoir.storage.conversations.inspection import database_problems, inspect_conversations
from mnemoir.storage.discussions.files import FileDiscussionFiles
from mnemoir.trees.served import discussion_places, folder_of_conversations, open_tree, problems_of

_MOST_COMPLAINTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check; `to_do` is empty when there is nothing to do."""

    check: str
    state: Literal["ok", "warn", "fail"]
    found: str
    to_do: str = ""


Check = Callable[[Settings], Awaitable[Finding]]


def joined_complaints(complaints: Sequence[str]) -> str:
    """The first few complaints as one text, and the number of further ones; "" for none."""
    more = len(complaints) - _MOST_COMPLAINTS
    return " ".join([*complaints[:_MOST_COMPLAINTS], *([f"And {more} more."] if more > 0 else [])])


async def check_tree(settings: Settings) -> Finding:
    """Check that the config tree can be served and has no errors."""
    tree = settings.workflows.config_dir
    try:
        problems = problems_of(settings)
    except SettingsError as exc:
        to_do = "Correct it; until then the server does not start."
        return Finding(check="config tree", state="fail", found=exc.message, to_do=to_do)
    errors = sum(problem.level == "error" for problem in problems)
    found = f"{tree}: {count_with_noun(errors, 'error')}, {count_with_noun(len(problems) - errors, 'warning')}"
    to_do = f"Run: mnemoir check --config-dir {tree}" if errors else ""
    return Finding(check="config tree", state="warn" if errors else "ok", found=found, to_do=to_do)


async def check_discussions(settings: Settings) -> Finding:
    """Check the integrity of the files of discussions."""
    files = FileDiscussionFiles()
    try:
        folders = _folders(settings, files)
    except SettingsError:
        found = "not looked at, as the config tree cannot be read"
        return Finding(check="discussions", state="warn", found=found, to_do="Correct the config tree.")
    problems = [problem for root, legacy in folders.items() for problem in await files.problems(root, legacy)]
    if not problems:
        return await _counts(files, folders)
    to_do = "Put a backup in the place of each file, or take it away; see docs/discussion-memory.md."
    return Finding(check="discussions", state="fail", found=joined_complaints(problems), to_do=to_do)


async def _counts(files: DiscussionFiles, folders: Mapping[Path, Path | None]) -> Finding:
    rows = [row for root, legacy in folders.items() for row in await files.discussions_in(root, legacy)]
    clients = [(root, client) for root in folders for client in await files.client_folders(root)]
    keyed = [row for root, client in clients for row in await files.discussions_in(root / client.name, None, client)]
    discussions = count_with_noun(len(rows), "discussion")
    chunks, records = sum(row.chunk_summaries for row in rows), sum(row.records for row in rows)
    found = f"{discussions} with {chunks} chunk summaries and {count_with_noun(records, 'record')}, whole"
    if keyed:
        found += f"; {count_with_noun(len(keyed), 'discussion')} of clients' keys"
    return Finding(check="discussions", state="ok", found=found if rows or keyed else "none yet")


def _folders(settings: Settings, files: DiscussionFiles) -> Mapping[Path, Path | None]:
    """The discussion folders of all served users; the first with the folder of older databases, others with None."""
    served = open_tree(settings)
    trees = [None] if served is None else [served.tree.user(name) for name in served.users]
    places = discussion_places(settings, served, files)
    roots = dict.fromkeys(root for tree in trees for root in places.roots(tree))
    public = None if served is None else served.tree.public
    return {root: public if at == 0 else None for at, root in enumerate(roots)}


async def check_keys(settings: Settings) -> Finding:
    """Check the integrity of the file of keys and of the audit log, and that the pepper of the keys is there."""
    file, pepper = (settings.storage.data_dir / name for name in (ACCESS_FILE, PEPPER_FILE))
    if settings.storage.dsn is not None:
        return await asyncio.to_thread(_check_remote_keys, settings)
    if not file.exists():
        return Finding(check="keys", state="ok", found="none were made")
    problems = await asyncio.to_thread(database_problems, file)
    if problems:
        to_do = "Stop the server, keep a copy of the file, and restore a backup; see docs/storage.md."
        return Finding(
            check="keys", state="fail", found=joined_complaints([f"{file}: {each}" for each in problems]), to_do=to_do
        )
    if settings.security.pepper is None and not pepper.exists():
        to_do = "Put it back from a backup, or set security.pepper; else make new keys for all."
        return Finding(check="keys", state="fail", found=f"{pepper} is missing: no key is recognised", to_do=to_do)
    try:
        await asyncio.to_thread(_check_pepper, settings)
    except StorageUnavailable as exc:
        to_do = "See docs/users-and-keys.md, What is stored."
        return Finding(check="keys", state="fail", found=exc.message, to_do=to_do)
    return Finding(check="keys", state="ok", found=f"{file}, {file.stat().st_size // 1024} KiB, whole")


def _check_remote_keys(settings: Settings) -> Finding:
    """That keys in another database can be looked up, and that the pepper is theirs."""
    try:
        with closing(AccessFile(settings)) as file:
            if not file.credentials.were_made:
                return Finding(check="keys", state="ok", found="none were made")
            file.check_pepper()
            return Finding(check="keys", state="ok", found=f"in t{file.name[1:]}")
    except StorageUnavailable as exc:
        to_do = "See docs/users-and-keys.md, What is stored."
        return Finding(check="keys", state="fail", found=exc.message, to_do=to_do)


def _check_pepper(settings: Settings) -> None:
    with closing(AccessFile(settings)) as file:
        file.check_pepper()


async def check_conversations(settings: Settings) -> Finding:
    """Check the integrity of the files of conversations."""
    root = folder_of_conversations(settings)
    users, problems = await asyncio.to_thread(_looked_at, root)
    if problems:
        to_do = "Put a backup in the place of each file, or take it away; see docs/conversations.md."
        return Finding(check="conversations", state="fail", found=joined_complaints(problems), to_do=to_do)
    found = f"{root}: of {count_with_noun(users, 'user')}, whole" if users else "none yet"
    return Finding(check="conversations", state="ok", found=found)


def _looked_at(root: Path) -> tuple[int, list[str]]:
    """The number of users with conversations, and the problems of their files."""
    folders = sorted(folder for folder in root.glob("*/*") if folder.is_dir())
    problems = [problem for folder in folders for problem in inspect_conversations(folder)]
    return sum((folder / SESSIONS_FILE).exists() for folder in folders), problems
