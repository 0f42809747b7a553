"""A server that starts with a wrong clock deletes nothing by it, of whatever kind, and says so."""

import os
import time
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import apsw
import pytest
import structlog

from mnemoir.app.parts import Parts
from mnemoir.chats.clock_trust import ClockTrust
from mnemoir.chats.pruning import Pruning
from mnemoir.conversations.nodes.keys import corrupt_copy_key, node_key
from mnemoir.core import clock
from mnemoir.core.clock import to_text, utc_now
from mnemoir.core.clock_guard import elapsed_s
from mnemoir.core.data_directory import ACCESS_FILE, CONVERSATIONS, DATABASE_FILE, RUNS_FILE, SESSIONS_FILE
from mnemoir.core.ids import MemoryId, new_proposal_id
from mnemoir.core.memories import Memory
from mnemoir.core.proposals import Proposal
from mnemoir.core.scope import Scope
from mnemoir.core.users import Grant
from mnemoir.server import ServerOptions, create_app
from mnemoir.storage.sql.ageing import SqlStamps, Stamp
from tests.server.server_kit import Server, error_of
from tests.upkeep.cut_kit import opened, settings_of

KEPT_SHORTLY = {
    "retention.memories_days": 30,
    "retention.history_days": 30,
    "retention.deleted_days": 30,
    "memory.auto_prune_days": 30,
    "runs.keep_days": 7,
    "audit.keep_days": 30,
}
NOTED = {"stamps", "migrations", "catalogue", "catalogued_days", "catalogued_conversations"}


class SetDatetime(datetime):
    """The clock of the program, ahead of the real one by `AHEAD`."""

    AHEAD = timedelta()

    @classmethod
    def now(cls, tz=None):
        return datetime.now(tz) + cls.AHEAD


@pytest.fixture
def ahead(monkeypatch):
    """Sets the clock ahead by so many days."""
    monkeypatch.setattr(clock, "datetime", SetDatetime)

    def move(days: float) -> None:
        monkeypatch.setattr(SetDatetime, "AHEAD", timedelta(days=days))

    return move


@pytest.fixture
def settings(tmp_path):
    return settings_of(tmp_path / "data", **KEPT_SHORTLY)


BY_HAND = (
    ("/api/retention/run", None),
    ("/api/conversations/prune", {"user_id": "mira", "days": 30}),
    ("/api/conversations/node-memory/cleanup", {"user_id": "mira", "older_than_days": 30}),
)


async def everything_that_ends(parts: Parts) -> None:
    """A memory with history, a deleted one, a proposal, receipts, a job, a chat, a run, a session, an invitation."""
    server = Server(app=create_app(parts, ServerOptions(is_in_process=True)), parts=parts)
    for text, key in (("I row", "k1"), ("I sail", "k2")):
        said = {"messages": [{"role": "user", "content": text}], "user_id": "mira", "infer": False}
        added = await server.post("/api/memories", said, idempotency_key=key)
        memory = f"/api/memories/{added['results'][0]['id']}"
        await server.ask("PATCH", memory, {"memory": f"{text} at dawn", "user_id": "mira"})
    await server.ask("DELETE", memory)
    chat = {"model": "mnemoir", "user": "mira", "conversation_id": "talk", "memoryEnabled": True}
    chat["messages"] = [{"role": "user", "content": "My aunt is called Ada"}]
    await server.post("/v1/chat/completions", chat)
    jobs = parts.upkeep.jobs
    while job := await jobs.claim("test", 60):
        await jobs.succeed(job, {})
    waits = Proposal(
        id=new_proposal_id(),
        event="ADD",
        memory=Memory(id=MemoryId("m1"), text="Rides", user="mira", created_at="2026-01-01"),
        reason="extracted",
        proposed_at=to_text(utc_now()),
    )
    await parts.memory.proposals.add(Scope(project="default", user="mira"), [waits])
    users = parts.access.users
    user, _ = users.join(users.invite(Grant(role="admin"), by="test")[1], "anna", password_hash="made up")
    parts.access.sessions.begin(user, how="password", agent="", address="::1")
    users.invite(Grant(role="read"), by="test")
    parts.access.keyless_clients.note("Curl", "curl/8.9")
    await parts.upkeep.message_vectors.aclose()


async def damaged_copy(parts: Parts) -> Path:
    """The file of a damaged node memory that was set aside two months ago, of a conversation that is there."""
    async with parts.chats.conversations.of(Scope(project="default", user="mira")) as own:
        key = corrupt_copy_key(node_key("app", "talk", "node"), utc_now())
        own.node_parts.objects.save(key, b"{")
    (path,) = parts.settings.storage.data_dir.glob(f"{CONVERSATIONS}/*/*/objects/{key}")
    long_ago_s = time.time() - 60 * 24 * 3600
    os.utime(path, (long_ago_s, long_ago_s))
    return path


def rows_of(data: Path) -> dict[str, int]:
    """How many rows each table of each database has."""
    found = {}
    (talks,) = (data / CONVERSATIONS).glob(f"*/*/{SESSIONS_FILE}")
    for path in (data / DATABASE_FILE, data / ACCESS_FILE, data / RUNS_FILE, talks):
        with closing(apsw.Connection(str(path))) as connection:
            tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
            for name in {str(name) for (name,) in tables} - NOTED:
                count = f'SELECT count(*) FROM "{name}"'  # noqa: S608  # its own tables
                found[f"{path.name} {name}"] = connection.execute(count).get
    return found


