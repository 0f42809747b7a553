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
from mnemoir.core.runs import NodeTrace, RecalledMemory, RunTrace, WorkflowTrace
from mnemoir.core.scope import Scope
from mnemoir.ports.holdings import DAILY_DAYS
from mnemoir.ports.run_store import RunFilter
from mnemoir.storage.sql.engine import queries
from mnemoir.storage.sql.run_rows import MOST_BYTES
from mnemoir.storage.sql.run_store import NoRuns, SqlRunStore
from mnemoir.storage.sqlite.data_file import known_steps, migrate
from mnemoir.storage.sqlite.opening import open_run_file
from tests.contracts.words import MIRA, SetClock
from tests.storage.sqlite.faulty_disk import faulty_disk

JON = Scope(project="demo", user="jon")
QUERIES = queries("runs/runs")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "runs.db"


@asynccontextmanager
async def opened(path, **bounds):
    store = SqlRunStore(open_run_file(path), **bounds)
    try:
        yield store
    finally:
        await store.aclose()


@pytest.fixture
async def store(path):
    async with opened(path) as store:
        yield store


def a_run(run_id, scope=MIRA, **members):
    return RunTrace(id=run_id, scope=scope, **members)


def a_node(prompt, **members):
    return NodeTrace(number=1, title="Answer", type="Standard", started_ms=0.5, prompt=prompt, **members)


def end(store, run, status="finished", **members):
    ended = replace(run, status=status, **members)
    store.note_end(ended)
    return ended


def happen(store, *runs):
    """Whole runs, one after the other."""
    for run in runs:
        store.note_begin(run)
        end(store, run)


async def ids(store, **asked):
    limit, before = asked.pop("limit", 100), asked.pop("before", None)
    return [run.id for run in await store.latest(limit=limit, before=before, only=RunFilter(**asked))]


async def test_a_run_that_ended_is_read_as_it_was(store):
    inner = WorkflowTrace(name="inner", folder="mira", nodes=[a_node([{"role": "user", "content": "Hi"}])])
    node = a_node(
        "What is tea?",
        output="A leaf.",
        memories=[RecalledMemory(text="Likes tea", id="mem_1")],
        notes=["cut"],
        children=[inner],
    )
    run = a_run("r1", model="mnemoir", stream=True, category="CHAT")
    store.note_begin(run)
    ended = end(store, run, workflows=[WorkflowTrace(name="outer", nodes=[node])], duration_ms=12.5)
    assert await store.get("r1") == ended


async def test_a_run_under_way_is_seen_as_it_stands(store):
    run = a_run("r1")
    store.note_begin(run)
    run.workflows.append(WorkflowTrace(name="chat", nodes=[a_node("Hello")]))
    assert await store.get("r1") == run
    assert [(seen.status, seen.workflow) for seen in await store.latest(limit=5)] == [("running", "chat")]


async def test_an_unknown_run_is_none(store):
    assert await store.get("no such run \ud800") is None
    assert await ids(store, before="no such run \ud800") == []


async def test_pages_go_back_in_the_order_of_beginning_whatever_the_clock_says(store):
    happen(store, *(a_run(f"r{n}", started_at=f"2026-01-0{9 - n}T00:00:00.000Z") for n in range(5)))
    assert await ids(store, limit=2) == ["r4", "r3"]
    assert await ids(store, limit=2, before="r3") == ["r2", "r1"]
    assert await ids(store, before="r0") == []


async def test_lists_are_narrowed_by_status(store):
    happen(store, a_run("good"))
    store.note_begin(a_run("going"))
    bad = a_run("bad")
    store.note_begin(bad)
    end(store, bad, "failed", error="The model is down.")
    assert await ids(store, status="running") == ["going"]
    assert [run.error for run in await store.latest(limit=9, only=RunFilter(status="failed"))] == [
        "The model is down."
    ]


async def test_lists_are_narrowed_by_words_of_the_question(store):
    happen(store, a_run("r1", question="Wie heißt der ÄRZTLICHE Notdienst?"), a_run("r2", question="Is it late?"))
    store.note_begin(a_run("going", question="Which doctor is on call, and is it far?"))
    happen(store, a_run("silent"))
    assert await ids(store, words="ärztliche notd") == ["r1"]
    assert await ids(store, words="it is") == ["going", "r2"]
    assert await ids(store, words="it is", status="finished") == ["r2"]
    assert await ids(store, words="it is", limit=1, before="going") == ["r2"]
    assert await ids(store, words="%") == []


