"""The rights of a person: an archive of everything stored of them, and its erasure, in all projects of a tenant."""

import asyncio
import tempfile
import zipfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import orjson

from mnemoir import __version__
from mnemoir.access.opening import Access
from mnemoir.chats.conversations import Conversations
from mnemoir.chats.discussions import Discussions
from mnemoir.chats.kinds import Forgetting
from mnemoir.chats.people import Everybody
from mnemoir.chats.remembering import queue_of
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.transfer import export_all
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.clock import now_text
from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import KeyUnavailable
from mnemoir.core.runs import RunTrace
from mnemoir.core.scope import Scope
from mnemoir.core.users import User
from mnemoir.memory.background import Background
from mnemoir.memory.discussions.transfer import copy_of
from mnemoir.memory.facts.kind import FACT
from mnemoir.ports.memory_kinds import MemoryKind
from mnemoir.ports.objects import ObjectNotFound
from mnemoir.ports.run_store import RunFilter, RunStore
from mnemoir.search.recall import Recall
from mnemoir.storage.backups.staging import clear_staging
from mnemoir.storage.tombstones import Tombstones, add_tombstone
from mnemoir.upkeep.backup_list import KnownBackup, known_backups
from mnemoir.upkeep.encryption import Encryption

_PAGE = 200
_PIECE = 1 << 18
_PATIENCE_S = 30.0  # for a memory that is being made
Amounts = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A user of a tenant; in all projects, unless some are named."""

    tenant: str
    user: str
    projects: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What was erased: the projects in which there was anything, and how much of what.

    `backups` are those that this program made and that still hold it, as far as they are where they were made.
    """

    projects: Sequence[str]
    counts: Amounts
    backups: Sequence[KnownBackup]


