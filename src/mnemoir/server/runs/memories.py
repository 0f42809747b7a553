"""The memories a run read and wrote, including those learned from it after its answer.

The job of a turn names the memories that changed and quotes none. So a memory that was forgotten since is listed here
without its text.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from mnemoir.core.ids import JobId, MemoryId, ProposalId
from mnemoir.core.runs import NodeTrace, RecalledMemory, RunStatus, RunTrace, WrittenKind, WrittenMemory
from mnemoir.core.scope import Scope
from mnemoir.ports.jobs import Job, JobQueue
from mnemoir.ports.memory_store import MemoryStore
from mnemoir.ports.proposals import ProposalStore
from mnemoir.server.answer import JsonObject
from mnemoir.server.door.scopes import project_in

Event = Literal["ADD", "UPDATE", "DELETE"]
JobState = Literal["waiting", "running", "done", "failed", "gone"]

_STATES: Mapping[str, JobState] = {
    "PENDING": "waiting",
    "RUNNING": "running",
    "SUCCEEDED": "done",
    "FAILED": "failed",
}


class RunShort(JsonObject):
    """A one-line summary of a run."""

    id: str
    status: RunStatus
    workflow: str
    conversation: str | None
    nodes: int
    memories: Sequence[RecalledMemory]
    first_token_ms: float | None
    duration_ms: float | None
    input_tokens: int
    output_tokens: int
    tokens_counted: bool
    error: str | None


class RunLearned(JsonObject):
    """A memory that changed because of a run; `text` is its current text, null when it was deleted."""

    id: str
    event: Event
    text: str | None


class RunRemembering(JsonObject):
    """A write of a run to memory, and its outcome. `node` is the node's place among all nodes of the run.

    `proposed` are changes that wait for a review, by proposal; one that was settled has no text. `left_out` counts
    the facts that may not be stored, by the reason, such as `secret`.
    """

    node: int
    title: str
    kind: WrittenKind
    count: int
    state: Annotated[
        JobState, Field(description="`done` for all that was written at once; `gone` when nobody knows any more")
    ]
    error: str | None
    learned: Sequence[RunLearned]
    proposed: Sequence[RunLearned]
    left_out: Mapping[str, int]


class RunMemories(JsonObject):
    """The memories read in a run and the writes to memory, including those made after the answer."""

    read: Sequence[RecalledMemory]
    written: Sequence[RunRemembering]


async def memories_of(run: RunTrace, jobs: JobQueue, store: MemoryStore, queue: ProposalStore) -> RunMemories:
    """The reads and writes in the order of the nodes; a memory that several nodes read is listed once."""
    nodes = list(run.nodes())
    written = [
        await _remembering(place, node, one, run.scope, jobs, store, queue)
        for place, node in enumerate(nodes)
        for one in node.written
    ]
    return {"read": _read(nodes), "written": written}


def summary_of(run: RunTrace) -> RunShort:
    """The one-line summary of a run, with the memories that it read."""
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


def _read(nodes: Sequence[NodeTrace]) -> list[RecalledMemory]:
    read = {(memory.id, memory.text): memory for node in nodes for memory in node.memories}
    return list(read.values())


async def _remembering(
    place: int,
    node: NodeTrace,
    written: WrittenMemory,
    scope: Scope,
    jobs: JobQueue,
    store: MemoryStore,
    queue: ProposalStore,
) -> RunRemembering:
    job = await jobs.get(JobId(written.id)) if written.kind == "turn" else None
    result = (job.result or {}) if job else {}
    return {
        "node": place,
        "title": node.title,
        "kind": written.kind,
        "count": written.count,
        "state": _state(written, job),
        "error": job.error if job else None,
        "learned": [await _learned_memory(change, scope, store) for change in result.get("learned", ())],
        "proposed": [await _proposed_memory(change, scope, queue) for change in result.get("proposed", ())],
        "left_out": result.get("left_out", {}),
    }


def _state(written: WrittenMemory, job: Job | None) -> JobState:
    if written.kind != "turn":
        return "done"
    return _STATES[job.state] if job else "gone"


async def _learned_memory(change: Mapping[str, Any], scope: Scope, store: MemoryStore) -> RunLearned:
    history: Sequence[Any] = await store.history(scope.owner, MemoryId(change["memory_id"]))
    text = history[-1].new_text if history and history[-1].event != "DELETE" else None
    return {"id": change["memory_id"], "event": change["event"], "text": text}


async def _proposed_memory(change: Mapping[str, Any], scope: Scope, queue: ProposalStore) -> RunLearned:
    project = project_in(scope)
    found = await queue.find(project, ProposalId(change["memory_id"]))
    is_own = found is not None and found[0].user == scope.user
    return {
        "id": change["memory_id"],
        "event": change["event"],
        "text": found[1].memory.text if found is not None and is_own else None,
    }
