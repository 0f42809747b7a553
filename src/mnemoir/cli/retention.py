"""`mnemoir retention run`: delete now what the settings keep no longer."""

from typing import Annotated

import typer

from mnemoir.cli.groups import group
from mnemoir.cli.output import note, print_row
from mnemoir.cli.session import Session, asking

commands = group("Delete what is older than the settings keep it.")
asks = asking(commands)


@commands.callback()
def _group() -> None:
    """A group also while it has one command."""


@asks("run")
def run_retention(
    session: Session,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print how much would go.")] = False,
) -> None:
    """Delete what is too old, as a running server does every hour, and print how much of what."""
    answer = session.ask("POST", "/api/retention/run", query={"dry_run": "true" if dry_run else None})
    if session.printed_as_json(answer):
        return
    for name, number in answer["counts"].items():
        print_row(name, number)
    if not any(answer["counts"].values()):
        note("Nothing is too old.")