async def look(pruning: Pruning) -> None:
    """What a running server does each hour."""
    await pruning.expire_if_due()
    await pruning.prune_if_due()


ENDED = (
    "memories",
    "history",
    "receipts",
    "jobs",
    "proposals",
    "runs",
    "audit",
    "sessions",
    "user_sessions",
    "invitations",
    "messages",
)


def of_tables(rows: dict[str, int]) -> dict[str, int]:
    """The numbers of rows of what ends, by table."""
    return {name: sum(count for at, count in rows.items() if at.endswith(f" {name}")) for name in ENDED}


async def test_started_with_a_clock_far_ahead_and_then_set_right_nothing_is_gone(settings, ahead):
    data = settings.storage.data_dir
    async with opened(settings) as parts:
        await everything_that_ends(parts)
        await SqlStamps(parts.memory.database).write(Stamp.CLOCK, utc_now())
    before = rows_of(data)
    assert all(of_tables(before).values()), before
    ahead(days=400)
    async with opened(settings) as parts:
        with structlog.testing.capture_logs() as log:
            await look(parts.upkeep.pruning)
            await look(parts.upkeep.pruning)
        (told,) = [line["cause"] for line in log if line["log_level"] == "warning"]
        assert "the clock is 400.0 days after" in told
    ahead(days=0)
    async with opened(settings) as parts:
        await look(parts.upkeep.pruning)
        assert len(parts.access.keyless_clients.recent_clients()) == 1
    assert rows_of(data) == before


async def test_what_is_asked_by_hand_deletes_nothing_by_a_clock_far_ahead_and_is_told_why(settings, ahead):
    data = settings.storage.data_dir
    async with opened(settings) as parts:
        await everything_that_ends(parts)
        await SqlStamps(parts.memory.database).write(Stamp.CLOCK, utc_now())
    before = rows_of(data)
    ahead(days=400)
    async with opened(settings) as parts:
        server = Server(app=create_app(parts, ServerOptions(is_in_process=True)), parts=parts)
        damaged = await damaged_copy(parts)
        for target, body in BY_HAND:
            refused = await server.ask("POST", target, body)
            assert error_of(refused) == (409, "clock_not_trusted"), target
            assert b"the clock is 400.0 days after" in refused.body
        counted = await server.post("/api/retention/run?dry_run=true", None)
        assert counted["counts"]["memories"] > 0
        await server.post("/api/conversations/node-memory/cleanup", {"user_id": "mira"})
        assert damaged.exists()
    assert rows_of(data) == before


async def test_of_what_ends_all_goes_by_a_clock_that_is_not_set_right_within_an_hour(settings, ahead):
    passed_s = [elapsed_s()]
    async with opened(settings) as parts:
        await everything_that_ends(parts)
    before = of_tables(rows_of(settings.storage.data_dir))
    ahead(days=400)
    async with opened(settings) as parts:
        stamps = SqlStamps(parts.memory.database)
        pruning = Pruning(parts.upkeep.holdings, 30, ClockTrust(stamps, elapsed=lambda: passed_s[0]))
        await look(pruning)
        assert of_tables(rows_of(settings.storage.data_dir)) == before
        passed_s[0] += 3601
        await look(pruning)
    after = of_tables(rows_of(settings.storage.data_dir))
    assert {name for name in ENDED if after[name] >= before[name]} == set()


async def add_once(parts: Parts) -> list[str]:
    """A request that is made under one key; the ids of what it added."""
    server = Server(app=create_app(parts, ServerOptions(is_in_process=True)), parts=parts)
    said = {"messages": [{"role": "user", "content": "I row"}], "user_id": "mira", "infer": False}
    added = await server.post("/api/memories", said, idempotency_key="k1")
    return [one["id"] for one in added["results"]]


async def number_of_memories(parts: Parts) -> int:
    server = Server(app=create_app(parts, ServerOptions(is_in_process=True)), parts=parts)
    return len((await server.get("/api/memories?user_id=mira"))["results"])


@pytest.mark.parametrize("backend", ["sqlite", "file"])
@pytest.mark.parametrize("days", [2, 400, -400])
async def test_a_request_repeated_under_its_key_counts_once_while_the_clock_is_not_trusted(
    tmp_path, ahead, days, backend
):
    stored = {"storage.backend": backend, "storage.workspace_root": str(tmp_path / "workspace")}
    settings = settings_of(tmp_path / "data", **stored)
    async with opened(settings) as parts:
        first = await add_once(parts)
        await parts.upkeep.pruning.expire_if_due()
        ahead(days=days)  # of a running server
        assert await add_once(parts) == first
    async with opened(settings) as parts:  # which starts with it, and at the end for the first time
        assert await add_once(parts) == first
        await parts.upkeep.pruning.expire_if_due()
        assert await add_once(parts) == first
        ahead(days=0)
        assert await add_once(parts) == first
        assert await number_of_memories(parts) == 1


@pytest.mark.usefixtures("trusted_clock")
async def test_a_key_ends_after_a_day_by_a_clock_that_is_trusted(tmp_path, ahead):
    async with opened(settings_of(tmp_path / "data")) as parts:
        await parts.upkeep.pruning.expire_if_due()
        first = await add_once(parts)
        ahead(days=0.9)
        assert await add_once(parts) == first
        ahead(days=1.1)
        assert await add_once(parts) != first
