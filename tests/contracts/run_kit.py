"""Runs as the tests of their stores make them."""

from dataclasses import replace

from mnemoir.core.runs import NodeTrace, RunTrace
from mnemoir.ports.run_store import RunFilter
from tests.contracts.words import MIRA


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
