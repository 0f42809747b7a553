"""`mnemoir memories …`: each command is one request to the memory API (`docs/memory-api.md`)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from mnemoir.cli import review
from mnemoir.cli.groups import group
from mnemoir.cli.output import User, count_with_noun, note, print_memories, print_row
from mnemoir.cli.session import Session, asking, run
from mnemoir.cli.transfer import export_lines, import_lines
from mnemoir.core.memories import Origin

commands = group("Add, find, list, show, edit, delete, review, undo, export and import memories.")
commands.add_typer(review.commands, name="review")
asks = asking(commands, projects=True)
_VERBS = {"ADD": "Added", "UPDATE": "Changed", "DELETE": "Deleted"}

Text = Annotated[str, typer.Argument(help="What was said, in the user's own words; - reads standard input.")]
Query = Annotated[str, typer.Argument(help="What to look for.")]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Print what would change, store nothing. apply does it later."),
]
At = Annotated[str | None, typer.Option(help="ISO 8601 time; show what was current then instead of now.")]
Owner = Annotated[str | None, typer.Option("--user", "-u", help="Owner, if it must be this one.")]
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
    body: dict[str, Any] = {
        "messages": [{"role": "user", "content": _text_or_stdin(text)}],
        "user_id": user,
        "infer": not verbatim,
    }
    if dry_run:
        body["dry_run"] = True
    answer = session.ask("POST", "/api/memories", body=body)
    if session.printed_as_json(answer):
        return
    _print_applied(answer["results"])
    for known in answer.get("known", ()):
        note(f"Already known: {known['memory']}")
    for one in answer.get("proposed", ()):
        print_row(f"{one['event']} waits", one["id"], one["memory"])
    if answer["results"] or not (answer.get("known") or answer.get("proposed")):
        note(_told_of(answer, dry_run=dry_run) + _how_to_apply([answer.get("plan_id")]))


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
    origin: Annotated[Origin | None, typer.Option(help="Only those whose words come from there.")] = None,
    at: At = None,
) -> None:
    """Print one user's memories, newest first."""
    query = {"user_id": user, "limit": limit, "offset": offset, "origin": origin, "at": at}
    _print_results(session, session.ask("GET", "/api/memories", query=query))


@asks()
def show(session: Session, memory_id: MemoryId, user: Owner = None) -> None:
    """Print one memory with its state, and what was said that it was made of."""
    answer = session.ask("GET", _path(memory_id, "details"), query={"user_id": user})
    if session.printed_as_json(answer):
        return
    memory = answer["memory"]
    print_row(memory["id"], _time(memory["created_at"]), memory["kind"], memory["state"])
    print_row("   ", memory["memory"])
    for source in answer["sources"]:
        place = f"in {source['session']}" if source["session"] else ""
        print_row("  from", _time(source["timestamp"]), f"{source['role']}:", source["content"], place)


@asks()
def edit(
    session: Session,
    memory_id: MemoryId,
    text: Annotated[str, typer.Argument(help="What it is to say; - reads standard input.")],
    user: Owner = None,
) -> None:
    """Change what one memory says; its earlier text stays in its history, and can be restored."""
    answer = session.ask("PATCH", _path(memory_id), query={"user_id": user}, body={"memory": _text_or_stdin(text)})
    if session.printed_as_json(answer):
        return
    print_memories([answer])


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
    path = "/api/memories" if everything else _path(memory_id or "")
    answer = session.ask("DELETE", path, query={"user_id": user})
    if session.printed_as_json(answer):
        return
    note(answer["message"])


@asks()
def history(
    session: Session,
    memory_id: MemoryId,
    user: Owner = None,
) -> None:
    """Print what happened to one memory, oldest first, and why."""
    answer = session.ask("GET", _path(memory_id, "history"), query={"user_id": user})
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
    if not answer["results"]:
        note(f"Nothing {'more ' if cursor else ''}has changed in the memories of {user!r}.")


@asks()
def undo(
    session: Session,
    change_id: Annotated[str, typer.Argument(help="Id of the change, as changes prints it.")],
    user: Owner = None,
) -> None:
    """Undo one change; the undo is a change too, and can be undone."""
    path = f"/api/memories/changes/{quote(change_id, safe='')}/undo"
    answer = session.ask("POST", path, query={"user_id": user})
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
    note(f"Exported {count_with_noun(count, 'memory')}.")


@asks("import")
def import_memories(
    session: Session,
    file: Annotated[Path, typer.Argument(help="JSON lines, as export writes them.", exists=True, dir_okay=False)],
    user: Annotated[str | None, typer.Option("--user", "-u", help="Give all to this user instead.")] = None,
    dry_run: DryRun = False,
) -> None:
    """Import memories from JSON lines; existing ones are skipped."""
    done = run(import_lines(session, file, user, dry_run=dry_run))
    counts: dict[str, object] = {"imported": done.added, "skipped": done.skipped}
    if done.too_long:
        counts["too_long"] = done.too_long
    for line in done.too_long:
        note(f"Line {line['line']} is too long a memory: {line['size_bytes']:,} bytes. It was skipped.")
    there = done.skipped - len(done.too_long)
    if not dry_run:
        session.printed_as_json(counts)
        note(f"Imported {count_with_noun(done.added, 'memory')}; there already: {there}.")
        return
    plans = [plan for plan in done.plans if plan["plan_id"] is not None]
    if not session.printed_as_json({**counts, "plans": plans}):
        for plan in plans:
            _print_applied(plan["results"])
    told = f"To be imported: {count_with_noun(done.added, 'memory')}; there already: {there}."
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


def _text_or_stdin(text: str) -> str:
    """The text, or what standard input holds."""
    return typer.get_text_stream("stdin").read() if text == "-" else text


def _path(memory_id: str, below: str = "") -> str:
    named = f"/api/memories/{quote(memory_id, safe='')}"
    return f"{named}/{below}" if below else named


def _time(instant: str | None) -> str:
    """The time up to the minute; "" for None."""
    return (instant or "")[:16].replace("T", " ")


def _told_of(answer: Mapping[str, Any], *, dry_run: bool) -> str:
    """What an add did, in a sentence."""
    if dry_run:
        return f"{answer['message']}."
    happened = Counter(change["event"] for change in answer["results"])
    told = [
        f"{verb} {count_with_noun(happened[event], 'memory')}." for event, verb in _VERBS.items() if happened[event]
    ]
    return " ".join(told) or "Nothing new to remember."


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
