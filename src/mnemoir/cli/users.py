"""`mnemoir users …`: invite, list, disable and remove the people who sign in, also beside a running server."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnemoir.cli.access_file import opened_access_file
from mnemoir.cli.groups import group
from mnemoir.cli.keys import duration
from mnemoir.cli.output import Config, DataDir, Json, Url, note, print_json, print_row
from mnemoir.cli.session import Session, run
from mnemoir.core.errors import NotFound
from mnemoir.core.scope import Principal

if TYPE_CHECKING:
    from mnemoir.access.leaving import Left
    from mnemoir.access.sign_in.users import Users
    from mnemoir.core.users import Invitation, User

commands = group("Invite, list, disable and remove the people who sign in to the web pages.")

_BY = "command line"
_MOST_LISTED = 1000

Name = Annotated[str, typer.Argument(help="Name of the user, as list prints it.")]
Pages = Annotated[
    str | None,
    typer.Option(
        "--url",
        help="Address of the pages, with which the link begins; else server.public_url, else this machine's own.",
    ),
]


@commands.command()
def invite(
    name: Annotated[str | None, typer.Argument(help="Name to offer; they may choose another one.")] = None,
    role: Annotated[str, typer.Option(help="read, write, admin or operator.")] = "write",
    operator: Annotated[
        bool,
        typer.Option("--operator", help="Also see health and counts, and manage keys and tenants, of the server."),
    ] = False,
    memory_user: Annotated[
        str | None,
        typer.Option("--memory-user", "-u", help="Whose memories are theirs; else those of the name they choose."),
    ] = None,
    project: Annotated[
        list[str] | None,
        typer.Option("--project", "-p", help="Only for this project; may be repeated; else for all."),
    ] = None,
    calls: Annotated[
        list[str] | None,
        typer.Option("--calls", help="Only this user of the config tree; may be repeated; else all."),
    ] = None,
    tenant: Annotated[str, typer.Option(help="Whose data it is for.")] = "default",
    expires: Annotated[str, typer.Option(help="For how long the link counts: 7d, 12h.")] = "7d",
    url: Pages = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Print a link by which somebody becomes a user, once. From the first user on, a server lets nobody in without.

    The first admin is operator, too.
    """
    from mnemoir.core.users import Grant

    with _opened_users(config, data_dir, url, changes=True) as (users, page):
        is_first = not users.are_there
        grant = Grant(
            tenant=tenant,
            role=role,  # type: ignore[arg-type]  # it is checked with the rest
            is_operator=operator or (is_first and role == "admin"),
            memory_user=memory_user,
            projects=project or None,
            configs=calls or None,
        )
        made, token = users.invite(grant, name=name, by=_BY, lasting=duration(expires, "--expires"))
    _print_link(made, f"{page}/join#{token}", as_json=as_json)
    if is_first:
        note("Once somebody has joined, a server with this data needs a key or a sign-in with every request.")
        note("`mnemoir keys disable` takes that back on a server that only this machine reaches.")


