"""`mnemoir subject …`: everything stored of a person, exported or erased."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from mnemoir.cli.groups import group
from mnemoir.cli.output import User, count_with_noun, note, print_row
from mnemoir.cli.session import Session, asking, named_in_path, run
from mnemoir.cli.transfer import output

commands = group("Export or erase everything that is stored of a person.")
asks = asking(commands, projects=True)

Tenant = Annotated[
    str | None, typer.Option(help="Whose user; else of the tenant of your key. Another one takes ADMIN_API_KEY.")
]


@asks()
def export(
    session: Session,
    file: Annotated[Path, typer.Argument(help="Zip archive to write; only its owner can read it.")],
    user: User = "user",
    tenant: Tenant = None,
) -> None:
    """Write everything stored of a person into one archive; with --project only of that one."""
    path = f"/api/subjects/{named_in_path(user, 'user')}/export"

    async def write() -> int:
        size = 0
        with output(file) as put:
            async with session.connect_to_server() as connection:
                async for piece in connection.pieces(session.target(path, {"tenant": tenant}), "POST"):
                    put(piece)
                    size += len(piece)
        return size

    size = run(write())
    if not session.printed_as_json({"file": str(file), "bytes": size}):
        print_row(file, f"{size} bytes")


@asks()
def erase(
    session: Session,
    user: Annotated[str, typer.Option("--user", "-u", help="Whom to erase.")],
    tenant: Tenant = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
) -> None:
    """Erase everything of a person, with a report; with --project only in that one. It cannot be taken back."""
    if not yes:
        typer.confirm(f"Erase everything of {user!r}? It cannot be taken back", abort=True, err=True)
    path = f"/api/subjects/{named_in_path(user, 'user')}/erase"
    report = session.ask("POST", path, query={"tenant": tenant})
    if session.printed_as_json(report):
        return
    for name, number in report["counts"].items():
        print_row(name, number)
    if not any(report["counts"].values()):
        note(f"Nothing was stored of {user!r}.")
    for key in report["live_keys"]:
        print_row(f"key {key['id']}", "goes on", key["role"], key["label"])
        note(f"`mnemoir keys revoke {key['id']}` ends it.")
    for backup in report["backups"]:
        place = f": {backup['path']}" if backup["path"] else ""
        note(f"The backup of {backup['made_at']} still holds it{_until(backup)}{place}")


def _until(backup: Mapping[str, Any]) -> str:
    if backup["ends_at"]:
        return f", until {backup['ends_at']}"
    return f", until there are {count_with_noun(backup['keep'], 'newer one')}" if backup["keep"] else ""
