"""Runs are written down behind the requests, within bounds, in one order, and are ended when their worker is gone."""

import asyncio
import os
import signal
from dataclasses import replace
from datetime import date

import pytest

from mnemoir.core.data_directory import RUNS_FILE
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.runs import RecalledMemory, WorkflowTrace
from mnemoir.core.scope import Scope
from mnemoir.ports.holdings import DAILY_DAYS
from mnemoir.ports.run_store import RunFilter
from mnemoir.storage.sql.engine import queries
from mnemoir.storage.sql.run_rows import MOST_BYTES
from mnemoir.storage.sql.run_store import SqlRunStore
from tests.contracts.run_kit import a_node, a_run, end, happen, ids
from tests.contracts.words import MIRA, SetClock

QUERIES = queries("runs/runs")
JON = Scope(project="demo", user="jon")


@pytest.fixture
async def store(open_runs):
    async with open_runs() as store:
        yield store


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


async def test_only_so_many_are_kept(open_runs):
    async with open_runs(most_runs=3) as store:
        happen(store, *(a_run(f"r{n}") for n in range(5)))
        assert await ids(store) == ["r4", "r3", "r2"]
        happen(store, a_run("r5"))
        assert await ids(store) == ["r5", "r4", "r3"]


async def test_none_is_kept_longer_than_said(open_runs):
    clock = SetClock()
    async with open_runs(keep_days=7, clock=clock) as store:
        happen(store, a_run("old"))
        await ids(store)
        clock.move(days=6.9)
        happen(store, a_run("new"))
        await store.drop_old()
        assert await ids(store) == ["new", "old"]
        clock.move(days=0.2)
        await store.drop_old()
        assert await ids(store) == ["new"]


async def test_a_store_opened_again_goes_on_where_it_was(open_runs):
    async with open_runs() as store:
        happen(store, a_run("r1"), a_run("r2"))
    async with open_runs() as store:
        happen(store, a_run("r3"))
        assert await ids(store) == ["r3", "r2", "r1"]


async def test_a_run_whose_process_ended_is_not_under_way_for_ever(open_runs):
    async with open_runs() as store:
        store.note_begin(a_run("r1"))
    async with open_runs() as store:
        run = await store.get("r1")
        assert (run.status, "server was stopped" in run.error) == ("failed", True)
        assert await ids(store, status="running") == []


async def test_closing_writes_down_what_waits_and_may_be_done_twice(open_runs):
    async with open_runs() as store:
        happen(store, a_run("r1"))
        await store.aclose()
        store.note_begin(a_run("late"))
        with pytest.raises(StorageUnavailable, match="closed"):
            await store.get("r1")
    async with open_runs() as store:
        assert await ids(store) == ["r1"]


@pytest.mark.parametrize("prompt", [None, "One text", [], [{"role": "user", "content": "Other words"}]])
async def test_what_the_client_sent_is_kept_where_no_prompt_holds_it(store, prompt):
    said = [{"role": "user", "content": "Hi"}, {"role": "user", "content": "Are you there?"}]
    happen(store, a_run("r1", asked=said, workflows=[WorkflowTrace(name="Chat", nodes=[a_node(prompt)])]))
    assert (await store.get("r1")).asked == said


async def test_traces_that_hold_much_leave_room_for_fewer_runs(open_runs):
    async with open_runs(most_bytes=100_000) as store:
        for n in range(60):
            long = [WorkflowTrace(name="Chat", nodes=[a_node("word " * 2000)])]
            happen(store, a_run(f"long{n}", workflows=long))
            await store.count()
        kept = await ids(store)
    assert kept == [f"long{n}" for n in reversed(range(60 - len(kept), 60))]
    assert 6 <= len(kept) <= 12  # up to a quarter more than asked for, which are larger when they are encrypted
    async with open_runs(most_bytes=100_000) as store:
        left = await ids(store)
    assert left == kept[: len(left)]
    assert 5 <= len(left) <= 9


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


