"""After ten thousand random acts of several users at once, what is told as stored and used is what there is."""

import asyncio
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from mnemoir.access.spent import Spent
from mnemoir.app.parts import Parts, open_parts
from mnemoir.core.conversations import MessageRecord
from mnemoir.core.data_directory import SESSIONS_FILE
from mnemoir.core.errors import Conflict, NotFound
from mnemoir.core.events import Event, Gathering
from mnemoir.core.ids import MemoryId
from mnemoir.core.messages import ChatRequest, ModelRequest, text_message
from mnemoir.core.scope import Scope
from mnemoir.core.usage import Tokens as Used
from mnemoir.memory.facts import AddRequest
from mnemoir.memory.facts.extract.requests import Turn
from mnemoir.memory.facts.write.curation import Edit
from mnemoir.ports.memory_store import Project
from mnemoir.providers.embedding.minilm_encoder import Encoder, Tokens
from mnemoir.settings import load_settings
from mnemoir.storage.sql.usage import SqlUsage
from mnemoir.upkeep.subjects import Person
from mnemoir.workflows.run import Caller

pytestmark = pytest.mark.slow

ACTS, AT_ONCE = 10_000, 20
CHECKED_EVERY = 1_000
TENANTS, PROJECTS, USERS = ("default", "acme"), ("default", "kitchen"), ("mira", "noa", "Ünal Ö/x")
FAR = 10**9  # a quota that is never reached, with which everything is counted
SCOPES = [Scope(tenant=tenant, project=name, user=user) for tenant in TENANTS for name in PROJECTS for user in USERS]
COUNTING = """
import sqlite3, sys
query = "SELECT count(*) FROM messages"
print(sum(sqlite3.connect(file).execute(query).fetchone()[0] for file in sys.argv[1:]))
"""
Act = Callable[[], Awaitable[object]]


class Acts:
    """Random acts on running parts, and what is known of their results."""

    def __init__(self, parts: Parts, dice: random.Random) -> None:
        self.parts = parts
        self.dice = dice
        self.numbers = count()
        self.memories: dict[Scope, list[MemoryId]] = {scope: [] for scope in SCOPES}
        self.talks: dict[Scope, list[str]] = {scope: [] for scope in SCOPES}
        self.tokens: Counter[str] = Counter()  # by tenant
        self.done: Counter[str] = Counter()

    def next(self) -> tuple[str, Act]:
        """The name of a random act, and the act for a random scope."""
        scope, dice = self.dice.choice(SCOPES), self.dice
        weighted: dict[str, tuple[float, Act]] = {
            "add": (30, partial(self.add, scope, dice.randrange(1, 4), next(self.numbers))),
            "edit": (10, partial(self.edit, scope, self._memory(scope), next(self.numbers))),
            "delete": (12, partial(self.delete, scope, self._memory(scope))),
            "restore": (5, partial(self.restore, scope, self._memory(scope))),
            "undo": (5, partial(self.undo, scope)),
            "delete all": (1, partial(self.parts.memory.facts.delete_all, scope)),
            "talk": (15, partial(self.talk, scope, dice.randrange(1, 5), next(self.numbers))),
            "chat": (4, partial(self.chat, scope, next(self.numbers))),
            "clear": (3, partial(self.clear, scope, self._talk(scope))),
            "forget": (4, partial(self.forget, scope, self._talk(scope))),
            "forget all": (0.2, partial(self.parts.upkeep.forgetting.forget_all, scope)),
            "erase": (0.2, partial(self.erase, scope)),
            "use": (25, partial(self.use, scope, dice.randrange(1000), dice.randrange(100))),
        }
        [name] = dice.choices(list(weighted), [weight for weight, _ in weighted.values()])
        self.done[name] += 1
        return name, weighted[name][1]

    def _memory(self, scope: Scope) -> MemoryId:
        return self.dice.choice(self.memories[scope][-50:] or [MemoryId("mem_" + "0" * 32)])

    def _talk(self, scope: Scope) -> str:
        return self.dice.choice(self.talks[scope][-20:] or ["none"])

    async def add(self, scope: Scope, number: int, at: int) -> None:
        turns = [Turn(role="user", text=f"The box {at} holds the thing {one}.") for one in range(number)]
        result = await self.parts.memory.facts.add(scope, AddRequest(turns=turns, infer=False))
        self.memories[scope] += [change.memory.id for change in result.applied]

    async def edit(self, scope: Scope, memory: MemoryId, at: int) -> None:
        await self.parts.memory.facts.curation.edit(
            project(scope), memory, Edit(text=f"Changed by {at}."), scope.user
        )

    async def delete(self, scope: Scope, memory: MemoryId) -> None:
        await self.parts.memory.facts.delete(project(scope), memory, scope.user)

    async def restore(self, scope: Scope, memory: MemoryId) -> None:
        await self.parts.memory.facts.curation.restore(project(scope), memory, scope.user)

    async def undo(self, scope: Scope) -> None:
        page = await self.parts.memory.facts.undoing.changes(scope, limit=5)
        if page.changes:
            await self.parts.memory.facts.undoing.undo(project(scope), page.changes[-1].id, scope.user)

    async def talk(self, scope: Scope, number: int, at: int) -> None:
        async with self.parts.chats.conversations.of(scope) as own:
            messages = [
                MessageRecord(session_id=f"c{at}", role="user", content=f"{at} {one}") for one in range(number)
            ]
            await asyncio.to_thread(own.log.append_messages, f"c{at}", messages)
        self.parts.chats.quotas.has_stored(scope, "messages", number)
        self.talks[scope].append(f"c{at}")

    async def chat(self, scope: Scope, at: int) -> None:
        asked = replace(scope, conversation=f"c{at}")
        asking = ModelRequest(messages=[text_message("user", f"Hello {at}")], model="any")
        request = ChatRequest(request=asking, stream=True)
        recorded = await self.parts.chats.recorder.begin(request, Caller(scope=asked, request_id="r", memory=False))
        self.parts.chats.quotas.has_stored(scope, "messages", 2)
        gathering = Gathering()

        async def emit(batch: Sequence[Event]) -> None:
            gathering.take(batch)

        await self.parts.chats.recorder.answer(recorded, emit)
        usage = gathering.reply().usage
        self.tokens[scope.tenant] += usage.input_tokens + usage.output_tokens
        self.talks[scope].append(f"c{at}")

    async def clear(self, scope: Scope, talk: str) -> None:
        async with self.parts.chats.conversations.of(scope) as own:
            await asyncio.to_thread(own.log.clear_messages, talk)

    async def forget(self, scope: Scope, talk: str) -> None:
        await self.parts.upkeep.forgetting.forget(scope, talk)

    async def erase(self, scope: Scope) -> None:
        await self.parts.upkeep.subjects.erase(Person(tenant=scope.tenant, user=scope.user))

    async def use(self, scope: Scope, read: int, written: int) -> None:
        self.parts.chats.quotas.spent.note(scope, Used(read, written))
        self.tokens[scope.tenant] += read + written


