"""`mnemoir memories …`: each command is one request to the memory API (`docs/memory-api.md`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from mnemoir.cli import review
from mnemoir.cli.output import User, note, print_memories, print_row
from mnemoir.cli.session import Session, asking, run
from mnemoir.cli.transfer import export_lines, import_lines

commands = typer.Typer(
    help="Add, find, list, delete, review, undo, export and import memories.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
commands.add_typer(review.commands, name="review")
asks = asking(commands, projects=True)

Text = Annotated[str, typer.Argument(help="What was said, in the user's own words; - reads standard input.")]
Query = Annotated[str, typer.Argument(help="What to look for.")]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Print what would change, store nothing. apply does it later."),
]
At = Annotated[str | None, typer.Option(help="ISO 8601 time; show what was current then instead of now.")]
MemoryId = Annotated[str, typer.Argument(help="Id of the memory, as list and search print it.")]


@asks()
def add(
    session: Session,
    text: Text,
    user: User = "user",
    verbatim: Annotated[bool, typer.Option("--verbatim", help="Keep the text word for word; ask no model.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Derive memories from a text and store them."""
    said = typer.get_text_stream("stdin").read() if text == "-" else text
    body: dict[str, Any] = {
        "messages": [{"role": "user", "content": said}],
        "user_id": user,
        "infer": not verbatim,
    }
    if dry_run:
        body["dry_run"] = True
    answer = session.ask("POST", "/api/memories", body=body)
    if session.printed_as_json(answer):
        return
    _print_applied(answer["results"])
    for one in answer.get("proposed", ()):
        print_row(f"{one['event']} waits", one["id"], one["memory"])
    note(answer["message"] + _how_to_apply([answer.get("plan_id")]))


@asks()
def search(
    session: Session,
    query: Query,
    user: User = "user",
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1, max=100)] = 5,
    at: At = None,
) -> None:
    """Find memories by meaning and words, best first."""
    body = {"query": query, "user_id": user, "limit": limit}
    answer = session.ask("POST", "/api/memories/search", body=body, query={"at": at})
    _print_results(session, answer)


@asks("list")
def list_memories(
    session: Session,
    user: User = "user",
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1, max=1000)] = 100,
    offset: Annotated[int, typer.Option(help="Number of the newest to skip.", min=0)] = 0,
    at: At = None,
) -> None:
    """Print one user's memories, newest first."""
    query = {"user_id": user, "limit": limit, "offset": offset, "at": at}
    _print_results(session, session.ask("GET", "/api/memories", query=query))


@asks()
def delete(
    session: Session,
    memory_id: Annotated[str | None, typer.Argument(help="Id of the memory to delete.")] = None,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Owner; needed with --all.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Delete all memories of --user.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before deleting all.")] = False,
) -> None:
    """Delete one memory, or with --all every memory of one user."""
    if everything == bool(memory_id):
        raise typer.BadParameter("Give either the id of one memory, or --all with --user.")
    if everything and not user:
        raise typer.BadParameter("--all needs --user: whose memories?")
    if everything and not yes:
        typer.confirm(f"Delete all memories of {user}?", abort=True, err=True)
    path = "/api/memories" if everything else f"/api/memories/{quote(memory_id or '', safe='')}"
    answer = session.ask("DELETE", path, query={"user_id": user or None})
    if session.printed_as_json(answer):
        return
    note(answer["message"])


@asks()
def history(
    session: Session,
    memory_id: MemoryId,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Owner, if it must be this one.")] = None,
) -> None:
    """Print what happened to one memory, oldest first, and why."""
    path = f"/api/memories/{quote(memory_id, safe='')}/history"
    answer = session.ask("GET", path, query={"user_id": user or None})
    if session.printed_as_json(answer):
        return
    for entry in answer["results"]:
        print_row(
            entry["created_at"],
            entry["event"],
            entry.get("new_memory") or entry.get("old_memory") or "",
            entry["reason"],
        )


