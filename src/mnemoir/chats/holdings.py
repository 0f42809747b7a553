"""The holdings of what is said: jobs that learn of it, traces of runs, discussions, locks, and conversations."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import asdict
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from mnemoir.chats.conversation_folders import place_of
from mnemoir.chats.conversations import Conversations
from mnemoir.chats.discussions import Discussions
from mnemoir.chats.forgetting import Forgetting
from mnemoir.chats.remembering import past_queue_of, queue_of
from mnemoir.chats.stock import size_of
from mnemoir.chats.user_folders import OBJECTS
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.attachments.links import ATTACHMENTS
from mnemoir.conversations.transfer import export_all
from mnemoir.conversations.users import OwnConversations, Removed, remove_conversation
from mnemoir.core.discussions import Discussion
from mnemoir.core.errors import KeyUnavailable
from mnemoir.core.memories import has_members
from mnemoir.core.runs import RunTrace
from mnemoir.core.scope import Scope
from mnemoir.core.usage import Stored
from mnemoir.memory.background import Background
from mnemoir.memory.discussions.transfer import copy_of
from mnemoir.ports.holdings import Amounts, Archive, ByDay, OpenHolding
from mnemoir.ports.jobs import Job
from mnemoir.ports.log import Log
from mnemoir.ports.memory_store import OwnerSummary
from mnemoir.ports.objects import ObjectNotFound
from mnemoir.ports.run_store import RunFilter, RunStore
from mnemoir.storage.user_pool import in_thread
from mnemoir.workflows.lock_files import LockFiles

_PATIENCE_S = 30.0  # for a memory that is being made from it
_COUNT_TALK_AGAIN_S = 15.0  # every open file is read again
_NO_QUEUE = ""  # the queue of turns added over the memory API
_LEVELS = ("agent", "app", "conversation")  # by which a part of a user's memories is named
_PAGE = 200
_TOKENS = ("input_tokens", "output_tokens")


def holding_of_jobs(background: Background) -> OpenHolding:
    """Jobs that learn from turns, waiting and ended. Forgetting raises Conflict while one runs."""

    async def forget(scope: Scope) -> Amounts:
        def is_unwanted(job: Job) -> bool:
            about = _about(job)
            whose = about.get("scope")
            if not isinstance(whose, dict) or Scope(**whose).owner != scope.owner:
                return False
            return scope.conversation is None or scope.conversation in (whose.get("conversation"), _session_of(about))

        for queue in (queue_of(scope), past_queue_of(scope), _NO_QUEUE):
            await background.withdraw(queue, is_unwanted, patience_s=_PATIENCE_S)
        return {}

    async def forget_part(scope: Scope, metadata: Mapping[str, Any] | None) -> Amounts:
        def is_unwanted(job: Job) -> bool:
            about = _about(job)
            whose = about.get("scope")
            if not isinstance(whose, dict) or (told := Scope(**whose)).owner != scope.owner:
                return False
            is_part = all(getattr(scope, level) in (None, getattr(told, level)) for level in _LEVELS)
            request = about.get("request")  # none in the result of a job that has ended
            return is_part and (request is None or has_members(request.get("metadata"), metadata or {}))

        await background.withdraw(_NO_QUEUE, is_unwanted, patience_s=_PATIENCE_S)
        return {}

    async def erase(scope: Scope) -> Amounts:
        # the queue is named after the user, also in jobs that are done
        for queue in (queue_of(scope), past_queue_of(scope)):
            await background.withdraw(queue, lambda job: True, patience_s=_PATIENCE_S)
        return await forget(scope.owner)

    return OpenHolding(name="job", forget=forget, forget_part=forget_part, erase=erase, sweep=background.drop_ended)


def holding_of_runs(runs: RunStore, open_kept: Callable[[], RunStore | None]) -> OpenHolding:
    """Traces of runs, which quote what the user said.

    `open_kept` opens those that were kept before recording was switched off, None without any.
    """

    async def forget(scope: Scope) -> Amounts:
        await runs.forget(scope)
        return {}

    async def erase(scope: Scope) -> Amounts:
        found = await count(scope)
        for store in (runs, open_kept()):
            if store is not None:
                await store.forget(scope.owner)
            if store is not None and store is not runs:
                await store.aclose()
        return found

    async def export(scope: Scope, archive: Archive) -> None:
        await archive.add_pages("runs.jsonl", _traces_of(runs, scope))
        tokens = (await runs.tokens_of(scope)).items()
        used = [{"day": day, "input_tokens": sent, "output_tokens": received} for day, (sent, received) in tokens]
        await archive.add_lines("usage.jsonl", used)

    async def projects_of(tenant: str, user: str, known: Collection[str]) -> Iterable[str]:
        found, kept = [*await runs.projects_of(tenant, user)], open_kept()
        if kept is not None:
            found += await kept.projects_of(tenant, user)
            await kept.aclose()
        return found

    async def count(scope: Scope) -> Amounts:
        return {"runs": len([run async for run in _runs_of(runs, scope)])}

    async def counts() -> Amounts:
        return {"runs": await runs.count()}

    async def daily(since: date) -> Mapping[str, ByDay]:
        tokens = await runs.tokens(since)
        return {name: {day: each[at] for day, each in tokens.items()} for at, name in enumerate(_TOKENS)}

    return OpenHolding(
        name="run",
        forget=forget,
        forget_rest=forget,
        erase=erase,
        export=export,
        projects_of=projects_of,
        count=count,
        counts=counts,
        daily=daily,
        sweep=runs.drop_old,
    )


def holding_of_discussions(discussions: Discussions, conversations: Conversations) -> OpenHolding:
    """Chunks, records and summaries of a discussion: files that go together, under one lock."""

    async def forget(scope: Scope) -> Amounts:
        id = scope.conversation
        if id is None:
            return {}
        await discussions.remove_everywhere(id, scope.owner)
        others = await discussions.of_owner(scope.owner)
        if others:  # those that a tag names are called otherwise than the conversation
            called = {*await conversations.ids(scope)}
            async with conversations.of(scope) as own:
                uids = await in_thread(_message_uids, own.log, id)
            for discussion in others:
                if discussion.id not in called:
                    await discussions.forget_messages(discussion, uids)
        return {}

    async def remove_all(scope: Scope) -> Amounts:
        return {"discussions": await discussions.remove_owner(scope.owner)}

    async def export(scope: Scope, archive: Archive) -> None:
        found = await discussions.of_owner(scope)
        await archive.add_lines("discussions.jsonl", [await _document_of(discussions, one, archive) for one in found])

    async def owners(tenants: Collection[str]) -> Iterable[Scope]:
        return await discussions.owners()

    return OpenHolding(
        name="discussion",
        in_files=True,
        forget=forget,
        forget_rest=remove_all,
        erase=remove_all,
        export=export,
        owners=owners,
        projects_of=discussions.projects_of,
    )


def holding_of_locks(locks: LockFiles) -> OpenHolding:
    """Locks of workflow runs: a lock's name holds the discussion's id, and whose it is. Those of runs under way stay.

    They are wiped for all users at once, as a name is any text.
    """

    async def erase(scope: Scope) -> Amounts:
        await locks.wipe()
        return {}

    async def erase_person(tenant: str, user: str) -> Amounts:
        await locks.wipe()
        return {}

    return OpenHolding(name="lock", in_files=True, forget=erase, erase_person=erase_person)


def holding_of_conversations(
    conversations: Conversations,
    forgetting: Forgetting,
    owners_of: Callable[[str], Awaitable[Iterable[OwnerSummary]]],
    is_unreadable: Callable[[Path], bool],
    *,
    embeds: bool,
) -> OpenHolding:
    """Conversations with their messages, vectors, attachments and node memories. `embeds`: messages get vectors.

    `owners_of` gives who has memories in a tenant: folders of users and projects with encoded names are found only if
    these are known. `is_unreadable` is true for a folder whose keys were destroyed. Pruning deletes no memories that
    were learned from a conversation; erasing forgets each conversation, with all that was made of it since.
    """

    async def forget(scope: Scope) -> Amounts:
        if scope.conversation is None:
            return {}
        async with conversations.of(scope) as own:
            removed = await in_thread(remove_conversation, own, scope.conversation) or Removed()
        return {"conversations": 1, "messages": removed.messages, "node_memories": removed.node_memories}

    async def erase(scope: Scope) -> Amounts:
        folder = conversations.folder_of(scope)
        if await asyncio.to_thread(is_unreadable, folder):  # it was erased before, and restored
            await conversations.remove_folder(folder)
        return {"objects": await _number_of_objects(conversations, scope), **await forgetting.forget_all(scope)}

    async def erase_nameless(is_erased: Callable[[str, str], bool]) -> None:
        for folder, tenant in await conversations.encoded_folders():
            if is_erased(tenant, folder.name):
                await conversations.remove_folder(folder)

    async def count(scope: Scope) -> Amounts:
        return {"conversations": len(await conversations.ids(scope))}

    async def counts() -> Amounts:
        found = await conversations.counts()
        return found if embeds else {name: found[name] for name in ("conversations", "messages")}

    return OpenHolding(
        name="conversation",
        in_files=True,
        forget=forget,
        erase=erase,
        erase_nameless=erase_nameless,
        export=partial(_export, conversations),
        giving=conversations.giving,
        hide=conversations.hide,
        owners=lambda tenants: conversations.owners(),
        projects_of=conversations.projects_of,
        count=count,
        counts=counts,
        counts_last_s=_COUNT_TALK_AGAIN_S,
        stored=_amounts_by_user(conversations, owners_of),
        daily=partial(_messages_by_day, conversations),
        prune=conversations.prune,
    )


def _amounts_by_user(
    conversations: Conversations, owners_of: Callable[[str], Awaitable[Iterable[OwnerSummary]]]
) -> Mapping[Stored, Callable[[str, str | None], Awaitable[Amounts]]]:
    """What counts for quotas: messages, and bytes of files."""

    async def folders(tenant: str, user: str | None) -> Iterable[tuple[Path, str]]:
        marked = [scope for scope in await conversations.marked_owners() if scope.tenant == tenant]
        known = {(owner.project, owner.user) for owner in await owners_of(tenant)}
        known |= {(scope.project, scope.user) for scope in marked}  # who need not have memories
        projects, users = {project for project, _ in known}, {name for _, name in known}
        named = users if user is None else {user}
        found = await asyncio.to_thread(conversations.folders_of, tenant, projects, named)
        return [(folder, name) for folder, name in found.items() if user in (None, name)]

    async def messages(tenant: str, user: str | None) -> Amounts:
        places, counted = await conversations.messages_by_place(), Counter[str]()
        for folder, name in await folders(tenant, user):
            counted[name] += places.get(place_of(folder), 0)
        return counted

    async def sizes(tenant: str, user: str | None, below: str = "") -> Amounts:
        counted = Counter[str]()
        for folder, name in await folders(tenant, user):
            counted[name] += await asyncio.to_thread(size_of, folder / below)
        return counted

    attachments = partial(sizes, below=f"{OBJECTS}/{ATTACHMENTS}")
    return {"messages": messages, "attachment_bytes": attachments, "disk_bytes": sizes}


def _message_uids(log: Log, session_id: str) -> Set[str]:
    """The uids of the messages of all branches of a conversation. Blocks."""
    found, after = set[str](), 0
    while page := log.message_tree(session_id, _PAGE, after=after):
        found |= {message.uid for message in page if message.uid is not None}
        after = page[-1].id
    return found


def _about(job: Job) -> Mapping[str, Any]:
    """The payload of a job or, once it has ended, its result; both name their scope if they quote a user."""
    return job.payload or job.result or {}


def _session_of(about: Mapping[str, Any]) -> object:
    """The session id in the metadata of an added turn."""
    request = about.get("request") or {}
    return about.get("session") or (request.get("metadata") or {}).get("session_id")


async def _runs_of(runs: RunStore, scope: Scope) -> AsyncIterator[str]:
    """The ids of a user's runs, newest first."""
    if scope.project not in await runs.projects_of(scope.tenant, scope.user):
        return
    only = RunFilter(tenant=scope.tenant, projects=(scope.project,), user_id=scope.user)
    before = None
    while page := await runs.latest(limit=_PAGE, before=before, only=only):
        for run in page:
            yield run.id
        before = page[-1].id


