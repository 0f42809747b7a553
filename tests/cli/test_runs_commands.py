"""`mnemoir runs` over a data directory in which runs were written down."""

import asyncio
import json
from functools import partial

import pytest

from mnemoir.core.runs import NodeTrace, RecalledMemory, RunTrace, WorkflowTrace
from mnemoir.core.scope import Scope
from mnemoir.storage.sql.run_store import SqlRunStore
from mnemoir.storage.sqlite.opening import open_run_file
from tests.cli.command_process import run_here

SCOPE = Scope(project="default", user="mira")
AT = "2026-03-04T09:15:00.000Z"


def a_run(run_id, status="finished", **members):
    return RunTrace(id=run_id, scope=SCOPE, status=status, started_at=AT, duration_ms=812.4, **members)


def chat():
    """A run of two workflows, one in the other."""
    summed = NodeTrace(number=1, title="Sum up", type="Standard", started_ms=3.0, duration_ms=90.0)
    inner = WorkflowTrace(name="inner", folder="mira", nodes=[summed])
    nodes = [
        NodeTrace(number=1, title="Look", type="CustomWorkflow", started_ms=1.0, duration_ms=99.0, children=[inner]),
        NodeTrace(
            number=2,
            title="Answer \x1b[31m",
            type="Standard",
            started_ms=100.0,
            duration_ms=700.0,
            first_token_ms=350.0,
            endpoint="Large",
            model="far-model",
            prompt="the whole prompt",
            input_tokens=1200,
            output_tokens=30,
            tokens_counted=True,
            memories=[RecalledMemory(text="Likes tea"), RecalledMemory(text="Is Mira")],
            notes=["The history was cut."],
            error="It broke off.",
        ),
    ]
    return a_run(
        "r2",
        model="mnemoir",
        question="Is it late?",
        category="CHAT",
        workflows=[WorkflowTrace(name="outer", nodes=nodes)],
    )


@pytest.fixture
def runs(tmp_path, capsys):
    """The commands over a data directory with three runs in it."""

    async def write():
        path = tmp_path / "data" / "runs.db"
        store = SqlRunStore(open_run_file(path), path)
        for run in (a_run("r1", "failed", error="The model is down."), chat(), a_run("r3")):
            store.note_begin(run)
            store.note_end(run)
        await store.aclose()

    asyncio.run(write())
    return partial(run_here, "runs", cwd=tmp_path, capsys=capsys, MNEMOIR_STORAGE__DATA_DIR=str(tmp_path / "data"))


def test_runs_are_listed_newest_first(runs):
    assert [line.split() for line in runs("list").stdout.splitlines()] == [
        ["r3", AT, "finished", "812", "ms"],
        ["r2", AT, "finished", "812", "ms", "outer", "CHAT", "Is", "it", "late?"],
        ["r1", AT, "failed", "812", "ms", "The", "model", "is", "down."],
    ]


def test_a_list_goes_on_where_it_ended(runs):
    done = runs("list", "--limit", "2")
    assert "--before r2" in done.stderr
    assert runs("list", "--before", "r2").stdout.startswith("r1  ")


def test_a_list_may_be_limited_to_failed_runs(runs):
    told = json.loads(runs("list", "--status", "failed", "--json").stdout)
    assert ([run["id"] for run in told["results"]], told["next"]) == (["r1"], None)
    assert runs("list", "--status", "lost").returncode == 1


def test_a_list_may_be_searched_by_words_of_the_question(runs):
    assert [line.split()[0] for line in runs("list", "--words", "late IT").stdout.splitlines()] == ["r2"]


def test_a_run_is_shown_as_a_tree_with_its_times(runs):
    assert runs("show", "r2").stdout.splitlines() == [
        f"r2  {AT}  finished  812 ms",
        "question   Is it late?",
        "model      mnemoir",
        "category   CHAT",
        "outer",
        "  1 Look  CustomWorkflow  99 ms",
        "    mira/inner",
        "      1 Sum up  Standard  90 ms",
        "  2 Answer \\x1b[31m  Standard  700 ms  Large far-model  about 1200 tokens in, 30 out  first after 250 ms"
        "  2 memories",
        "    error: It broke off.",
        "    The history was cut.",
    ]


def test_prompts_are_shown_as_json(runs):
    told = json.loads(runs("show", "r2", "--json").stdout)
    assert told["workflows"][0]["nodes"][1]["prompt"] == "the whole prompt"


def test_an_unknown_run_is_reported_by_the_exit_code(runs):
    done = runs("show", "../r1")
    assert (done.returncode, done.stdout) == (3, "")
    assert "There is no run '../r1' here" in done.stderr
