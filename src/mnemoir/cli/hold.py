"""`mnemoir hold …`: users whose data nothing may delete."""

from typing import Annotated

import typer

from mnemoir.cli.groups import group
from mnemoir.cli.output import note, print_row
from mnemoir.cli.session import Session, asking, named_in_path
from mnemoir.cli.subject import Tenant

commands = group("Put users on legal hold, so that nothing of theirs is deleted.")
asks = asking(commands)

Held = Annotated[str, typer.Argument(help="The user.")]


@asks("set")
def set_hold(
    session: Session,
    user: Held,
    reason: Annotated[str, typer.Option(help="Why, for who reads the list.")],
    tenant: Tenant = None,
) -> None:
    """Put a user on hold, in all projects. Deleting and erasing are refused then, and retention stops."""
    path = f"/api/holds/{named_in_path(user, 'user')}"
    hold = session.ask("PUT", path, query={"tenant": tenant}, body={"reason": reason})
    if not session.printed_as_json(hold):
        print_row(hold["user_id"], hold["set_at"], hold["reason"])


@asks("clear")
def clear_hold(session: Session, user: Held, tenant: Tenant = None) -> None:
    """Lift the hold on a user."""
    answer = session.ask("DELETE", f"/api/holds/{named_in_path(user, 'user')}", query={"tenant": tenant})
    if not session.printed_as_json(answer):
        note(f"{user!r} is not on hold any more.")


@asks("list")
def list_holds(session: Session, tenant: Tenant = None) -> None:
    """Print who is on hold."""
    answer = session.ask("GET", "/api/holds", query={"tenant": tenant})
    if session.printed_as_json(answer):
        return
    for hold in answer["results"]:
        print_row(hold["user_id"], hold["set_at"], hold["reason"])
    if not answer["results"]:
        note("Nobody is on hold.")