async def test_only_so_many_are_kept(path):
    async with opened(path, most_runs=3) as store:
        happen(store, *(a_run(f"r{n}") for n in range(5)))
        assert await ids(store) == ["r4", "r3", "r2"]
        happen(store, a_run("r5"))
        assert await ids(store) == ["r5", "r4", "r3"]


async def test_none_is_kept_longer_than_said(path):
    clock = SetClock()
    async with opened(path, keep_days=7, clock=clock) as store:
        happen(store, a_run("old"))
        await ids(store)
        clock.move(days=6.9)
        happen(store, a_run("new"))
        await store.drop_old()
        assert await ids(store) == ["new", "old"]
        clock.move(days=0.2)
        await store.drop_old()
        assert await ids(store) == ["new"]


async def test_a_store_opened_again_goes_on_where_it_was(path):
    async with opened(path) as store:
        happen(store, a_run("r1"), a_run("r2"))
    async with opened(path) as store:
        happen(store, a_run("r3"))
        assert await ids(store) == ["r3", "r2", "r1"]


async def test_a_run_whose_process_ended_is_not_under_way_for_ever(path):
    async with opened(path) as store:
        store.note_begin(a_run("r1"))
    async with opened(path) as store:
        run = await store.get("r1")
        assert (run.status, "server was stopped" in run.error) == ("failed", True)
        assert await ids(store, status="running") == []


async def test_closing_writes_down_what_waits_and_may_be_done_twice(path):
    async with opened(path) as store:
        happen(store, a_run("r1"))
        await store.aclose()
        store.note_begin(a_run("late"))
        with pytest.raises(StorageUnavailable, match="closed"):
            await store.get("r1")
    async with opened(path) as store:
        assert await ids(store) == ["r1"]


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


@pytest.mark.parametrize("prompt", [None, "One text", [], [{"role": "user", "content": "Other words"}]])
async def test_what_the_client_sent_is_kept_where_no_prompt_holds_it(store, prompt):
    said = [{"role": "user", "content": "Hi"}, {"role": "user", "content": "Are you there?"}]
    happen(store, a_run("r1", asked=said, workflows=[WorkflowTrace(name="Chat", nodes=[a_node(prompt)])]))
    assert (await store.get("r1")).asked == said


async def test_traces_that_hold_much_leave_room_for_fewer_runs(path):
    async with opened(path, most_bytes=100_000) as store:
        for n in range(60):
            long = [WorkflowTrace(name="Chat", nodes=[a_node("word " * 2000)])]
            happen(store, a_run(f"long{n}", workflows=long))
            await store.count()
        kept = await ids(store)
    assert kept == [f"long{n}" for n in reversed(range(60 - len(kept), 60))]
    assert 9 <= len(kept) <= 12  # up to a quarter more than asked for
    async with opened(path, most_bytes=100_000) as store:
        assert await ids(store) == kept[:9]


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


async def test_more_than_can_wait_drops_the_oldest_and_counts_it(store):
    happen(store, *(a_run(f"r{n}") for n in range(600)))
    assert len(await ids(store, limit=1000)) == 512
    assert (await ids(store))[0] == "r599"
    assert store.left_out == 88


async def test_a_run_whose_end_was_dropped_is_not_shown_as_under_way(store):
    lost, going = a_run("lost"), a_run("going")
    store.note_begin(lost)
    store.note_begin(going)
    await ids(store)
    end(store, lost)
    happen(store, *(a_run(f"r{n}") for n in range(512)))
    assert await ids(store, status="running") == ["going"]
    assert (await store.get("lost")).status == "failed"


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


async def test_the_question_of_a_temporary_chat_is_not_kept(store):
    run = a_run("r1", question="quince marmalade", is_temporary=True)
    store.note_begin(run)
    assert [(await store.get("r1")).question, *[run.question for run in await store.latest(limit=9)]] == ["", ""]
    end(store, run)
    assert [(await store.get("r1")).question, *[run.question for run in await store.latest(limit=9)]] == ["", ""]


