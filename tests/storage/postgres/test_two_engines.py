"""SQLite and PostgreSQL, plain and encrypted: the same changes have the same answers and ranks."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemoir.core.clock import to_text
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.memories import Applied, Memory, Provenance, SourceTurn
from mnemoir.ports.embedding import Passage
from mnemoir.ports.memory_store import ListFilter, Receipt, StaleChange, Visible
from mnemoir.search import Indexing, Question, Recall
from mnemoir.storage.sealing.key_ring import KeyRing
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import ALL, DEMO, MIRA, NOW, SetClock, fact, message, remove, rewrite, within
from tests.narrowing import instance
from tests.postgres_server import servers
from tests.search.hashed_words import HashedWords
from tests.storage.sealing_kit import cells_in

pytest.importorskip("psycopg", reason="the package psycopg is not installed")
from mnemoir.storage.postgres.engine import open_postgres

TEXTS = [
    "Drinks green tea", "Drinks black tea", "Lives in Graz", "Lives in Linz", "Has a red bicycle", "Ist Vegetarierin",
    "Works as a nurse", "likes TEA!", "Keeps bees on the roof", "ﬁve cats ß Ω 猫",
]  # fmt: skip
QUESTIONS = ["What does she drink?", "Where does she live?", "bicycle", "Wovon lebt sie?", "猫", "tea tea nurse"]
WORDS = ["tea", "GRAZ", "ß", "%"]
SESSIONS = ["s1", "s2"]
PLACES = [MIRA, within(MIRA, agent="a1"), within(MIRA, conversation="s1")]
STEP = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(TEXTS), st.sampled_from(SESSIONS), st.sampled_from(PLACES)),
    st.tuples(st.just("say"), st.sampled_from(TEXTS), st.sampled_from(SESSIONS), st.sampled_from(PLACES)),
    st.tuples(st.just("rewrite"), st.integers(0, 9), st.sampled_from(TEXTS), st.sampled_from(SESSIONS)),
    st.tuples(st.just("remove"), st.integers(0, 9)),
    st.tuples(st.just("delete"), st.integers(0, 9)),
    st.tuples(st.just("forget"), st.sampled_from(SESSIONS)),
    st.tuples(st.just("expunge"), st.integers(0, 9)),
    st.tuples(st.just("wait"), st.integers(1, 200)),
)


@pytest.mark.slow
@pytest.mark.parametrize("version", [18, 15])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, min_size=5, max_size=30))
def test_equal_changes_have_equal_answers_and_ranks(version, tmp_path_factory, steps):
    asyncio.run(compare(version, tmp_path_factory.mktemp("engines"), steps))
    servers.release()


async def compare(version: int, folder: Path, steps) -> None:
    clock, model, cells = SetClock(), HashedWords(), cells_in(folder)
    plain, sealed = (servers.database_of(version, folder / name) for name in ("plain", "sealed"))
    engines: list[Any] = [
        open_database(folder / "mnemoir.db"),
        await asyncio.to_thread(open_postgres, plain),
        await asyncio.to_thread(open_postgres, sealed, cells=cells),
    ]
    stores = [SqlMemoryStore(engine, clock) for engine in engines]
    recalls = [Recall(store, model) for store in stores]
    entries = dict(zip(TEXTS, await Indexing(model).entries([Passage(text=text) for text in TEXTS]), strict=True))
    known: list[Memory] = []
    try:
        for step in steps:
            if step[0] == "wait":
                clock.move(hours=step[1])
                continue
            act = action(step, known, entries, clock)
            told = [await outcome(act, store) for store in stores]
            assert told == [told[0]] * 3, step
            known += [one.memory for one in told[0] if isinstance(one, Applied)] if isinstance(told[0], list) else []
        reads = [await reads_of(store, known) for store in stores]
        assert reads == [reads[0]] * 3
        ranks = [[await rank(recall, question, clock) for question in QUESTIONS] for recall in recalls]
        assert ranks == [ranks[0]] * 3
    finally:
        for engine in engines:
            await engine.aclose()
        instance(KeyRing, cells.keys).close()


def action(step, known, entries, clock) -> Callable[[SqlMemoryStore], Awaitable[Any]]:
    """What a step does, the same to each store."""
    kind, first, *rest = step
    if kind in ("add", "say"):
        session, scope = rest
        make = fact if kind == "add" else message
        made = make(first, scope=scope, created_at=to_text(clock.now), metadata={"session_id": session})
        add, receipt = replace(made, entry=entries[first]), Receipt(key=first[:9] + session, request_hash=first)
        return lambda store: store.commit(scope, [add], said_in(session, first), receipt=receipt)
    if kind == "forget":
        return lambda store: store.forget_session(MIRA, first)
    if not known:
        return lambda store: store.count(MIRA, ALL)
    target = known[first % len(known)]
    if kind == "rewrite":
        update = replace(rewrite(target, rest[0]), entry=entries[rest[0]])
        return lambda store: store.commit(MIRA, [update], said_in(rest[1], rest[0]))
    if kind == "remove":
        return lambda store: store.commit(MIRA, [remove(target)], said_in("s1", "gone"))
    if kind == "expunge":
        return lambda store: store.expunge(MIRA, [target.id])
    return lambda store: store.delete(MIRA, target.id)


async def outcome(act, store) -> Any:
    try:
        return await act(store)
    except (StaleChange, InvalidRequest) as exc:
        return type(exc).__name__


async def reads_of(store, known) -> Any:
    """All that can be read, without the ids that each store gives by itself."""
    ids = list(dict.fromkeys(memory.id for memory in known))
    changes = await store.changes(MIRA, limit=100)
    return [
        [await store.page(scope, ALL, limit=100) for scope in PLACES],
        [await store.count(scope, ALL) for scope in PLACES],
        [await store.get(MIRA, memory_id) for memory_id in ids],
        [await store.memory_at_removal(MIRA, memory_id) for memory_id in ids],
        [[(e.event, e.old_text, e.new_text, e.reason) for e in await store.history(MIRA, one)] for one in ids],
        [(change.at, change.session, change.rows) for change in changes.changes],
        [
            await store.select(MIRA, ListFilter(visible=ALL, words=word), limit=50)
            for word in ("tea", "GRAZ", "ß", "%")
        ],
        await store.reading(lambda view: [row.seq for row in view.rows_since(MIRA, -1)]),
        await store.users(DEMO),
        await store.counts(),
    ]


async def rank(recall, question, clock) -> Any:
    asked = Question(text=question, asked_at=clock.now)
    found = await recall.search(MIRA, asked, Visible(now=clock.now))
    return [(hit.memory.id, hit.memory.text, round(hit.score, 9)) for hit in found.hits]


def said_in(session: str, text: str) -> Provenance:
    turn = SourceTurn(role="user", text=text, speaker="Mira", said_at=to_text(NOW), message_uid=f"m-{text}")
    return Provenance(reason="extracted", model="offline", turns=(turn,), session=session)