class Subjects:
    """Serves every person. `open_kept_runs` opens the traces that were kept before they were switched off.

    Where data are encrypted, the keys of an erased person are destroyed, so that no backup of them is readable.
    """

    def __init__(
        self,
        *,
        data_dir: Path,
        everybody: Everybody,
        forgetting: Forgetting,
        conversations: Conversations,
        discussions: Discussions,
        runs: RunStore,
        open_kept_runs: Callable[[], RunStore | None],
        access: Access,
        background: Background,
        recall: Recall,
        kinds: Sequence[MemoryKind],
        encryption: Encryption,
        backups_days: int | None = None,
    ) -> None:
        self._data_dir = data_dir
        self._encryption = encryption
        self.everybody = everybody
        self._forgetting = forgetting
        self._conversations = conversations
        self._discussions = discussions
        self._runs = runs
        self._open_kept_runs = open_kept_runs
        self._access_file = access.file
        self._api_keys = access.api_keys
        self._users = access.users
        self._sessions = access.sessions
        self._passkeys = access.passkeys
        self._spent = access.spent
        self._audit = access.audit
        self._background = background
        self._recall = recall
        self._facts = next(kind.exchange for kind in kinds if kind.name == FACT and kind.exchange is not None)
        self._backups_days = backups_days

    async def export(self, person: Person) -> IO[bytes]:
        """A zip archive of everything stored of a person, open at its beginning. Raises StorageUnavailable.

        It has no name on the disk, so nothing is left of it when it is closed.
        """
        file = await asyncio.to_thread(_nameless_file, self._data_dir)
        try:
            archive = _Archive(file)
            for scope in await self._scopes(person):
                await self._put_project(archive, scope)
            if person.projects is None:
                await asyncio.to_thread(self._put_access, archive, person)
                used = (await self._spent.of(person.tenant, person.user)).items()
                await archive.add_lines("usage.jsonl", [_of_day(day, each.input, each.output) for day, each in used])
            about = {"user": person.user, "tenant": person.tenant, "made_at": now_text(), "program": __version__}
            await archive.close({**about, "lines": dict(archive.lines)})
        except BaseException:
            file.close()
            raise
        return file

    async def erase(self, person: Person) -> Erased:
        """Erase everything of a person; again for one who was erased. Raises Conflict and StorageUnavailable.

        Raises LegalHold, with nothing erased, for one on hold. A tombstone is written first: what is left after a
        failure goes when it is repeated.
        """
        owner = Scope(tenant=person.tenant, project="", user=person.user)
        await self._forgetting.holds.refuse(owner)
        await self._bury(person)
        counts: Counter[str] = Counter()
        projects = []
        for scope in await self._scopes(person):
            found = await self._erase_project(scope)
            counts.update(found)
            projects += [scope.project] if any(found.values()) else []
        if person.projects is None:
            counts.update(await self._erase_outside_projects(person.tenant, person.user))
        await asyncio.to_thread(clear_staging, self._data_dir)
        await self._bury(person)  # again, for a backup that began meanwhile
        backups = await asyncio.to_thread(known_backups, self._data_dir, self._backups_days)
        return Erased(projects=projects, counts=counts, backups=backups)

    async def erase_again(self, tombstones: Tombstones, since: str) -> int:
        """Erase who was erased after a time, in data of that time, whatever was on hold then; how many scopes.

        Raises Conflict and StorageUnavailable.
        """
        found = [
            scope
            for scope in await self.everybody.all()
            if tombstones.after(scope.tenant, scope.user, scope.project, since)
        ]
        for scope in found:
            await self._forgetting.holds.clear(scope.tenant, scope.user)
            await self._erase_project(scope)
        for folder, tenant in await self._conversations.encoded():
            if tombstones.after(tenant, folder.name, None, since):
                await self._conversations.remove_folder(folder)
        of_keys, of_users = await asyncio.to_thread(lambda: (self._api_keys.users(), self._users.memory_users()))
        for tenant, user in {*of_keys, *of_users, *await self._spent.named()}:
            if tombstones.after(tenant, user, None, since):
                await self._erase_outside_projects(tenant, user)
        return len(found)

    async def _bury(self, person: Person) -> None:
        at = now_text()
        for project in (None,) if person.projects is None else person.projects:
            await asyncio.to_thread(add_tombstone, self._data_dir, person.tenant, person.user, project, at)

    async def _scopes(self, person: Person) -> list[Scope]:
        named = person.projects
        if named is None:
            kept = self._open_kept_runs()
            named = await self.everybody.projects_of(person.tenant, person.user)
            if kept is not None:
                named = sorted({*named, *await kept.projects_of(person.tenant, person.user)})
                await kept.aclose()
        return [Scope(tenant=person.tenant, project=project, user=person.user) for project in named]

    async def _erase_project(self, scope: Scope) -> Counter[str]:
        counts = Counter(await self.everybody.rows.amounts(scope))
        owners = await asyncio.to_thread(self._encryption.owners_of, scope)  # while its folder is there
        counts["runs"] = len([run async for run in self._runs_of(scope)])
        folder = self._conversations.folder_of(scope)
        if await asyncio.to_thread(self._encryption.is_unreadable, folder):  # it was erased before, and restored
            await self._conversations.remove_folder(folder)
        if await self._conversations.exist(scope):
            async with self._conversations.of(scope) as own:
                counts["objects"] = await asyncio.to_thread(lambda: sum(1 for _ in own.node_parts.objects.scan("")))
        forgotten = await self._forgetting.forget_all(scope)
        memories = forgotten.pop("memories", 0) + await self._forgetting.forget_memories(scope)
        counts.update(forgotten)
        counts["memories"] = max(counts["memories"], memories)  # those in project files have no rows
        counts["discussions"] += await self._discussions.remove_owner(scope)
        kept = self._open_kept_runs()
        if kept is not None:
            await kept.forget(scope)
            await kept.aclose()
        # the queue is named after the user, also in jobs that are done
        await self._background.withdraw(queue_of(scope), lambda job: True, patience_s=_PATIENCE_S)
        await self.everybody.rows.drop(scope)
        self._recall.forget(scope)
        await asyncio.to_thread(self._encryption.destroy_keys, owners)
        return counts

    async def _erase_outside_projects(self, tenant: str, user: str) -> Amounts:
        await self._audit.write_gathered()  # it may name the person
        accounts = await asyncio.to_thread(self._users.erase, tenant, user)
        usage = await self._spent.make_nobodys(tenant, user)
        keys, entries = await asyncio.to_thread(self._api_keys.erase_user, tenant, user)
        return {"accounts": accounts, "usage": usage, "keys": keys, "audit_entries": entries}

    async def _put_project(self, archive: "_Archive", scope: Scope) -> None:
        place = f"projects/{scope.project}"
        await archive.add_pages(f"{place}/current_memories.jsonl", self._facts.pages(scope))
        for name, rows in (await self.everybody.rows.tables(scope)).items():
            await archive.add_lines(f"{place}/{name}.jsonl", rows)
        ids: list[str] = []
        if await self._conversations.exist(scope):
            async with self._conversations.of(scope) as own:
                ids = await asyncio.to_thread(_put_conversations, archive, place, own)
        discussions = [*await self._discussions.of_owner(scope)]
        for id in ids:
            if not await self._conversations.others_have(scope, id):
                discussions += await self._discussions.shared(id)
        told = [await self._told(archive, place, one) for one in discussions]
        await archive.add_lines(f"{place}/discussions.jsonl", told)
        await archive.add_pages(f"{place}/runs.jsonl", self._traces_of(scope))
        tokens = (await self._runs.tokens_of(scope)).items()
        usage = [_of_day(day, sent, received) for day, (sent, received) in tokens]
        await archive.add_lines(f"{place}/usage.jsonl", usage)

    async def _told(self, archive: "_Archive", place: str, discussion: Discussion) -> Mapping[str, Any]:
        """A discussion as JSON; the files of one that a client's key encrypts are added to the archive as stored."""
        memory = self._discussions.memory
        try:
            state = await memory.files.state_document(discussion)
            return {"id": discussion.id, "state": state, **asdict(await copy_of(memory, discussion))}
        except KeyUnavailable:
            client = "" if discussion.client is None else discussion.client.name
            folder = f"{place}/encrypted_discussions/{client}/{discussion.file_name}"
            for name, content in (await memory.files.as_stored(discussion)).items():
                await asyncio.to_thread(archive.put, f"{folder}/{name}", [content])
            return {"id": discussion.id, "encrypted_in": folder}

    async def _runs_of(self, scope: Scope) -> AsyncIterator[str]:
        """The ids of a user's runs, newest first."""
        if scope.project not in await self._runs.projects_of(scope.tenant, scope.user):
            return
        only = RunFilter(tenant=scope.tenant, projects=(scope.project,), user_id=scope.user)
        before = None
        while page := await self._runs.latest(limit=_PAGE, before=before, only=only):
            for run in page:
                yield run.id
            before = page[-1].id

    async def _traces_of(self, scope: Scope) -> AsyncIterator[Sequence[RunTrace]]:
        async for run_id in self._runs_of(scope):
            trace = await self._runs.get(run_id)
            yield [] if trace is None else [trace]

    def _account(self, user: User) -> dict[str, Any]:
        """Somebody who signs in, with their sessions and passkeys, without what they sign in with."""
        keys = [{**asdict(key), "credential": None, "public_key": None} for key in self._passkeys.of_user(user)]
        return {**asdict(user), "sessions": [*map(asdict, self._sessions.listed(user.id))], "passkeys": keys}

    def _put_access(self, archive: "_Archive", person: Person) -> None:
        if self._access_file.existing() is None:
            return
        keys = [{**asdict(key), "hash": None} for key in self._api_keys.of_user(person.tenant, person.user)]
        archive.put_lines("keys.jsonl", keys)
        accounts = self._users.of_memory(person.tenant, person.user)
        archive.put_lines("accounts.jsonl", [self._account(user) for user in accounts])
        log, key = self._access_file.audit_log()
        entries = log.about(person.tenant, person.user, key)
        digests = {"names": None, "subject": None, "chain": None}
        archive.put_lines("audit.jsonl", [{**asdict(entry), **digests} for entry in entries])