def spends(store, run_id, day, scope=MIRA, tokens=(10, 2)):
    """A run of some tokens on a day."""
    run = a_run(run_id, scope=scope, started_at=f"{day}T23:59:59.999Z")
    store.note_begin(run)
    node = a_node("Hi", input_tokens=tokens[0], output_tokens=tokens[1])
    end(store, run, workflows=[WorkflowTrace(name="Chat", nodes=[node, node])])


async def test_tokens_are_counted_by_day_and_outlive_their_runs(path):
    clock = SetClock()
    async with opened(path, most_runs=1, keep_days=1, clock=clock) as store:
        for run_id, day, scope in (("r1", "2026-01-20", MIRA), ("r2", "2026-01-21", JON), ("r3", "2026-01-21", MIRA)):
            spends(store, run_id, day, scope)
        happen(store, a_run("nothing", started_at="2026-01-19T00:00:00.000Z"))
        store.note_begin(a_run("going", started_at="2026-01-21T00:00:00.000Z"))
        assert await store.tokens(date(2026, 1, 1)) == {"2026-01-20": (20, 4), "2026-01-21": (40, 8)}
        assert await store.tokens(date(2026, 1, 21)) == {"2026-01-21": (40, 8)}
    clock.move(days=DAILY_DAYS - 1)
    async with opened(path, keep_days=1, clock=clock) as store:
        await store.drop_old()
        assert (await store.count(), await store.tokens(date(2026, 1, 1))) == (0, {"2026-01-21": (40, 8)})


async def test_the_tokens_of_a_forgotten_user_go_and_those_of_a_forgotten_conversation_stay(store):
    for scope in (MIRA, JON, replace(JON, project="other")):
        spends(store, f"{scope.project} {scope.user}", "2026-01-21", scope)
    await store.forget(replace(MIRA, conversation="tea"))
    assert await store.tokens(date(2026, 1, 1)) == {"2026-01-21": (60, 12)}
    await store.forget(MIRA)
    assert await store.tokens(date(2026, 1, 1)) == {"2026-01-21": (40, 8)}
    await store.forget(Scope(project="demo", user=""))
    assert await store.tokens(date(2026, 1, 1)) == {"2026-01-21": (20, 4)}


async def test_a_run_forgotten_under_way_stays_forgotten(store):
    run = a_run("r1")
    store.note_begin(run)
    await store.forget(MIRA)
    end(store, run)
    assert (await store.get("r1"), await ids(store)) == (None, [])


async def test_a_whole_project_is_forgotten_without_a_user(store):
    happen(store, a_run("r1"), a_run("r2", scope=JON), a_run("r3", scope=Scope(project="other", user="mira")))
    await store.forget(Scope(project="demo", user=""))
    assert await ids(store) == ["r3"]


async def test_texts_that_no_text_may_hold_are_kept_as_well_as_possible(store):
    run = a_run("r1", model="m\ud800", category="c\0d")
    store.note_begin(run)
    end(store, run, workflows=[WorkflowTrace(name="w\udfff", nodes=[a_node([{"n": 2**70, "x": float("nan")}])])])
    found = await store.get("r1")
    assert (found.model, found.category, found.workflows[0].name) == ("m?", "c\0d", "w?")
    assert [run.workflow for run in await store.latest(limit=1)] == ["w?"]


async def test_workflows_may_nest_deeply(store):
    trace = WorkflowTrace(name="deepest")
    for _ in range(100):
        trace = WorkflowTrace(name="outer", nodes=[a_node("p", children=[trace])])
    run = a_run("r1", workflows=[trace])
    happen(store, run)
    assert (await store.get("r1")).workflows == [trace]


async def test_a_trace_that_is_too_large_loses_most_of_its_long_texts(store):
    run = a_run("r1")
    store.note_begin(run)
    nodes = [a_node("p" * 100_000, output="o" * 100_000) for _ in range(60)]
    end(store, run, workflows=[WorkflowTrace(name="chat", nodes=nodes)])
    kept = (await store.get("r1")).workflows[0].nodes
    assert len(nodes) * 200_000 > MOST_BYTES
    assert {(len(node.prompt), len(node.output), len(node.notes)) for node in kept} == {(1000, 1000, 1)}


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
        SqlRunStore(open_run_file(path))


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