async def test_tokens_are_counted_by_day_and_outlive_their_runs(open_runs):
    clock = SetClock()
    async with open_runs(most_runs=1, keep_days=1, clock=clock) as store:
        for run_id, day, scope in (("r1", "2026-01-20", MIRA), ("r2", "2026-01-21", JON), ("r3", "2026-01-21", MIRA)):
            spends(store, run_id, day, scope)
        happen(store, a_run("nothing", started_at="2026-01-19T00:00:00.000Z"))
        store.note_begin(a_run("going", started_at="2026-01-21T00:00:00.000Z"))
        assert await store.tokens(date(2026, 1, 1)) == {"2026-01-20": (20, 4), "2026-01-21": (40, 8)}
        assert await store.tokens(date(2026, 1, 21)) == {"2026-01-21": (40, 8)}
    clock.move(days=DAILY_DAYS - 1)
    async with open_runs(keep_days=1, clock=clock) as store:
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


async def test_lists_are_narrowed_by_words_of_the_error(store):
    for run_id, error in (("r1", "The model is DOWN."), ("r2", "No room."), ("r3", None)):
        run = a_run(run_id)
        store.note_begin(run)
        end(store, run, "failed" if error else "finished", error=error)
    assert await ids(store, error="is down") == ["r1"]


async def test_two_stores_number_their_runs_together(open_runs):
    async with open_runs() as one, open_runs() as other:
        for n in range(3):
            happen(one, a_run(f"a{n}"))
            await one.count()
            happen(other, a_run(f"b{n}"))
            await other.count()
        assert await ids(one) == await ids(other) == ["b2", "a2", "b1", "a1", "b0", "a0"]


async def test_two_stores_that_write_at_once_lose_and_double_nothing(open_runs):
    async with open_runs() as one, open_runs() as other:
        for n in range(10):
            spends(one, f"a{n}", "2026-01-21")
            spends(other, f"b{n}", "2026-01-21")
            await asyncio.gather(one.count(), other.count())
        assert len(await ids(one)) == 20
        assert await one.tokens(date(2026, 1, 21)) == {"2026-01-21": (400, 80)}


async def test_a_run_of_another_store_that_works_goes_on(open_runs):
    async with open_runs() as one:
        run = a_run("r1")
        one.note_begin(run)
        await one.count()
        async with open_runs() as other:
            await other.drop_old()
            assert await ids(other, status="running") == ["r1"]
        end(one, run)
        assert await ids(one, status="finished") == ["r1"]


async def test_a_run_that_another_store_forgot_the_number_of_takes_no_place(open_runs):
    async with open_runs() as one, open_runs() as other:
        lost = a_run("lost", scope=JON)
        one.note_begin(lost)
        await one.count()
        await other.forget(JON)
        happen(other, a_run("r1"))
        await other.count()
        end(one, lost)
        assert sorted(await ids(one)) == ["lost", "r1"]


async def test_the_runs_of_a_killed_process_are_ended_by_the_next_one(open_runs):
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        asyncio.run(_begin_and_hang(open_runs, writing))
    try:
        assert os.read(reading, 1) == b"1"
        async with open_runs() as store:
            assert await ids(store, status="running") == ["theirs"]
    finally:
        await asyncio.to_thread(kill, pid)
    async with open_runs() as store:
        assert await ids(store, status="failed") == ["theirs"]


def kill(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


async def _begin_and_hang(open_runs, told):
    async with open_runs() as store:
        store.note_begin(a_run("theirs"))
        await store.count()
        os.write(told, b"1")
        signal.pause()


async def test_a_store_whose_file_is_not_seen_works_for_as_long_as_it_was_heard_of(open_run_file, tmp_path, clock):
    seen, elsewhere = tmp_path / RUNS_FILE, tmp_path / "elsewhere" / RUNS_FILE
    far = SqlRunStore(await asyncio.to_thread(open_run_file), elsewhere, clock=clock)
    far.note_begin(a_run("far"))
    await far.count()
    near = SqlRunStore(await asyncio.to_thread(open_run_file), seen, clock=clock)
    try:
        await near.drop_old()
        assert await ids(near, status="running") == ["far"]
        file = await asyncio.to_thread(open_run_file)
        late = (QUERIES["note_worker"], {"worker": far._workers.own, "now": clock().timestamp(), "until_s": -1})
        await asyncio.to_thread(file.write, lambda sql: sql.run(late[0], **late[1]))
        file.close()
        await near.drop_old()
        assert await ids(near, status="failed") == ["far"]
    finally:
        await near.aclose()
        await far.aclose()
