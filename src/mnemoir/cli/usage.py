"""`mnemoir usage`: what users and tenants have stored and used, and how much of it they may."""

from typing import Annotated, Any

import typer

from mnemoir.cli.output import Config, DataDir, Json, Url, note, print_row
from mnemoir.cli.session import Session


def usage(
    user: Annotated[str | None, typer.Option("--user", "-u", help="Only of this user.")] = None,
    limited: Annotated[bool, typer.Option("--limited", help="Only what has a limit.")] = False,
    url: Url = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Print what is stored, and the tokens that models took, with the quotas on them."""
    session = Session(url=url, config=config, data_dir=data_dir, as_json=as_json)
    answer = session.ask("GET", "/api/usage")
    answer["results"] = [one for one in answer["results"] if _is_wanted(one, user, limited=limited)]
    if session.printed_as_json(answer):
        return
    for one in answer["results"]:
        whose = f"tenant {one['tenant']}" if one["user"] is None else f"user {one['user']}"
        most = "" if one["limit"] is None else f"of {one['limit']}"
        until = f"until {one['resets_at'][:10]}" if one["resets_at"] and most else ""
        print_row(*filter(None, (whose, f"{one['what']:<16}", f"{one['used']:>12}", most, until)))
    for bucket in answer["buckets"]:
        print_row(f"requests {bucket['bucket']:<7}", f"{bucket['remaining']} of {bucket['limit']} left")
    if not answer["results"]:
        note("Nothing is stored or used.")


def _is_wanted(one: dict[str, Any], user: str | None, *, limited: bool) -> bool:
    return (user is None or one["user"] == user) and (not limited or one["limit"] is not None)
