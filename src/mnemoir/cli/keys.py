"""`mnemoir keys …`: make, list, rotate and revoke the keys of a data directory, also beside a running server."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnemoir.cli.access_file import opened_access_file, served_settings
from mnemoir.cli.groups import group
from mnemoir.cli.output import Config, DataDir, Json, note, print_json, print_row
from mnemoir.core.errors import InvalidRequest

if TYPE_CHECKING:
    from mnemoir.access.api_keys import ApiKeys
    from mnemoir.core.api_keys import ApiKey
    from mnemoir.core.usage import Limits

commands = group("Make, list and revoke the keys that callers of a server need.")

_BY = "command line"
_MOST_LISTED = 1000
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}

KeyId = Annotated[str, typer.Argument(help="Id of the key, as list prints it.")]


@commands.command()
def create(
    role: Annotated[str, typer.Option(help="read, write, admin or operator.")] = "write",
    user: Annotated[str | None, typer.Option("--user", "-u", help="Only for this user; else for all.")] = None,
    project: Annotated[
        list[str] | None,
        typer.Option("--project", "-p", help="Only for this project; may be repeated; else for all."),
    ] = None,
    calls: Annotated[
        list[str] | None,
        typer.Option("--calls", help="Only this user of the config tree; may be repeated; else all."),
    ] = None,
    tenant: Annotated[str, typer.Option(help="Whose data it is for.")] = "default",
    label: Annotated[str, typer.Option(help="What or whom it is for.")] = "",
    expires: Annotated[str | None, typer.Option(help="When it ends: 90d, 12h, or a time such as 2027-01-31.")] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option("--limit", help="A quota of its own, such as tokens_day=50000; may be repeated."),
    ] = None,
    test: Annotated[bool, typer.Option("--test", help="Mark it as a key for tests: mn_test_…")] = False,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Make a key and print it, this once. From the first key on, a server needs one with every request."""
    with _open_keys(config, data_dir, changes=True) as keys:
        is_first = not keys.keys_page(None, limit=1)
        made, text = keys.create(
            role=role,
            tenant=tenant,
            projects=project or None,
            user=user,
            configs=calls or None,
            label=label,
            expires_at=_end(expires),
            env="test" if test else "live",
            limits=_limits(limit or []),
            by=_BY,
        )
        [limits] = keys.limits_of([made])
    _print_new(made, limits, text, as_json=as_json)
    if is_first:
        note("This is the first key: a server with this data now needs one with every request.")
        note("`mnemoir keys disable` takes that back on a server that only this machine reaches.")


