"""`mnemoir conversations …`: list, show, search, export, import and delete conversations."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
import typer

from mnemoir.cli.conversation_routes import CONVERSATIONS, conversation_path, text_of, tool_names
from mnemoir.cli.groups import group
from mnemoir.cli.output import LESS_LIKELY, count_with_noun, likely_and_others, note, print_row
from mnemoir.cli.session import Session, asking, run
from mnemoir.cli.transfer import output, read_file
from mnemoir.core.conversations import ImportFormat

commands = group("List, search, export, import and delete conversations.")
asks = asking(commands, projects=True)

Id = Annotated[str, typer.Argument(help="Id of the conversation, as list prints it.")]
User = Annotated[str, typer.Option("--user", "-u", help="Whose conversations.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print what would be done.")]

_HEADER = b'{"format":"mnemoir-conversation",'
_WHY = {
    "exists": "it is there; rename, replace or merge it with --on-conflict.",
    "unfinished": "it is there from an import that was cut; use --on-conflict replace.",
}
_CLIPPED = 200  # characters of a message in a list


@asks("list")
def list_conversations(
    session: Session,
    user: User = "user",
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1, max=200)] = 50,
    after: Annotated[
        str | None, typer.Option(help="Continue an earlier list: the value that it printed last.")
    ] = None,
) -> None:
    """Print conversations, newest activity first: id, time, number of messages, title or first words."""
    answer = session.ask("GET", CONVERSATIONS, query={"user_id": user, "limit": limit, "cursor": after})
    if session.printed_as_json(answer):
        return
    for one in answer["results"]:
        messages = count_with_noun(one["message_count"], "message")
        print_row(one["id"], _time(one["updated_at"]), messages, one["title"] or one["preview"] or "")
    if not answer["results"]:
        note(f"No more conversations of {user!r}." if after else f"There are no conversations of {user!r}.")
    if answer["next"]:
        note(f"More follow with --after {answer['next']}")


@asks()
def show(
    session: Session,
    id: Id,
    limit: Annotated[
        int, typer.Option(help="Maximum number of messages, counted from the newest.", min=1, max=1000)
    ] = 100,
    branches: Annotated[bool, typer.Option("--branches", help="The first messages of all branches instead.")] = False,
    user: User = "user",
) -> None:
    """Print the last messages of a conversation, oldest first."""
    query = {"user_id": user, "limit": limit, "view": "tree" if branches else "thread"}
    answer = session.ask("GET", conversation_path(id, "messages"), query=query)
    if session.printed_as_json(answer):
        return
    for message in answer["results"]:
        print_row(*_cells(message))
        for line in _lines(message):
            print_row(f"    {line}")
    if answer["next"]:
        note("There are more; --limit raises the number." if limit < 1000 else "There are more.")


@asks()
def search(
    session: Session,
    words: Annotated[list[str], typer.Argument(help="A question, or some words.")],
    conversation: Annotated[
        str | None, typer.Option("--conversation", help="Only in the conversation of this id.")
    ] = None,
    role: Annotated[
        Literal["user", "assistant", "system", "tool"] | None, typer.Option(help="Only messages of this role.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="Not before this time, ISO 8601.")] = None,
    until: Annotated[str | None, typer.Option(help="Before this time, ISO 8601.")] = None,
    mode: Annotated[
        Literal["hybrid", "semantic", "keyword"], typer.Option(help="By words, by meaning, or by both.")
    ] = "hybrid",
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1, max=100)] = 10,
    user: User = "user",
) -> None:
    """Find messages, best first."""
    query = {
        "user_id": user,
        "conversation_id": conversation,
        "role": role,
        "since": since,
        "until": until,
        "limit": limit,
        "mode": mode,
    }
    answer = session.ask("GET", f"{CONVERSATIONS}/search", query={"q": " ".join(words), **query})
    if session.printed_as_json(answer):
        return
    likely, others = likely_and_others(answer["results"])
    for hit in likely:
        print_row(*_cells_of_hit(hit))
    if others:
        print_row(LESS_LIKELY)
    for hit in others:
        print_row(*_cells_of_hit(hit))
    if not answer["results"]:
        note("Nothing was found.")


@asks("export")
def export_conversations(
    session: Session,
    id: Annotated[str | None, typer.Argument(help="Id of one conversation; else all of them.")] = None,
    file: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; else standard output.")] = None,
    format: Annotated[
        Literal["jsonl", "json", "markdown", "chatml"], typer.Option(help="Of one conversation; all are JSON lines.")
    ] = "jsonl",
    user: User = "user",
) -> None:
    """Write a conversation, or all of a user, into a file.

    What could not be read of all is named on standard error, and the exit code is then 1.
    """
    if id is None and format != "jsonl":
        raise typer.BadParameter("All conversations are written as JSON lines; name one for another format.")
    path = f"{CONVERSATIONS}/export" if id is None else conversation_path(id, "export")
    query = {"user_id": user} if id is None else {"user_id": user, "format": format}
    download = _download_lines if id is None else _download
    size, gaps = run(download(session, session.target(path, query), file))
    if file:
        session.printed_as_json({"bytes": size, **gaps})
    note(f"Exported {size} bytes.")
    for gap in gaps.get("missing", ()):
        note(f"Incomplete: {gap['id']}: {gap['reason']}.")
    if damaged := gaps.get("damaged_file"):
        note(f"What was in the damaged file {damaged} is not in it; see mnemoir doctor.")
    if gaps:
        raise typer.Exit(1)


@asks("import")
def import_conversations(
    session: Session,
    file: Annotated[
        Path, typer.Argument(help="A file of export, or of another program.", exists=True, dir_okay=False)
    ],
    format: Annotated[
        ImportFormat,
        typer.Option(help="The program that wrote it; auto detects it."),
    ] = "auto",
    on_conflict: Annotated[
        Literal["skip", "rename", "replace", "merge"],
        typer.Option(help="What to do with a conversation whose id exists already."),
    ] = "skip",
    dry_run: DryRun = False,
    user: User = "user",
) -> None:
    """Import the conversations of a file, completely or not at all."""
    query = {"user_id": user, "format": format, "on_conflict": on_conflict, "dry_run": "true" if dry_run else None}
    print_imported(session, session.ask("POST", f"{CONVERSATIONS}/import", query=query, body=read_file(file)))


def print_imported(session: Session, answer: Mapping[str, Any]) -> None:
    """Print what an import of conversations did, and what it left out."""
    if session.printed_as_json(answer):
        return
    for one in answer["skipped"]:
        note(f"Skipped {one['title'] or one['id']}: {_WHY.get(one['why'], one['why'])}")
    note_left_out(answer["left_out"], "conversations")
    note(f"{answer['message']}.")


def note_left_out(left_out: Mapping[str, int], kept: Literal["conversations", "memories"]) -> None:
    """Say what of a file had no place among what was kept of it."""
    if told := ", ".join(f"{count} of {kind}" for kind, count in left_out.items()):
        note(f"Left out, as {kept} have no place for it: {told}.")


@asks()
def delete(
    session: Session,
    id: Id,
    yes: Yes = False,
    user: User = "user",
) -> None:
    """Delete a conversation for good, with all data derived from it."""
    path = conversation_path(id)
    if not yes:
        typer.confirm(f"Forget all of conversation {id!r}?", abort=True, err=True)
    answer = session.ask("DELETE", path, query={"user_id": user})
    if session.printed_as_json(answer):
        return
    derived = answer["memories"] + answer["node_memories"]
    note(f"{answer['message']}; memories made of them: {derived}.")


@asks()
def prune(
    session: Session,
    days: Annotated[int, typer.Option(help="Age in days since the last use.", min=0, max=36_500)],
    dry_run: DryRun = False,
    yes: Yes = False,
    user: User = "user",
) -> None:
    """Delete conversations of a user that were not used for long; those marked as kept stay, and so do facts."""
    if not dry_run and not yes:
        typer.confirm(f"Forget all conversations of {user} not used for {days} days?", abort=True, err=True)
    answer = session.ask(
        "POST", f"{CONVERSATIONS}/prune", query={"user_id": user}, body={"days": days, "dry_run": dry_run}
    )
    if session.printed_as_json(answer):
        return
    for id in answer["ids"]:
        print_row(id)
    note(f"{answer['message']}.")


@asks("node-memory-cleanup")
def node_memory_cleanup(
    session: Session,
    older_than_days: Annotated[
        int | None,
        typer.Option(help="Also those not written for this number of days.", min=0, max=36_500, show_default=False),
    ] = None,
    dry_run: DryRun = False,
    user: User = "user",
) -> None:
    """Delete the memories that workflow nodes have of deleted conversations."""
    body = {"older_than_days": older_than_days, "dry_run": dry_run}
    answer = session.ask("POST", f"{CONVERSATIONS}/node-memory/cleanup", query={"user_id": user}, body=body)
    if session.printed_as_json(answer):
        return
    note(f"{answer['message']}; {answer['bytes']} bytes.")
    if answer["failed"]:
        note(f"{answer['failed']} could not be removed; run it again, and see the log.")
        raise typer.Exit(1)


async def _download(session: Session, target: str, file: Path | None) -> tuple[int, Mapping[str, Any]]:
    """Write the answer to the file or standard output; its size in bytes, and no gaps."""
    size = 0
    with output(file) as write:
        async with session.connect_to_server() as connection:
            async for piece in connection.pieces(target):
                write(piece)
                size += len(piece)
    return size, {}


async def _download_lines(session: Session, target: str, file: Path | None) -> tuple[int, Mapping[str, Any]]:
    """The same for an export of all; its size in bytes, and what its last line says is missing, {} for nothing."""
    size, last = 0, b""
    with output(file) as write:
        async with session.connect_to_server() as connection:
            async for last in connection.lines(target):
                write(last + b"\n")
                size += len(last) + 1
    return size, _gaps_in(last)


def _gaps_in(line: bytes) -> Mapping[str, Any]:
    if not line.startswith(_HEADER):
        return {}
    told = orjson.loads(line)
    return {name: told[name] for name in ("missing", "damaged_file")} if "missing" in told else {}


def _cells_of_hit(hit: Mapping[str, Any]) -> tuple[str, ...]:
    message = hit["message"]
    text = " ".join(" ".join(_lines(message)).split())[:_CLIPPED]
    return (hit["conversation_id"], *_cells(message), text)


def _cells(message: Mapping[str, Any]) -> tuple[str, ...]:
    marks = {
        "pinned": message["pinned"],
        "branch": not message["on_thread"],
        "incomplete": message["finish_reason"] == "incomplete",
    }
    told = [mark for mark, is_set in marks.items() if is_set]
    return (f"#{message['id']}", _time(message["created_at"]), message["role"], *told)


def _lines(message: Mapping[str, Any]) -> list[str]:
    """The lines of the text, and a line for each tool call."""
    return [*text_of(message["content"]).splitlines(), *(f"[calls {name}]" for name in tool_names(message))]


def _time(instant: str | None) -> str:
    """The time up to the minute; "" for None."""
    return (instant or "")[:16].replace("T", " ")
