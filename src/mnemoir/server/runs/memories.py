"""What a run read from memory and wrote to it, also what was learned from it behind its answer.

The job of a turn names the memories that changed and quotes none. So a memory that was forgotten since is told here
without its words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mnemoir.core.ids import JobId, MemoryId
from mnemoir.core.runs import NodeTrace, RunTrace, WrittenMemory
from mnemoir.core.scope import Scope
from mnemoir.ports.jobs import Job, JobQueue
from mnemoir.ports.memory_store import MemoryStore

Json = dict[str, Any]

_STATES = {"PENDING": "waiting", "RUNNING": "running", "SUCCEEDED": "done", "FAILED": "failed"}


async def memories_of(run: RunTrace, jobs: JobQueue, store: MemoryStore) -> Json:
    """Both, in the order of the nodes; a memory that several nodes read stands once."""
    nodes = list(run.nodes())
    written = [
        await _remembering(place, node, one, run.scope, jobs, store)
        for place, node in enumerate(nodes)
        for one in node.written
    ]
    return {"read": _read(nodes), "written": written}


def summary_of(run: RunTrace) -> Json:
    """A run in a line, with the memories that it read."""
    nodes = list(run.nodes())
    return {
        "id": run.id,
        "status": run.status,
        "workflow": run.workflows[-1].name if run.workflows else "",
        "conversation": run.scope.conversation,
        "nodes": len(nodes),
        "memories": _read(nodes),
        "first_token_ms": run.first_token_ms,
        "duration_ms": run.duration_ms,
        "input_tokens": sum(node.input_tokens for node in nodes),
        "output_tokens": sum(node.output_tokens for node in nodes),
        "tokens_counted": any(node.tokens_counted for node in nodes),
        "error": run.error,
    }


def _read(nodes: Sequence[NodeTrace]) -> list[Json]:
    read = {(memory.id, memory.text): asdict(memory) for node in nodes for memory in node.memories}
    return list(read.values())


async def _remembering(
    place: int, node: NodeTrace, written: WrittenMemory, scope: Scope, jobs: JobQueue, store: MemoryStore
) -> Json:
    job = await jobs.get(JobId(written.id)) if written.kind == "turn" else None
    learned = (job.result or {}).get("learned", ()) if job else ()
    return {
        "node": place,
        "title": node.title,
        "kind": written.kind,
        "count": written.count,
        "state": _state(written, job),
        "error": job.error if job else None,
        "learned": [await _learned(change, scope, store) for change in learned],
    }


def _state(written: WrittenMemory, job: Job | None) -> str:
    if written.kind != "turn":
        return "done"
    return _STATES[job.state] if job else "gone"


async def _learned(change: Mapping[str, Any], scope: Scope, store: MemoryStore) -> Json:
    history: Sequence[Any] = await store.history(scope.owner, MemoryId(change["memory_id"]))
    text = history[-1].new_text if history and history[-1].event != "DELETE" else None
    return {"id": change["memory_id"], "event": change["event"], "text": text}
