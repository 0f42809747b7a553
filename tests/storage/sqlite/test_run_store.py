"""Runs are written down behind the requests, within bounds, and can be forgotten without a trace."""

import asyncio
import re
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date

import apsw
import pytest
from structlog.testing import capture_logs

from mnemoir.core.errors import NotFound, Overloaded, StorageUnavailable
from mnemoir.core.runs import RecalledMemory, WorkflowTrace
from mnemoir.core.scope import Scope
from mnemoir.storage.sql.engine import queries
from mnemoir.storage.sql.run_store import NoRuns, SqlRunStore
from mnemoir.storage.sqlite.data_file import known_steps, migrate
from mnemoir.storage.sqlite.opening import open_run_file
from tests.contracts.run_kit import a_node, a_run, end, happen, ids
from tests.contracts.words import MIRA
from tests.storage.sqlite.faulty_disk import faulty_disk

JON = Scope(project="demo", user="jon")
QUERIES = queries("runs/runs")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "runs.db"


@asynccontextmanager
async def opened(path, **bounds):
    store = SqlRunStore(open_run_file(path), path, **bounds)
    try:
        yield store
    finally:
        await store.aclose()


@pytest.fixture
async def store(path):
    async with opened(path) as store:
        yield store


async def test_without_anyone_looking_runs_are_written_soon(store, path):
    happen(store, a_run("r1"))
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    async with asyncio.timeout(60):
        while not await asyncio.to_thread(lambda: connection.execute("SELECT count(*) FROM runs").get):
            pass
    connection.close()


async def test_followers_hear_of_beginnings_and_ends(store):
    following = store.follow()
    heard = asyncio.ensure_future(anext(following))
    await asyncio.sleep(0)
    happen(store, a_run("r1"))
    assert [(await heard).status, (await anext(following)).status] == ["running", "finished"]
    await following.aclose()


async def test_only_who_asks_for_nodes_hears_of_them(store):
    feeds = [store.follow(), store.follow(nodes=True)]
    heard = [asyncio.ensure_future(anext(feed)) for feed in feeds]
    await asyncio.sleep(0)
    run, node = a_run("r1"), a_node("What is tea?")
    store.note_begin(run)
    store.note_node(run, node)
    store.note_node(run, replace(node, duration_ms=2.0))
    store.note_node(run, replace(node, duration_ms=2.0, error="The model is away."))
    end(store, run)
    assert [(await one).id for one in heard] == ["r1", "r1"]
    assert (await anext(feeds[0])).status == "finished"
    moves = [await anext(feeds[1]) for _ in range(3)]
    assert [(move.run_id, move.title, move.state) for move in moves] == [
        ("r1", "Answer", state) for state in ("running", "finished", "failed")
    ]
    assert (await anext(feeds[1])).status == "finished"
    for feed in feeds:
        await feed.aclose()


async def test_a_follower_who_does_not_listen_misses_nodes_before_runs(store):
    following = store.follow(nodes=True)
    heard = asyncio.ensure_future(anext(following))
    await asyncio.sleep(0)
    run = a_run("r1")
    store.note_begin(run)
    await heard
    for _ in range(1000):
        store.note_node(run, a_node("What is tea?"))
    end(store, run)
    told = [await anext(following) for _ in range(256)]
    assert (told[0].state, told[-1].status) == ("running", "finished")
    await following.aclose()


async def test_what_the_client_sent_and_the_first_model_was_asked_is_written_once(store, path):
    entry = lambda role, content: {"role": role, "content": content}  # noqa: E731
    said = [entry("system", "Be brief."), entry("user", "a long question " * 200), entry("user", "And now?")]
    prompt = [entry("note", "2 earlier messages are not shown."), *said[:2], entry("user", "Recalled. And now?")]
    run = a_run("r1", asked=said, workflows=[WorkflowTrace(name="Chat", nodes=[a_node(prompt), a_node(said)])])
    happen(store, run)
    assert (await store.get("r1")).asked == said
    [(kept,)] = apsw.Connection(str(path)).execute("SELECT json_extract(trace, '$.asked') FROM runs")
    assert kept == '[1,2,{"role":"user","content":"And now?"}]'


async def test_a_follower_who_does_not_listen_misses_the_oldest(store):
    following = store.follow()
    heard = asyncio.ensure_future(anext(following))
    await asyncio.sleep(0)
    store.note_begin(a_run("first"))
    assert (await heard).id == "first"
    happen(store, *(a_run(f"r{n}") for n in range(1000)))
    assert (await anext(following)).id == "r872"
    await following.aclose()


async def test_followers_are_let_go_at_the_end(path):
    async with opened(path) as store:
        heard = asyncio.ensure_future(anext(store.follow(), None))
        await asyncio.sleep(0)
    assert await heard is None


async def test_there_are_only_so_many_places_to_follow(store):
    feeds = [store.follow() for _ in range(64)]
    waiting = [asyncio.ensure_future(anext(feed)) for feed in feeds]
    await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        store.follow()
    store.note_begin(a_run("r1"))
    await asyncio.gather(*waiting)
    for feed in feeds:
        await feed.aclose()
    assert store.follow() is not None