def project(scope: Scope) -> Project:
    return Project(tenant=scope.tenant, project=scope.project)


def messages_in(files: Sequence[Path]) -> int:
    """The messages of all branches. Another process counts: a second SQLite in this one would undo its locks."""
    counted = subprocess.run([sys.executable, "-c", COUNTING, *files], capture_output=True, check=True, text=True)
    return int(counted.stdout)


async def stored(parts: Parts, tenant: str, user: str) -> dict[str, int]:
    """What there is of a user, counted row by row."""
    own = [scope for scope in SCOPES if (scope.tenant, scope.user) == (tenant, user)]
    files = [parts.chats.conversations.folder_of(scope) / SESSIONS_FILE for scope in own]
    return {
        "memories": sum([await parts.memory.facts.count(scope) for scope in own]),
        "messages": await asyncio.to_thread(messages_in, [file for file in files if file.exists()]),
    }


async def told(parts: Parts, tenant: str, user: str | None, *, fresh: bool) -> dict[str, int]:
    amount = parts.chats.quotas.stored.amount
    return {what: await amount(what, tenant, user, fresh=fresh) for what in ("memories", "messages")}


async def compare(parts: Parts, seed: int, after: int) -> None:
    for tenant in TENANTS:
        there = {user: await stored(parts, tenant, user) for user in USERS}
        for user in USERS:
            quick = await told(parts, tenant, user, fresh=False)
            assert all(quick[what] >= there[user][what] for what in quick), (seed, after, tenant, user, quick, there)
            assert await told(parts, tenant, user, fresh=True) == there[user], (seed, after, tenant, user)
        everybody = {what: sum(one[what] for one in there.values()) for what in ("memories", "messages")}
        assert await told(parts, tenant, None, fresh=True) == everybody, (seed, after, tenant)


def same_vectors(self: Encoder, batch: Sequence[Tokens]) -> tuple[np.ndarray, np.ndarray]:
    """What the model says of all passages alike: nothing here is found by its meaning, and it takes all the time."""
    hidden = np.full((len(batch), max(len(one.ids) for one in batch), 384), 0.05, np.float32)
    return hidden[:, 0], hidden


async def compare_tokens(parts: Parts, tokens: Counter[str], seed: int) -> None:
    await parts.chats.quotas.spent.aclose()  # writes what is new
    again = Spent(SqlUsage(parts.memory.database))
    await again.load()
    for tenant in TENANTS:
        for spent in (parts.chats.quotas.spent, again):
            of_users = [spent.now(tenant, user)[0].month.total for user in spent.users(tenant)]
            assert spent.now(tenant, None)[0].month.total == tokens[tenant] == sum(of_users), (seed, tenant)


async def test_after_ten_thousand_random_acts_the_sums_are_what_there_is(tmp_path, monkeypatch):
    monkeypatch.setattr(Encoder, "_run", same_vectors)
    seed = random.randrange(10**6)
    settings = {
        "storage.data_dir": str(tmp_path / "data"),
        "llm.provider": "offline",
        "log.level": "error",
        "quotas.user.memories": FAR,
        "quotas.user.messages": FAR,
    }
    parts = await open_parts(load_settings(None, settings, environ={}))
    acts = Acts(parts, random.Random(seed))
    try:
        await parts.start()
        for after in range(0, ACTS, AT_ONCE):
            some = [acts.next() for _ in range(AT_ONCE)]
            ended = await asyncio.gather(*(act() for _, act in some), return_exceptions=True)
            for (name, _), result in zip(some, ended, strict=True):
                is_refusal = isinstance(result, (NotFound, Conflict))
                assert is_refusal or not isinstance(result, BaseException), (seed, after, name, result)
            if (after + AT_ONCE) % CHECKED_EVERY == 0:
                await compare(parts, seed, after)
        await compare_tokens(parts, acts.tokens, seed)
    finally:
        await parts.aclose()
