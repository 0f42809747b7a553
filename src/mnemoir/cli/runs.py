"""`mnemoir runs …`: list and show the traces of workflow runs."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any
from urllib.parse import quote

import typer

from mnemoir.cli.groups import group
from mnemoir.cli.output import note, print_row
from mnemoir.cli.session import Session, asking

commands = group("List and show runs of workflows.")
asks = asking(commands)


@asks("list")
def list_runs(
    session: Session,
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1, max=200)] = 20,
    before: Annotated[str | None, typer.Option(help="Continue after the run with this id.")] = None,
    status: Annotated[
        str | None, typer.Option(help="Only those that are running, finished, failed or cancelled.")
    ] = None,
    words: Annotated[str | None, typer.Option(help="Only those whose question has all of these words.")] = None,
) -> None:
    """Print the last runs, newest first."""
    query = {"limit": limit, "before": before, "status": status, "q": words}
    answer = session.ask("GET", "/api/runs", query=query)
    if session.printed_as_json(answer):
        return
    for run in answer["results"]:
        named = [run[name] for name in ("workflow", "category", "question", "error") if run[name]]
        print_row(run["id"], run["started_at"], f"{run['status']:<9}", f"{_ms(run['duration_ms']):>10}", *named)
    if not answer["results"]:
        note("There are no such runs." if status or words or before else "There are no runs.")
    if answer["next"]:
        note(f"Older runs follow with --before {answer['next']}.")


@asks()
def show(
    session: Session,
    run_id: Annotated[str, typer.Argument(help="Id of the run, as list and the header X-Workflow-Run-Id give it.")],
) -> None:
    """Print one run node by node; --json prints prompts and outputs too."""
    run = session.ask("GET", f"/api/runs/{quote(run_id, safe='')}")
    if session.printed_as_json(run):
        return
    for line in _lines_of_run(run):
        print_row(*line)


def _lines_of_run(run: Mapping[str, Any]) -> Iterator[list[str]]:
    yield [run["id"], run["started_at"], run["status"], _ms(run["duration_ms"])]
    told = {
        "question": run["question"],
        "user": run["user"],
        "model": run["model"],
        "category": run["category"],
        "error": run["error"],
    }
    yield from ([f"{name:<9}", text] for name, text in told.items() if text)
    spans = {"first": run["first_token_ms"], "answered": run["answered_ms"]}
    yield from ([f"{name:<9}", _ms(span)] for name, span in spans.items() if span is not None)
    for workflow in run["workflows"]:
        yield from _lines_of_workflow(workflow, "")


def _lines_of_workflow(workflow: Mapping[str, Any], indent: str) -> Iterator[list[str]]:
    folder = f"{workflow['folder']}/" if workflow["folder"] else ""
    yield [f"{indent}{folder}{workflow['name']}"]
    for node in workflow["nodes"]:
        yield from _lines_of_node(node, f"{indent}  ")


def _lines_of_node(node: Mapping[str, Any], indent: str) -> Iterator[list[str]]:
    yield [f"{indent}{node['number']} {node['title']}", node["type"], _ms(node["duration_ms"]), *_model_use(node)]
    if node["error"]:
        yield [f"{indent}  error: {node['error']}"]
    yield from ([f"{indent}  {text}"] for text in node["notes"])
    for child in node["children"]:
        yield from _lines_of_workflow(child, f"{indent}  ")


def _model_use(node: Mapping[str, Any]) -> Iterator[str]:
    if node["endpoint"] or node["model"]:
        yield " ".join(filter(None, (node["endpoint"], node["model"])))
    if node["input_tokens"] or node["output_tokens"]:
        about = "about " if node["tokens_counted"] else ""
        yield f"{about}{node['input_tokens']} tokens in, {node['output_tokens']} out"
    if node["first_token_ms"] is not None:
        yield f"first after {_ms(node['first_token_ms'] - node['started_ms'])}"
    if node["memories"]:
        yield f"{len(node['memories'])} memories"


def _ms(span: float | None) -> str:
    """A duration in milliseconds for display; "…" for None, an unfinished one."""
    return "…" if span is None else f"{span:.0f} ms"