async def test_what_is_forgotten_is_nowhere_in_the_folder_while_the_store_is_open(store, path):
    secret = "quince marmalade"
    for n in range(30):
        run = a_run(f"r{n}", scope=MIRA if n % 2 else JON, workflows=[])
        store.note_begin(run)
        end(store, run, workflows=[WorkflowTrace(name="chat", nodes=[a_node(f"{run.scope.user} {secret} " * 500)])])
    await ids(store)
    happen(store, a_run("waits", workflows=[WorkflowTrace(name=f"mira {secret}")]))
    await store.forget(MIRA)
    stored = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert (f"mira {secret}".encode() in stored, f"jon {secret}".encode() in stored) == (False, True)
    assert await ids(store) == [f"r{n}" for n in range(28, -1, -2)]


async def test_questions_of_a_forgotten_conversation_are_nowhere_in_the_folder(store, path):
    other, tea = replace(MIRA, conversation="other"), replace(MIRA, conversation="tea")
    happen(store, a_run("r1", scope=tea, question="quince marmalade"), a_run("r2", scope=other, question="plum jam"))
    await ids(store)
    await store.forget(tea)
    stored = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert (b"quince" in stored, b"plum" in stored) == (False, True)


@pytest.mark.parametrize("has_ended", [False, True])
async def test_a_run_is_forgotten_whose_row_does_not_tell_yet_that_it_was_shown_memories(store, has_ended):
    run = a_run("r1", scope=replace(MIRA, conversation="tea"))
    store.note_begin(run)
    assert await ids(store) == ["r1"]  # its beginning is written
    node = a_node("What do I drink?", memories=[RecalledMemory(text="She drinks tea.")])
    run.workflows = [WorkflowTrace(name="chat", nodes=[node])]
    if has_ended:
        end(store, run)
    await store.forget(replace(MIRA, conversation="other"))
    assert await ids(store) == []


async def test_a_full_disk_costs_traces_and_no_request(path):
    with faulty_disk() as disk:
        async with opened(path) as store:
            going, lost = a_run("going"), a_run("lost")
            store.note_begin(going)
            store.note_begin(lost)
            await ids(store)
            disk.arm(1, apsw.FullError)
            end(store, lost)
            with capture_logs() as logged:
                await ids(store)
            assert disk.disarm()
            assert [line["event"] for line in logged] == ["run traces not written"]
            happen(store, a_run("next"))
            assert await ids(store, status="finished") == ["next"]
            assert await ids(store, status="running") == ["going"]
            assert store.left_out == 1


@pytest.mark.parametrize("damage", [b"no database at all", b"SQLite format 3\0" + b"\xff" * 5000])
async def test_a_damaged_file_is_begun_anew_and_the_log_says_so(path, damage):
    async with opened(path) as store:
        happen(store, a_run("r1"))
    path.write_bytes(damage)
    with capture_logs() as logged:
        async with opened(path) as store:
            happen(store, a_run("r2"))
            assert await ids(store) == ["r2"]
    assert [(line["event"], line["file"]) for line in logged] == [("run traces damaged", str(path))]


async def test_a_file_found_damaged_while_it_is_used_is_begun_anew(path):
    async with opened(path) as store:
        happen(store, *(a_run(f"r{n}", workflows=[WorkflowTrace(name="w" * 3000)]) for n in range(30)))
    raw = bytearray(path.read_bytes())
    raw[4096 * 10 : -4096] = b"\xff" * (len(raw) - 4096 * 11)
    path.write_bytes(raw)
    with capture_logs() as logged:
        async with opened(path) as store:
            await ids(store)
            happen(store, a_run("new"))
            assert (await ids(store))[0] == "new"
    assert {line["event"] for line in logged} == {"run traces damaged"}


async def test_the_database_of_another_program_is_refused(path):
    path.parent.mkdir()
    apsw.Connection(str(path)).execute("CREATE TABLE theirs (x)")
    with pytest.raises(StorageUnavailable, match="not a database of Mnemoir"):
        SqlRunStore(open_run_file(path), path)


async def test_the_files_are_private(store, path):
    happen(store, a_run("r1"))
    await ids(store)
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_fits_the_schema_and_says_what_it_gives(name):
    connection = apsw.Connection(":memory:")
    migrate(connection, known_steps("runs"))
    assert QUERIES[name].startswith("-- ")
    connection.execute(f"EXPLAIN {QUERIES[name]}", dict.fromkeys(re.findall(r":(\w+)", QUERIES[name])))


async def test_without_traces_whoever_looks_is_told_how_to_have_them():
    runs = NoRuns()
    happen(runs, a_run("r1"))
    await runs.forget(MIRA)
    assert await runs.tokens(date(2026, 1, 1)) == {}
    for look in (lambda: runs.get("r1"), lambda: runs.latest(limit=1)):
        with pytest.raises(NotFound, match=r"Set runs\.enabled to true"):
            await look()
    with pytest.raises(NotFound):
        runs.follow()
    await runs.aclose()
