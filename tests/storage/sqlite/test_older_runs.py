"""A file of runs from before their figures were kept: all of them are listed, with what their traces tell."""

import json
from datetime import UTC, date, datetime

import apsw
import pytest

from mnemoir.core.runs import RunTrace
from mnemoir.core.scope import Scope
from mnemoir.ports.run_store import RunFilter
from mnemoir.storage.sql.run_store import SqlRunStore
from mnemoir.storage.sqlite.data_file import create, known_steps
from mnemoir.storage.sqlite.opening import open_run_file

NODE = {"number": 1, "title": "Answer", "type": "Standard", "started_ms": 0.5, "endpoint": None, "preset": None}
NODE |= {"model": None, "prompt": [{"role": "user", "content": '"input_tokens": 99'}], "output": "Yes.", "notes": []}
NODE |= {"input_tokens": 7, "output_tokens": 2, "tokens_counted": True, "first_token_ms": 3.0, "duration_ms": 9.0}
NODE |= {"error": None, "memories": ["Likes tea", "Is Mira"], "children": []}
SCOPE = {"project": "default", "user": "mira", "tenant": "default", "agent": None, "app": None, "node": None}
TRACE = {"id": "r1", "scope": SCOPE | {"conversation": "tea"}, "user": "Mira", "model": "m", "stream": True}
TRACE |= {"status": "finished", "started_at": "2026-03-04T09:15:00.000Z", "first_token_ms": 3.0, "answered_ms": 9.0}
TRACE |= {"duration_ms": 9.0, "category": None, "error": None}
CHILD = {"name": "Inner", "folder": "", "nodes": [NODE]}
TRACE |= {"workflows": [{"name": "Chat", "folder": "", "nodes": [NODE | {"children": [CHILD]}]}]}
INSERT = """
INSERT INTO runs VALUES (?, ?, 'default', 'default', 'mira', 4e9, '2026-03-04T09:15:00.000Z', 'finished', 'Mira', 'm',
                         'Chat', NULL, 9, NULL, ?)
"""

INSERT_WITH_FIGURES = """
INSERT INTO runs VALUES (1, 'r1', 4e9, '2026-03-04T09:15:00.000Z', 'finished', 'Mira', 'default', 'default', 'mira',
                         'tea', 'm', 1, 'Chat', NULL, 3, 9, 2, 4, 14, 4, 1, NULL, ?)
"""


async def opened(path):
    create(path, known_steps("runs")[:1])
    with apsw.Connection(str(path)) as connection:
        connection.execute(INSERT, (1, "r1", json.dumps(TRACE)))
        connection.execute(INSERT, (2, "r2", "no trace at all"))
    return SqlRunStore(open_run_file(path))


async def test_older_runs_are_listed_with_the_figures_of_their_traces(tmp_path):
    path = tmp_path / "runs.db"
    store = await opened(path)
    broken, run = await store.latest(limit=9)
    assert (broken.id, broken.nodes, broken.memories, broken.conversation) == ("r2", 0, 0, None)
    assert (run.id, run.nodes, run.memories, run.input_tokens, run.output_tokens) == ("r1", 2, 4, 14, 4)
    assert (run.question, run.workflow, run.status, run.started_at) == ("", "Chat", "finished", TRACE["started_at"])
    assert (run.stream, run.tokens_counted, run.conversation, run.first_token_ms) == (True, True, "tea", 3.0)
    await store.aclose()


async def test_an_older_run_is_shown(tmp_path):
    store = await opened(tmp_path / "runs.db")
    run = await store.get("r1")
    assert [memory.text for memory in next(run.nodes()).memories] == ["Likes tea", "Is Mira"]
    assert len(list(run.nodes())) == 2
    await store.aclose()


async def test_a_file_without_questions_is_searched_and_goes_on(tmp_path):
    path = tmp_path / "runs.db"
    create(path, known_steps("runs")[:2])
    with apsw.Connection(str(path)) as connection:
        connection.execute(INSERT_WITH_FIGURES, (json.dumps(TRACE),))
    store = SqlRunStore(open_run_file(path))
    run = RunTrace(id="r2", scope=Scope(project="default", user="mira"), question="Is it late?")
    store.begun(run)
    store.ended(run)
    assert [(run.id, run.question, run.input_tokens) for run in await store.latest(limit=9)] == [
        ("r2", "Is it late?", 0),
        ("r1", "", 14),
    ]
    assert [run.id for run in await store.latest(limit=9, only=RunFilter(words="LATE"))] == ["r2"]
    assert (await store.get("r1")).question == ""
    await store.aclose()


@pytest.mark.parametrize("steps", [1, 2, 3])
async def test_the_tokens_of_older_runs_are_counted(tmp_path, steps):
    path = tmp_path / "runs.db"
    create(path, known_steps("runs")[:steps])
    with apsw.Connection(str(path)) as connection:
        if steps == 1:
            connection.execute(INSERT, (1, "r1", json.dumps(TRACE)))
        else:
            insert = INSERT_WITH_FIGURES if steps == 2 else INSERT_WITH_FIGURES.replace("'Mira'", "'', 'Mira'")
            connection.execute(insert, (json.dumps(TRACE),))
    clock = lambda: datetime(2026, 3, 5, tzinfo=UTC)  # noqa: E731
    store = SqlRunStore(open_run_file(path), clock=clock)
    assert await store.tokens(date(2026, 1, 1)) == {"2026-03-04": (14, 4)}
    await store.aclose()


async def test_forgetting_a_conversation_takes_older_runs_that_were_shown_memories(tmp_path):
    store = await opened(tmp_path / "runs.db")
    await store.forget(Scope(project="default", user="mira", conversation="another"))
    assert [run.id for run in await store.latest(limit=9)] == ["r2"]
    await store.aclose()