@commands.command("list")
def list_keys(
    tenant: Annotated[str | None, typer.Option(help="Of this tenant; else of all.")] = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Print all keys without their secrets, oldest first."""
    with _open_keys(config, data_dir) as keys:
        found = list(_all(keys, tenant))
        limits = keys.limits_of(found)
        needed = keys.are_required(is_local=True)
    if as_json:
        print_json({"required": needed, "keys": [_json(key, own) for key, own in zip(found, limits, strict=True)]})
        return
    for key, own in zip(found, limits, strict=True):
        told = ", ".join(f"{what}={most}" for what, most in own.items())
        print_row(key.id, key.state, key.role, whose(key), *filter(None, (key.label, told and f"at most {told}")))
    if not found:
        note("There are no keys.")
    elif not needed:
        note("Keys are switched off for servers that only this machine reaches (`mnemoir keys enable`).")


@commands.command()
def revoke(key_id: KeyId, config: Config = None, data_dir: DataDir = None, as_json: Json = False) -> None:
    """End a key at once."""
    with _open_keys(config, data_dir, changes=True) as keys:
        key = keys.revoke(key_id)
        [limits] = keys.limits_of([key])
    if as_json:
        print_json(_json(key, limits))
    else:
        print_row(key.id, key.state)


@commands.command()
def rotate(
    key_id: KeyId,
    overlap: Annotated[str, typer.Option(help="For how long the former key goes on: 24h, 30m, 7d.")] = "24h",
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Make a key with the same rights in place of another, and print it, this once."""
    from mnemoir.upkeep.rekeying import warning_of_rotation

    settings = served_settings(config, data_dir)
    with _open_keys(config, settings.storage.data_dir, changes=True) as keys:
        made, text = keys.rotate(key_id, overlap=duration(overlap, "--overlap"), by=_BY)
        [limits] = keys.limits_of([made])
    _print_new(made, limits, text, as_json=as_json)
    if warning := warning_of_rotation(settings, made):
        note(warning)


@commands.command()
def disable(config: Config = None, data_dir: DataDir = None, as_json: Json = False) -> None:
    """Need no key any more, on a server that only this machine reaches. All keys are kept."""
    with _open_keys(config, data_dir, changes=True) as keys:
        keys.switch(on=False)
    if as_json:
        print_json({"required": False})
    note("A server that only this machine reaches needs no key now, but for those of its settings (API_KEYS).")


@commands.command()
def enable(config: Config = None, data_dir: DataDir = None, as_json: Json = False) -> None:
    """Take `disable` back."""
    with _open_keys(config, data_dir, changes=True) as keys:
        keys.switch(on=True)
        required = keys.are_required(is_local=True)
    if as_json:
        print_json({"required": required})
    elif required:
        note("A key or a sign-in is required again.")
    else:
        note("Nothing is required: there is no key, and nobody who signs in. Make one with `mnemoir keys create`.")


@contextmanager
def _open_keys(config: Any, data_dir: Any, *, changes: bool = False) -> "Iterator[ApiKeys]":
    from mnemoir.access.api_keys import ApiKeys

    with opened_access_file(config, data_dir, changes=changes) as file:
        yield ApiKeys(file)


def _all(keys: "ApiKeys", tenant: str | None) -> "Iterator[ApiKey]":
    after = None
    while page := keys.keys_page(tenant, limit=_MOST_LISTED, after=after):
        yield from page
        after = page[-1]


def _print_new(made: "ApiKey", limits: "Limits", text: str, *, as_json: bool) -> None:
    if as_json:
        print_json({**_json(made, limits), "key": text})
        return
    print_row(text)
    note(f"Key {made.id}: {made.role}, {whose(made)}. It is shown this once; keep it in a safe place.")


def _json(key: "ApiKey", limits: "Limits") -> dict[str, Any]:
    from mnemoir.server.keys.records import key_json

    return dict(key_json(key, limits))


def whose(key: "ApiKey") -> str:
    """Whose data the key is for, in words."""
    projects = "all projects" if key.projects is None else f"project {', '.join(key.projects)}"
    of_tenant = "" if key.tenant == "default" else f"tenant {key.tenant}, "
    calls = "" if key.configs is None else f", calls {', '.join(key.configs)}"
    return f"{of_tenant}{projects}, {'all users' if key.user is None else f'user {key.user}'}{calls}"


def _limits(texts: list[str]) -> dict[str, int]:
    limits = {}
    for text in texts:
        name, _, number = text.partition("=")
        if not (number.isascii() and number.isdecimal()):
            raise InvalidRequest(
                f"--limit must be a quota and a number, such as tokens_day=50000; it is {text[:60]!r}."
            )
        limits[name] = int(number)
    return limits


def _end(text: str | None) -> datetime | None:
    from mnemoir.core.clock import from_text, utc_now

    if text is None:
        return None
    at = from_text(text)
    return utc_now() + duration(text, "--expires") if at is None else at


def duration(text: str, option: str) -> timedelta:
    """The time that `text` names, such as 24h. Raises InvalidRequest naming the option."""
    count, unit = text[:-1], _UNITS.get(text[-1:])
    if unit is None or not (count.isascii() and count.isdecimal()) or len(count) > 5:
        raise InvalidRequest(f"{option} must be a number with m, h or d, such as 24h; it is {text[:40]!r}.")
    return timedelta(**{unit: int(count)})
