"""Conversion of run traces to rows and back. A trace is one JSON text; values for lists have their own columns."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

import orjson

from mnemoir.core.messages import Sampling
from mnemoir.core.runs import (
    FilledVariable,
    ModelCall,
    NodeTrace,
    RecalledMemory,
    RunStatus,
    RunTrace,
    TracedMessage,
    WorkflowTrace,
    WrittenMemory,
    without_texts,
)
from mnemoir.core.scope import Scope
from mnemoir.ports.run_store import RunSummary
from mnemoir.storage.sql.engine import Damaged

MOST_BYTES = 8 * 2**20  # of one trace: a run of a thousand nodes must not fill the disk
_MEMBERS = tuple(name for name in RunTrace.__dataclass_fields__ if name != "question")  # which has a column
_SHORTENED = 1000  # characters of a prompt or output in a trace that is over it


def summary_of(run: RunTrace) -> RunSummary:
    """The run's summary for lists."""
    return RunSummary(**_figures(run))


def _figures(run: RunTrace) -> dict[str, Any]:
    """The members of a RunSummary, in their order."""
    run = without_texts(run)
    nodes = memories = input_tokens = output_tokens = 0
    tokens_counted = False
    for node in run.nodes():
        nodes += 1
        memories += len(node.memories)
        input_tokens += node.input_tokens
        output_tokens += node.output_tokens
        tokens_counted = tokens_counted or node.tokens_counted
    return {
        "id": run.id,
        "started_at": run.started_at,
        "status": run.status,
        "question": run.question,
        "user": run.user,
        "project": run.scope.project,
        "user_id": run.scope.user,
        "conversation": run.scope.conversation,
        "model": run.model,
        "stream": run.stream,
        "workflow": run.workflows[-1].name if run.workflows else "",
        "category": run.category,
        "first_token_ms": run.first_token_ms,
        "duration_ms": run.duration_ms,
        "nodes": nodes,
        "memories": memories,
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "tokens_counted": tokens_counted,
        "error": run.error,
    }


def summary_in(row: Sequence[Any]) -> RunSummary:
    """The summary in a row of the queries that list runs."""
    columns = dict(zip(RunSummary.__dataclass_fields__, row, strict=True))
    return RunSummary(
        **{**columns, "stream": bool(columns["stream"]), "tokens_counted": bool(columns["tokens_counted"])}
    )


def row_of(run: RunTrace) -> dict[str, Any]:
    """The columns of a run. Each chat builds them, so only texts that may contain invalid characters are checked."""
    columns = _figures(run)
    for name, value in columns.items():
        if type(value) is str and not value.isascii():
            columns[name] = _plain(value)
    columns["tenant"], columns["trace"] = run.scope.tenant, trace_text(run)
    columns["standing"] = sum(len(node.standing) for node in run.nodes())
    return columns


class OwnerDay(NamedTuple):
    """The day and the owner of rows of tokens."""

    day: str
    tenant: str
    project: str
    user_id: str


def add_tokens(sums: dict[OwnerDay, list[int]], row: Mapping[str, Any]) -> None:
    """Add the tokens of a run, from its columns, to the sums of its owner's day: [input, output]."""
    if row["input_tokens"] or row["output_tokens"]:
        of = OwnerDay(row["started_at"][:10], row["tenant"], row["project"], row["user_id"])
        known = sums.setdefault(of, [0, 0])
        known[0] += row["input_tokens"]
        known[1] += row["output_tokens"]


def owner_of(scope: Scope) -> dict[str, str]:
    """The columns that name a user in these tables; "user" itself is the config tree's."""
    return {"tenant": scope.tenant, "project": scope.project, "user_id": _plain(scope.user)}