@asks()
def changes(
    session: Session,
    user: User = "user",
    limit: Annotated[int, typer.Option(help="Maximum number of changes.", min=1, max=200)] = 20,
    cursor: Annotated[str | None, typer.Option(help="Where the next page begins, as --json names it.")] = None,
) -> None:
    """Print what changed in one user's memories, newest first."""
    query = {"user_id": user, "limit": limit, "cursor": cursor}
    answer = session.ask("GET", "/api/memories/changes", query=query)
    if session.printed_as_json(answer):
        return
    for change in answer["results"]:
        for row in change["rows"]:
            print_row(change["created_at"], change["id"], row["event"], row["new_memory"] or row["old_memory"] or "")


@asks()
def undo(
    session: Session,
    change_id: Annotated[str, typer.Argument(help="Id of the change, as changes prints it.")],
    user: Annotated[str | None, typer.Option("--user", "-u", help="Owner, if it must be this one.")] = None,
) -> None:
    """Undo one change; the undo is a change too, and can be undone."""
    path = f"/api/memories/changes/{quote(change_id, safe='')}/undo"
    answer = session.ask("POST", path, query={"user_id": user or None})
    if session.printed_as_json(answer):
        return
    _print_applied(answer["results"])
    note(f"Undone by {answer['id']}.")


@asks("export")
def export_memories(
    session: Session,
    file: Annotated[Path | None, typer.Argument(help="File to write; else standard output.")] = None,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Only this user's; else everyone's.")] = None,
) -> None:
    """Write memories as JSON lines, one a line, with all their members."""
    count = run(export_lines(session, file, user))
    if file:
        session.printed_as_json({"exported": count})
    note(f"Exported {count} memories.")


@asks("import")
def import_memories(
    session: Session,
    file: Annotated[Path, typer.Argument(help="JSON lines, as export writes them.", exists=True, dir_okay=False)],
    user: Annotated[str | None, typer.Option("--user", "-u", help="Give all to this user instead.")] = None,
    dry_run: DryRun = False,
) -> None:
    """Import memories from JSON lines; existing ones are skipped."""
    done = run(import_lines(session, file, user, dry_run=dry_run))
    counts = {"imported": done.added, "skipped": done.skipped}
    if not dry_run:
        session.printed_as_json(counts)
        note(f"Imported {done.added} memories; {done.skipped} were there already.")
        return
    plans = [plan for plan in done.plans if plan["plan_id"] is not None]
    if not session.printed_as_json({**counts, "plans": plans}):
        for plan in plans:
            _print_applied(plan["results"])
    told = f"{done.added} memories would be imported; {done.skipped} are there already."
    note(told + _how_to_apply([plan["plan_id"] for plan in plans]))


@asks("apply")
def apply_plans(
    session: Session,
    plan_ids: Annotated[list[str], typer.Argument(help="Ids of plans, as --dry-run prints them.")],
) -> None:
    """Make the changes that a dry run planned, unchanged or not at all."""
    for plan_id in plan_ids:
        answer = session.ask("POST", f"/api/memories/plans/{quote(plan_id, safe='')}/apply")
        if not session.printed_as_json(answer):
            _print_applied(answer["results"])
            note(f"Applied {plan_id}.")


def _print_applied(changes: Sequence[Mapping[str, Any]]) -> None:
    for change in changes:
        print_row(change["event"], change["id"], change["memory"])


def _how_to_apply(plan_ids: Sequence[str | None]) -> str:
    """How to make what was planned; "" without a plan."""
    known = " ".join(each for each in plan_ids if each is not None)
    return f" Apply with: mnemoir memories apply {known}" if known else ""


def _print_results(session: Session, answer: Mapping[str, Any]) -> None:
    if session.printed_as_json(answer):
        return
    print_memories(answer["results"])
    if answer.get("degraded"):
        note(f"The search was not complete, it lacked: {', '.join(answer['degraded'])}.")
    if not answer["results"]:
        note("No memories.")