def _of_day(day: str, sent: int, received: int) -> dict[str, Any]:
    return {"day": day, "input_tokens": sent, "output_tokens": received}


class _Archive:
    """A zip file of JSON lines and objects, without files that would be empty. `lines` are their numbers by name."""

    def __init__(self, file: IO[bytes]) -> None:
        self.lines: Counter[str] = Counter()
        self._file = file
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)

    async def add_lines(self, name: str, values: Sequence[Any]) -> None:
        """Add a file with a JSON line for each value."""
        await asyncio.to_thread(self.put_lines, name, values)

    async def add_pages(self, name: str, pages: AsyncIterator[Sequence[Any]]) -> None:
        """The same for values that come in pages, of which one at a time is in memory."""
        member: IO[bytes] | None = None
        try:
            async for page in pages:
                if page and member is None:
                    member = self._zip.open(name, "w", force_zip64=True)
                if member is not None:
                    await asyncio.to_thread(member.write, self._lines(name, page))
        finally:
            if member is not None:
                member.close()

    def put_lines(self, name: str, values: Sequence[Any]) -> None:
        """Add a file with a JSON line for each value. Blocks."""
        if values:
            self.put(name, [self._lines(name, values)])

    def put(self, name: str, pieces: Iterable[bytes]) -> None:
        """Add a file. Blocks."""
        with self._zip.open(name, "w", force_zip64=True) as member:
            for piece in pieces:
                member.write(piece)

    async def close(self, about: Mapping[str, Any]) -> None:
        """Write the table of contents, and go to the beginning of the file."""
        await asyncio.to_thread(self._close, about)

    def _close(self, about: Mapping[str, Any]) -> None:
        self.put("about.json", [orjson.dumps(about, option=orjson.OPT_INDENT_2)])
        self._zip.close()
        self._file.seek(0)

    def _lines(self, name: str, values: Sequence[Any]) -> bytes:
        self.lines[name] += len(values)
        return b"".join(orjson.dumps(value, default=str, option=orjson.OPT_APPEND_NEWLINE) for value in values)


def _put_conversations(archive: _Archive, place: str, own: OwnConversations) -> list[str]:
    """Add the conversations with all branches, and the objects; the ids of the conversations."""
    objects = own.node_parts.objects
    archive.put(f"{place}/conversations.jsonl", export_all(own.manager, attachments=Attachments(objects)))
    for entry in objects.scan(""):
        with suppress(ObjectNotFound):  # it was deleted meanwhile
            archive.put(f"{place}/objects/{entry.key}", [objects.load_once(entry.key)])
    ids: list[str] = []
    while page := own.log.list_sessions(_PAGE, len(ids)):
        ids += [session.id for session in page]
    return ids


def _nameless_file(folder: Path) -> IO[bytes]:
    return tempfile.TemporaryFile(dir=folder)


async def pieces_of(file: IO[bytes]) -> AsyncIterator[bytes]:
    """The bytes of a file from where it stands, which is closed at the end."""
    try:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            yield piece
    finally:
        file.close()