def trace_text(run: RunTrace) -> str:
    """The trace as JSON, of at most MOST_BYTES if shortening prompts and outputs suffices.

    The client's messages are mostly also in the first prompt, and are then stored once: in place of such a message
    `asked` has its index in the prompt. The question stands in its column alone: its ellipsis would make two bytes of
    each character of the text on the way to the database.
    """
    run = without_texts(run)
    members = {name: getattr(run, name) for name in _MEMBERS}
    members["asked"] = _with_indexes(run.asked, _first_prompt(run.nodes()))
    text = _json(members)
    return text if len(text) <= MOST_BYTES else _json(replace(run, asked=[], workflows=[*map(_short, run.workflows)]))


def _first_prompt(nodes: Iterable[NodeTrace]) -> Sequence[TracedMessage]:
    """The messages of the first prompt; none when that prompt is a text."""
    prompts = (node.prompt for node in nodes if node.prompt is not None)
    first = next(prompts, ())
    return () if isinstance(first, str) else first


def _with_indexes(asked: Sequence[TracedMessage], prompt: Sequence[TracedMessage]) -> Sequence[Any]:
    """`asked` with indexes in place of messages that the prompt has too.

    Both end with the newest, so they align from the end.
    """
    shift = len(prompt) - len(asked)
    return [
        at if at >= 0 and (entry is prompt[at] or entry == prompt[at]) else entry
        for at, entry in enumerate(asked, shift)
    ]


def run_of(text: str, *, status: RunStatus, error: str | None, question: str) -> RunTrace:
    """The run of a trace, with what its row tells beside it. Raises Damaged, as only damage makes it no JSON."""
    try:
        raw = orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise Damaged(f"a stored trace cannot be read: {exc}") from exc
    workflows = [_workflow(workflow) for workflow in raw["workflows"]]
    beside = {"status": status, "error": error, "question": question}
    run = RunTrace(**{**raw, "scope": Scope(**raw["scope"]), "workflows": workflows, **beside})
    prompt = _first_prompt(run.nodes())
    run.asked = [prompt[entry] if isinstance(entry, int) else entry for entry in run.asked]
    return run


def _workflow(raw: Mapping[str, Any]) -> WorkflowTrace:
    return WorkflowTrace(**{**raw, "nodes": [_node(node) for node in raw["nodes"]]})


def _node(raw: Mapping[str, Any]) -> NodeTrace:
    members = {
        **raw,
        "call": _call(raw["call"]),
        "variables": [FilledVariable(**variable) for variable in raw["variables"]],
        "memories": [RecalledMemory(**memory) for memory in raw["memories"]],
        "standing": [RecalledMemory(**memory) for memory in raw["standing"]],
        "written": [WrittenMemory(**written) for written in raw["written"]],
        "children": [_workflow(child) for child in raw["children"]],
    }
    return NodeTrace(**members)


def _call(raw: Mapping[str, Any] | None) -> ModelCall | None:
    return None if raw is None else ModelCall(**{**raw, "sampling": Sampling(**raw["sampling"])})


def _json(run: RunTrace | Mapping[str, Any]) -> str:
    try:
        return orjson.dumps(run, default=_plain).decode()
    except orjson.JSONEncodeError:  # a lone surrogate, an integer over 64 bits, or nested very deep
        return json.dumps(_plain(run))


def _plain(value: Any) -> Any:  # JSON of any shape
    """Any `value` converted for JSON; invalid characters become question marks."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {_plain(str(key)): _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, int) else _plain(str(value))


def _short(workflow: WorkflowTrace) -> WorkflowTrace:
    return replace(workflow, nodes=[_short_node(node) for node in workflow.nodes])


def _short_node(node: NodeTrace) -> NodeTrace:
    prompt = node.prompt if node.prompt is None or isinstance(node.prompt, str) else json.dumps(_plain(node.prompt))
    return replace(
        node,
        prompt=prompt and prompt[:_SHORTENED],
        output=node.output and node.output[:_SHORTENED],
        variables=[],
        children=[_short(child) for child in node.children],
        notes=[*node.notes, f"The trace was too large; of prompt and output the first {_SHORTENED} characters stay."],
    )
