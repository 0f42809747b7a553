"""`mnemoir import`: brings chats or memories of other programs in, whichever a file holds."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mnemoir.cli.conversation_routes import CONVERSATIONS
from mnemoir.cli.conversations import note_left_out, print_imported
from mnemoir.cli.output import count_with_noun, note
from mnemoir.cli.session import Session, asking
from mnemoir.cli.transfer import read_file
from mnemoir.core.errors import InvalidRequest

_JSON = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*[\[{\]])"
)  # as a file of objects begins, and no list of dated lines


def import_file(
    session: Session,
    file: Annotated[Path, typer.Argument(help="An export, or another program's file.", exists=True, dir_okay=False)],
    kind: Annotated[
        Literal["auto", "conversations", "memories"],
        typer.Option("--as", help="What the file holds; auto looks into it. Plain text is read as memories only."),
    ] = "auto",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be done.")] = False,
    user: Annotated[str, typer.Option("--user", "-u", help="Whose they are to be.")] = "user",
) -> None:
    """Import the chats or the memories in a file, all of it or nothing."""
    data = read_file(file)
    query: dict[str, Any] = {"user_id": user, "dry_run": "true" if dry_run else None}
    if kind != "memories":
        try:
            answer = session.ask("POST", f"{CONVERSATIONS}/import", query=query, body=data)
        except InvalidRequest as exc:
            if exc.code != "wrong_kind" or kind == "conversations":
                raise
        else:
            print_imported(session, answer)
            return
    if kind == "memories" and not _JSON.match(data):
        query["format"] = "text"
    answer = session.ask("POST", "/api/import", query=query, body=data)
    if session.printed_as_json(answer):
        return
    for one in answer.get("too_long", ()):
        note(f"Memory {one['line']} is too long: {one['size_bytes']:,} bytes. It was skipped.")
    note_left_out(answer.get("left_out", {}), "memories")
    verb = "To be imported" if dry_run else "Imported"
    there = answer["skipped"] - len(answer.get("too_long", ()))
    note(f"{verb}: {count_with_noun(answer['imported'], 'memory')}; there already: {there}.")


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""
    asking(app, projects=True)("import")(import_file)
