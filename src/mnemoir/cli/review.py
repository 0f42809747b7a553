"""`mnemoir memories review …`: what waits for a review is listed, approved, edited and refused."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

import typer

from mnemoir.cli.groups import group
from mnemoir.cli.output import User, count_with_noun, note, print_row
from mnemoir.cli.session import Session, asking

commands = group("List, approve, edit and refuse what waits for a review.")
asks = asking(commands, projects=True)

Ids = Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Ids of proposals, as list prints them.")]
Everything = Annotated[bool, typer.Option("--all", help="All proposals of --user.")]

_QUEUE = "/api/memories/proposals"


@asks("list")
def list_proposals(
    session: Session,
    user: User = "user",
    limit: Annotated[int, typer.Option(help="Maximum number of proposals.", min=1, max=200)] = 50,
    cursor: Annotated[str | None, typer.Option(help="Where the next page begins, as --json names it.")] = None,
) -> None:
    """Print what waits, newest first."""
    answer = session.ask("GET", _QUEUE, query={"user_id": user, "limit": limit, "cursor": cursor})
    if session.printed_as_json(answer):
        return
    for one in answer["results"]:
        instead = f" (now: {one['previous_memory']})" if one["previous_memory"] is not None else ""
        print_row(one["id"], one["event"], one["memory"] + instead, one["reason"])
    if not answer["results"]:
        note("Nothing waits.")


@asks()
def approve(session: Session, ids: Ids = None, everything: Everything = False, user: User = "user") -> None:
    """Make proposed changes; each change can be undone."""
    answer = session.ask("POST", f"{_QUEUE}/approve", body=_request_body(ids, everything, user))
    if not session.printed_as_json(answer):
        for change in answer["changes"]:
            for row in change["results"]:
                print_row(change["id"], row["event"], row["memory"])
        for failed in answer["failed"]:
            note(failed["error"])
    if answer["failed"]:
        raise typer.Exit(1)


@asks()
def edit(
    session: Session,
    proposal_id: Annotated[str, typer.Argument(help="Id of the proposal, as list prints it.")],
    text: Annotated[str, typer.Argument(help="What is to be remembered instead.")],
    user: Annotated[str | None, typer.Option("--user", "-u", help="Owner, if it must be this one.")] = None,
) -> None:
    """Give a proposal another text; it still waits."""
    path = f"{_QUEUE}/{quote(proposal_id, safe='')}"
    answer = session.ask("PATCH", path, query={"user_id": user}, body={"memory": text})
    if session.printed_as_json(answer):
        return
    print_row(answer["id"], answer["event"], answer["memory"])
    note(f"Approve it with: mnemoir memories review approve {answer['id']} --user {answer['user_id']}")


@asks()
def refuse(session: Session, ids: Ids = None, everything: Everything = False, user: User = "user") -> None:
    """Drop proposals."""
    answer = session.ask("POST", f"{_QUEUE}/refuse", body=_request_body(ids, everything, user))
    if not session.printed_as_json(answer):
        note(f"Refused {count_with_noun(answer['refused'], 'proposal')}.")


def _request_body(ids: list[str] | None, everything: bool, user: str) -> Mapping[str, Any]:
    if everything == bool(ids):
        raise typer.BadParameter("Give either the ids of proposals, or --all.")
    return {"user_id": user, "all": True} if everything else {"user_id": user, "ids": ids}
