"""The conversations of every user, in a folder for each: what there is, what is damaged, and what is old."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, suppress
from datetime import date, datetime, timedelta
from pathlib import Path

import structlog

from mnemoir.chats.conversation_folders import (
    folders_below,
    folders_in,
    place_of,
    project_in,
    tenant_in,
)
from mnemoir.chats.user_folders import UserFolders
from mnemoir.conversations.users import remove_if_old
from mnemoir.core.clock import utc_now
from mnemoir.core.conversations import naive_utc
from mnemoir.core.data_directory import SESSIONS_FILE
from mnemoir.core.discussion_id import encoded_name, is_encoded
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.scope import DEFAULT_TENANT, Scope
from mnemoir.storage.databases import embedded
from mnemoir.storage.disk_files import loss_of
from mnemoir.storage.sql.conversations.store import time_text
from mnemoir.storage.user_pool import in_thread

_PAGE = 200
_log = structlog.get_logger(__name__)


class Conversations(UserFolders):
    """Implements `UserConversations` over the users' folders."""

    async def ids(self, scope: Scope) -> list[str]:
        """The ids of the owner's conversations, those used last first. Raises StorageUnavailable."""
        found: list[str] = []
        if await self.exist(scope):
            async with self.of(scope) as own:
                while page := await in_thread(own.log.list_sessions, _PAGE, len(found)):
                    found += [session.id for session in page]
        return found

    def deciding(self, scope: Scope, session_id: str) -> AbstractAsyncContextManager[None]:
        """A lock on one conversation, for adding to it and to what is derived from it, and for forgetting both."""
        return self._one_by_one.hold((self.folder_of(scope), session_id))

    async def folders_with(self, session_id: str) -> set[Path]:
        """The users' folders with a conversation of that id, and those of which that is not known."""
        unread = await self._catalogue.refresh()
        return {*unread, *(self.root / place for place in await self._catalogue.rows.places_with(session_id))}

    async def is_held(self, session_id: str) -> bool:
        """True when a user on hold has a conversation with that id."""
        if self._holds is None or not await self._holds.all():
            return False
        return any(map(await self._hold_predicate(), await self.folders_with(session_id)))

    async def projects_of(self, tenant: str, user: str, known: Iterable[str]) -> list[str]:
        """The projects of a tenant in which a user has conversations, also of `known` ones with encoded names."""

        def find_projects() -> list[str]:
            named = {name for folder in folders_in(self.root) if (name := project_in(folder, tenant))}
            scopes = (Scope(tenant=tenant, project=project, user=user) for project in sorted(named | set(known)))
            return [scope.project for scope in scopes if self.folder_of(scope).exists()]

        return await asyncio.to_thread(find_projects)

    async def owners(self) -> list[Scope]:
        """The owners of all folders whose names tell them."""
        found = await asyncio.to_thread(folders_below, self.root)
        return [
            Scope(tenant=tenant, project=project, user=folder.name)
            for folder, tenant, project in found
            if tenant is not None and project is not None and not is_encoded(folder.name)
        ]

    async def encoded_folders(self) -> list[tuple[Path, str]]:
        """The folders whose owners have an encoded name, and their tenants."""
        found = await asyncio.to_thread(folders_below, self.root)
        return [(folder, tenant or DEFAULT_TENANT) for folder, tenant, _ in found if is_encoded(folder.name)]

    async def _hold_predicate(self) -> Callable[[Path], bool]:
        """A function, True for folders of users on hold; a project with an encoded name counts in any tenant."""
        held = await self._holds.all() if self._holds is not None else ()
        names = {(hold.tenant, name) for hold in held for name in (hold.user, encoded_name(hold.user))}
        of_any = {name for _, name in names}

        def is_held(folder: Path) -> bool:
            tenant = tenant_in(folder.parent.name)
            return folder.name in of_any if tenant is None else (tenant, folder.name) in names

        return is_held

    def set_aside(self, folder: Path) -> str | None:
        """The name that the last damaged file of messages in a user's folder was given; None without one. Blocks."""
        try:
            return next(reversed(embedded.set_aside_of(folder / SESSIONS_FILE)), None)
        except FileNotFoundError:
            return None

    async def damaged_files(self) -> list[str]:
        """The damaged and the lost files of messages of all users, below `root`; those put right are left out."""
        marked: list[Scope] = []
        with suppress(StorageUnavailable):  # the status tells of the database by itself
            marked = await self._expected.marked_scopes()

        def find_all() -> list[str]:
            return [*_all_set_aside(self.root), *_lost_files(map(self.folder_of, marked))]

        return await asyncio.to_thread(find_all)

    async def prune(self, days: int, dry_run: bool = False) -> int:
        """Delete every user's conversations unused for `days`, but for those marked to be kept; return how many.

        With `dry_run` they are only counted. Those of users on hold stay. A user whose files cannot be read or
        written is skipped with a warning.
        """
        pruned, unread = 0, await self._catalogue.refresh(compare=True)
        places = await self._catalogue.rows.places_used_before(time_text(_days_ago(days)))
        is_held = await self._hold_predicate()
        for folder in sorted({*unread, *(self.root / place for place in places)}):
            if is_held(folder):
                continue
            try:
                pruned += len(await self._prune_folder(folder, days, dry_run=dry_run))
            except Exception as exc:  # noqa: BLE001  # a foreign vector store may raise anything
                _log.warning("conversations of a user not pruned", folder=str(folder), error=type(exc).__name__)
        return pruned

    async def prune_of(self, scope: Scope, days: int, *, dry_run: bool = False) -> list[str]:
        """Delete the old conversations of the scope's owner and return their ids; with `dry_run` delete nothing.

        Raises LegalHold.
        """
        if self._holds is not None:
            await self._holds.refuse(scope)
        return (
            await self._prune_folder(self.folder_of(scope), days, dry_run=dry_run) if await self.exist(scope) else []
        )

    async def counts(self) -> dict[str, int]:
        """Totals over all users: `conversations`, `messages`, and the messages `embeddable` and `embedded`.

        A file that cannot be read counts with its last known numbers.
        """
        await self._catalogue.refresh()
        return await self._catalogue.rows.totals()

    async def messages_by_place(self) -> dict[str, int]:
        """The number of messages in each folder that has any, by `place_of`."""
        await self._catalogue.refresh()
        return await self._catalogue.rows.messages()

    async def messages_by_day(self, since: date) -> dict[str, int]:
        """The messages of all users of each UTC day since `since` that has any; at most the last DAILY_DAYS."""
        await self._catalogue.refresh()
        return await self._catalogue.rows.messages_by_day(since)

    async def _prune_folder(self, folder: Path, days: int, *, dry_run: bool = False) -> list[str]:
        before, pruned = _days_ago(days), []
        async with self._opened_in(folder) as own:
            for session_id in await asyncio.to_thread(own.log.old_sessions, days):
                async with self._one_by_one.hold((folder, session_id)):
                    if dry_run or await in_thread(remove_if_old, own, session_id, before):
                        pruned.append(session_id)
        return pruned


def _all_set_aside(root: Path) -> list[str]:
    folders = sorted(folder for folder in root.glob("*/*") if folder.is_dir())
    return [
        f"{place_of(folder)}/{name}" for folder in folders for name in embedded.set_aside_of(folder / SESSIONS_FILE)
    ]


def _lost_files(folders: Iterable[Path]) -> list[str]:
    """The files of these folders, which must be there, that are not."""
    files = (folder / SESSIONS_FILE for folder in folders)
    return [f"{place_of(file.parent)}/{file.name}" for file in files if loss_of(file)]


def _days_ago(days: int) -> datetime:
    """The time `days` ago in naive UTC, as the files have it; not earlier than `datetime.min`."""
    now = naive_utc(utc_now())
    return now - timedelta(days=min(days, (now - datetime.min).days))
