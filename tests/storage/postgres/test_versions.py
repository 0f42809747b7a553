"""What one server changes in the database, another one over it goes by within a second; it asks for it once."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from mnemoir.core.errors import StorageUnavailable
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import Project, Visible
from mnemoir.search import Indexing, Question, Recall
from mnemoir.search.language import Languages
from mnemoir.storage.sql import SqlMemoryStore, SqlProjectSettings
from mnemoir.storage.sql.holds import Hold, Holds, LegalHold
from mnemoir.storage.sql.languages import SqlLanguages
from tests.contracts.words import ASKED, MIRA, SetClock, fact
from tests.postgres_server import PostgresServer, servers
from tests.search.hashed_words import HashedWords

pytest.importorskip("psycopg", reason="the package psycopg is not installed")
from mnemoir.storage.postgres.engine import PostgresEngine, open_postgres
from mnemoir.storage.postgres.versions import _FRESH_S

DEMO = Project(tenant="default", project="demo")


class Server:
    """One of several over a database; `reads` counts what it asked."""

    def __init__(self, engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.engine = engine
        self.settings = SqlProjectSettings(engine)
        self.reads = 0
        read = engine.read

        async def count(scope, work):
            self.reads += 1
            return await read(scope, work)

        monkeypatch.setattr(engine, "read", count)


@pytest.fixture
async def pair(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Server, Server]]:
    """Two of them."""
    dsn = servers.database_of(postgres.version, tmp_path)
    engines = [await asyncio.to_thread(open_postgres, dsn) for _ in range(2)]
    yield Server(engines[0], monkeypatch), Server(engines[1], monkeypatch)
    for engine in engines:
        await engine.aclose()


async def wait_until(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Fails after half a minute."""
    began = time.monotonic()
    while not await is_so():
        assert time.monotonic() < began + 30
        await asyncio.sleep(0.01)


async def wait_until_known(server: Server) -> None:
    """Until the project's settings are told without a question to the database."""

    async def is_known() -> bool:
        before = server.reads
        await server.settings.load(DEMO)
        return server.reads == before

    await wait_until(is_known)


async def test_a_policy_that_is_known_is_another_one_once_another_server_changes_it(pair):
    here, there = pair
    await here.settings.change(DEMO, lambda own: replace(own, pii_facts="tag"))
    await wait_until_known(there)
    assert (await there.settings.load(DEMO)).pii_facts == "tag"
    await here.settings.change(DEMO, lambda own: replace(own, pii_facts="block"))
    changed_at = time.monotonic()
    assert (await here.settings.load(DEMO)).pii_facts == "block"

    async def holds() -> bool:
        asked_at = time.monotonic()
        found: str | None = (await there.settings.load(DEMO)).pii_facts
        assert found == "block" or asked_at < changed_at + _FRESH_S
        return found == "block"

    await wait_until(holds)
    await wait_until_known(there)


async def test_settings_that_two_servers_change_at_once_are_all_there(pair):
    await asyncio.gather(*(wait_until_known(server) for server in pair))
    names = ["memories_days", "history_days", "deleted_days", "search_limit"]
    chosen = random.Random(3)
    for number in range(1, 6):
        changes = [(name, chosen.choice(pair)) for name in names]
        await asyncio.gather(
            *(
                server.settings.change(DEMO, lambda own, name=name, number=number: replace(own, **{name: number}))
                for name, server in changes
            )
        )
    for server in pair:
        own = await SqlProjectSettings(server.engine).load(DEMO)
        assert [getattr(own, name) for name in names] == [5, 5, 5, 5]


async def test_a_search_finds_what_another_server_stored_just_now(pair):
    model, clock = HashedWords(), SetClock()
    here, there = (SqlMemoryStore(server.engine, clock) for server in pair)
    recall, asked = Recall(there, model), Question(text="What tea does she drink?", asked_at=clock.now)
    assert (await recall.search(MIRA, asked, Visible(now=clock.now))).hits == []
    for text in ("Drinks green tea", "Drinks black tea"):
        (entry,) = await Indexing(model).entries([Passage(text=text)])
        await here.commit(MIRA, [replace(fact(text), entry=entry)], ASKED)
        found = await recall.search(MIRA, asked, Visible(now=clock.now))
        assert text in [hit.memory.text for hit in found.hits]


async def test_a_user_whom_one_server_put_on_hold_is_on_hold_at_the_other(pair):
    here, there = (Holds(server.engine) for server in pair)
    await there.refuse(MIRA)
    await here.put(Hold(tenant=MIRA.tenant, user=MIRA.user, reason="case 7", set_at="2026-01-01", set_by="test"))
    with pytest.raises(LegalHold):
        await there.refuse(MIRA)
    await there.clear(MIRA.tenant, MIRA.user)
    await here.refuse(MIRA)


@pytest.mark.costly("it loads the detector of languages")
async def test_a_short_question_is_in_the_language_of_the_last_longer_one_at_any_server(pair):
    here, there = (Languages(SqlLanguages(server.engine)) for server in pair)

    async def ask(languages: Languages, text: str) -> str:
        language = await languages.of(MIRA, text)
        await languages.note(MIRA, text, language)
        return language

    await SqlMemoryStore(pair[0].engine, SetClock()).commit(MIRA, [fact("Drinks green tea")], ASKED)
    assert await ask(there, "Vegan?") == "en"
    await ask(here, "In welcher Stadt ist sie zu Hause?")
    assert (await ask(there, "Vegan?"), await ask(here, "Vegan?")) == ("de", "de")
    await ask(there, "In which town is she at home?")
    assert await ask(here, "Vegan?") == "en"
    await ask(here, "In welcher Stadt ist sie zu Hause?")
    assert await ask(there, "Vegan?") == "de"


@pytest.mark.slow
async def test_no_read_of_many_on_random_servers_is_older_than_a_second(pair):
    chosen = random.Random(11)
    told: dict[Project, list[tuple[float, int]]] = {}  # when each value was there at the latest
    projects = [Project(tenant="default", project=f"p{number}") for number in range(50)]

    async def act(number: int) -> None:
        server, project = chosen.choice(pair), chosen.choice(projects)
        if chosen.random() < 0.2:
            await server.settings.change(
                project, lambda own: replace(own, search_limit=max(number, own.search_limit or 0))
            )
            told.setdefault(project, []).append((time.monotonic(), number))
            return
        asked_at = time.monotonic()
        needed = max((value for at, value in told.get(project, []) if at < asked_at - _FRESH_S), default=0)
        assert ((await server.settings.load(project)).search_limit or 0) >= needed

    for first in range(1, 5_000, 10):
        await asyncio.gather(*(act(first + each) for each in range(10)))
    assert sum(server.reads for server in pair) < 4_000


@pytest.mark.slow
async def test_settings_are_not_told_from_memory_while_nobody_knows_whether_they_changed(monkeypatch):
    with PostgresServer(18) as database:
        engine = await asyncio.to_thread(open_postgres, database.dsn)
        server = Server(engine, monkeypatch)
        await wait_until_known(server)
        database.pause()

        async def is_unknown() -> bool:
            try:
                await server.settings.load(DEMO)
            except StorageUnavailable:
                return True
            return False

        await wait_until(is_unknown)
        database.resume()
        with suppress(StorageUnavailable):
            await wait_until_known(server)
        await engine.aclose()