@commands.command("list")
def list_users(
    tenant: Annotated[str | None, typer.Option(help="Of this tenant; else of all.")] = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Print all users, oldest first, and the open invitations."""
    with _opened_users(config, data_dir) as (users, _):
        found, invited = list(_all(users, tenant)), users.invitations(tenant)
    if as_json:
        from mnemoir.server.sign_in.users import invitation_json

        print_json(
            {"users": [_json(user) for user in found], "invitations": [dict(invitation_json(one)) for one in invited]}
        )
        return
    for user in found:
        print_row(user.name, "disabled" if user.disabled_at else "active", _rights(user), _whose(user))
    for one in invited:
        print_row(one.name or "(somebody)", "invited", _rights(one), f"until {one.expires_at:%Y-%m-%d %H:%M} UTC")
    if not found and not invited:
        note("There are no users.")


@commands.command()
def disable(name: Name, config: Config = None, data_dir: DataDir = None, as_json: Json = False) -> None:
    """End a user's sessions at once, and let them sign in no more. Keys that go on are printed."""
    _change(name, config, data_dir, is_disabled=True, as_json=as_json)


@commands.command()
def enable(name: Name, config: Config = None, data_dir: DataDir = None, as_json: Json = False) -> None:
    """Take `disable` back."""
    _change(name, config, data_dir, is_disabled=False, as_json=as_json)


@commands.command()
def remove(name: Name, config: Config = None, data_dir: DataDir = None, as_json: Json = False) -> None:
    """Remove a user with their own keys. What is remembered of them stays, and keys that go on are printed."""
    from mnemoir.access.api_keys import ApiKeys
    from mnemoir.access.leaving import remove as remove_person
    from mnemoir.access.sign_in.users import Users

    with opened_access_file(config, data_dir, changes=True) as file:
        users, keys = Users(file), ApiKeys(file)
        user = users.user_by_name(name)
        ended, left = remove_person(user, users, keys)
    if as_json:
        ids = [key.id for key in ended]
        print_json({"removed": user.name, "ended_keys": ids, **_left_json(left)})
        return
    print_row(user.name, "removed")
    for key in ended:
        print_row(f"key {key.id}", "ended", key.label)
    _print_left(left)


@commands.command()
def reset(
    name: Name, url: Pages = None, config: Config = None, data_dir: DataDir = None, as_json: Json = False
) -> None:
    """Print a link by which a user chooses a new password, or passkey, once. What they have counts until then."""
    with _opened_users(config, data_dir, url, changes=True) as (users, page):
        made, token = users.reset(users.user_by_name(name), by=_BY)
    _print_link(made, f"{page}/join#{token}", as_json=as_json)


@commands.command()
def adopt(
    name: Name,
    given: Annotated[
        str | None, typer.Option("--from", help="Memory user; else the one of callers who name none.")
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose user; else of the tenant of your key.")] = None,
    url: Url = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Give what is kept under a memory user to somebody who has nothing yet: what was said before they joined.

    A running server is asked to do it, with an admin's key or login.
    """
    session = Session(url=url, config=config, data_dir=data_dir, as_json=as_json)
    report = run(_adopt_user(session, name, given, tenant))
    if session.printed_as_json(report):
        return
    for what in ("memories", "conversations"):
        for project in report[what]:
            print_row(what, f"project {project}", f"of {report['from_user']} are now of {report['to_user']}")
    if not report["memories"] and not report["conversations"]:
        note(f"Nothing is kept under {report['from_user']!r}.")


async def _adopt_user(session: Session, name: str, given: str | None, tenant: str | None) -> dict[str, Any]:
    from mnemoir.core.users import comparable_name

    async with session.connect_to_server() as connection:
        cursor: str | None = None
        while True:
            query = {"limit": _MOST_LISTED, "cursor": cursor, "tenant": tenant}
            page = await connection.ask("GET", session.target("/api/users", query))
            for user in page["results"]:
                if comparable_name(user["name"]) == comparable_name(name):
                    body = {} if given is None else {"from_user": given}
                    found: dict[str, Any] = await connection.ask("POST", f"/api/users/{user['id']}/adopt", body)
                    return found
            cursor = page["next"]
            if cursor is None:
                raise NotFound(f"There is no user {name[:64]!r} here.")


@contextmanager
def _opened_users(
    config: Any, data_dir: Any, url: str | None = None, *, changes: bool = False
) -> "Iterator[tuple[Users, str]]":
    """The users of the data directory that the options name, and the address of the pages."""
    from mnemoir.access.sign_in.users import Users
    from mnemoir.settings import load_settings

    page = load_settings(config, {"storage.data_dir": data_dir, "server.public_url": url}).server.page_url
    with opened_access_file(config, data_dir, changes=changes) as file:
        yield Users(file), page


def _change(name: str, config: Any, data_dir: Any, *, is_disabled: bool, as_json: bool) -> None:
    from mnemoir.access.api_keys import ApiKeys
    from mnemoir.access.leaving import left_by
    from mnemoir.access.sign_in.users import Users

    with opened_access_file(config, data_dir, changes=True) as file:
        users = Users(file)
        user = users.change(users.user_by_name(name), is_disabled=is_disabled)
        left = left_by([user], users, ApiKeys(file))
    if as_json:
        print_json({**_json(user), **_left_json(left)})
        return
    print_row(user.name, "disabled" if is_disabled else "active")
    if is_disabled:
        _print_left(left)


def _print_left(left: "Left") -> None:
    """Print what goes on, and how to end it."""
    from mnemoir.cli.keys import whose

    for key in left.keys:
        print_row(f"key {key.id}", "goes on", key.role, whose(key), key.label)
        note(f"`mnemoir keys revoke {key.id}` ends it.")
    for one in left.invitations:
        print_row(f"invitation {one.id}", "is open", _rights(one), one.name or "(somebody)")
    if left.invitations:
        note("The page People and keys takes invitations back.")


def _left_json(left: "Left") -> dict[str, Any]:
    from mnemoir.server.sign_in.users import left_json

    keys, invitations = left_json(left, Principal())
    return {"live_keys": keys, "open_invitations": invitations}


def _all(users: "Users", tenant: str | None) -> "Iterator[User]":
    after = None
    while page := users.users_page(tenant, limit=_MOST_LISTED, after=after):
        yield from page
        after = page[-1]


def _print_link(made: "Invitation", link: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"id": made.id, "name": made.name, "link": link, "expires_at": made.expires_at})
        return
    print_row(link)
    note(f"The link counts once, until {made.expires_at:%Y-%m-%d %H:%M} UTC. It is shown this once.")
    if link.startswith("http://localhost"):
        note("It opens on this machine alone; --url gives it the address at which others reach the pages.")


def _json(user: "User") -> dict[str, Any]:
    from mnemoir.server.sign_in.users import user_json

    return dict(user_json(user))


def _rights(of: "User | Invitation") -> str:
    return f"{of.grant.role}, operator" if of.grant.is_operator else of.grant.role


def _whose(user: "User") -> str:
    grant = user.grant
    projects = "all projects" if grant.projects is None else f"project {', '.join(grant.projects)}"
    calls = "" if grant.configs is None else f", calls {', '.join(grant.configs)}"
    of_tenant = "" if grant.tenant == "default" else f"tenant {grant.tenant}, "
    return f"{of_tenant}{projects}, memories of {grant.memory_user}{calls}"