async def _traces_of(runs: RunStore, scope: Scope) -> AsyncIterator[Sequence[RunTrace]]:
    async for run_id in _runs_of(runs, scope):
        trace = await runs.get(run_id)
        yield [] if trace is None else [trace]


async def _document_of(discussions: Discussions, discussion: Discussion, archive: Archive) -> Mapping[str, Any]:
    """A discussion as JSON; the files of one that a client's key encrypts are added to the archive as stored."""
    memory = discussions.memory
    try:
        state = await memory.files.state_document(discussion)
        return {"id": discussion.id, "state": state, **asdict(await copy_of(memory, discussion))}
    except KeyUnavailable:
        client = "" if discussion.client is None else discussion.client.name
        folder = archive.folder(f"encrypted_discussions/{client}/{discussion.file_name}")
        for name, content in (await memory.files.stored_files(discussion)).items():
            await asyncio.to_thread(folder.put, name, [content])
        return {"id": discussion.id, "encrypted_in": folder.path}


async def _messages_by_day(conversations: Conversations, since: date) -> Mapping[str, ByDay]:
    return {"messages": await conversations.messages_by_day(since)}


async def _number_of_objects(conversations: Conversations, scope: Scope) -> int:
    if not await conversations.exist(scope):
        return 0
    async with conversations.of(scope) as own:
        return await asyncio.to_thread(lambda: sum(1 for _ in own.node_parts.objects.scan("")))


async def _export(conversations: Conversations, scope: Scope, archive: Archive) -> None:
    if await conversations.exist(scope):
        async with conversations.of(scope) as own:
            await asyncio.to_thread(_put_conversations, archive, own)


def _put_conversations(archive: Archive, own: OwnConversations) -> None:
    """Add the conversations with all branches, and the objects."""
    objects = own.node_parts.objects
    archive.put("conversations.jsonl", export_all(own.manager, attachments=Attachments(objects)))
    for entry in objects.scan(""):
        with suppress(ObjectNotFound):  # it was deleted meanwhile
            archive.put(f"objects/{entry.key}", [objects.load_once(entry.key)])
