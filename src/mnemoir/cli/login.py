"""`mnemoir login` and `logout`: a person's own way to a server that needs keys, for the commands that call it."""

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnemoir.cli.output import Config, Json, Url, note, print_json, print_row
from mnemoir.cli.session import run
from mnemoir.core.errors import NotFound, ProviderUnavailable, Unauthorized

if TYPE_CHECKING:
    from mnemoir.settings import Settings


def login(
    name: Annotated[str | None, typer.Option("--name", help="Your name; else it is asked for.")] = None,
    url: Url = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Sign in to a running server by name and password. Commands then call it as you, for some hours."""
    from mnemoir.cli.logins import Login, keep

    settings = _settings(config)
    address = _address(settings, url)
    typed = name or _typed_line("Name", is_hidden=False)
    body = {"name": typed, "password": _typed_line(f"Password of {typed}", is_hidden=True)}
    answer = run(_ask(settings, address, "/api/auth/terminal", body))
    keep(address, Login(name=answer["user"]["name"], token=answer["token"]))
    _warn_of_key()
    if as_json:
        print_json({"url": address, "user": answer["user"]})
        return
    print_row(f"Logged in to {address} as {answer['user']['name']}")


def logout(url: Url = None, config: Config = None, as_json: Json = False) -> None:
    """End the login at a server, and forget it."""
    from mnemoir.cli.logins import drop, login_at

    settings = _settings(config)
    address = _address(settings, url)
    known = login_at(address)
    if known is None:
        raise NotFound(f"There is no login at {address}.")
    try:
        run(_ask(settings, address, "/api/auth/sign-out", token=known.token))
    except Unauthorized:
        pass  # it has ended there already
    except ProviderUnavailable as exc:
        note(f"{exc.message} The login is forgotten here; at the server it ends by itself.")
    drop(address)
    if as_json:
        print_json({"url": address, "user": known.name})
        return
    print_row(f"Logged out of {address}")


async def _ask(settings: "Settings", address: str, path: str, body: object = None, *, token: str = "") -> Any:
    from mnemoir.cli.connection import OverHttp, is_mnemoir, own_headers
    from mnemoir.providers.http import new_session

    async with new_session(settings.http.proxies) as session:
        if not await is_mnemoir(address, session):
            raise ProviderUnavailable(f"No server answers at {address}. Give its address with --url.")
        sent = own_headers("cli") | ({"authorization": f"Bearer {token}"} if token else {})
        return await OverHttp(address, session, sent).ask("POST", path, body)


def _settings(config: Any) -> "Settings":
    from mnemoir.settings import load_settings

    return load_settings(config, {})


def _address(settings: "Settings", url: str | None) -> str:
    return url.rstrip("/") if url else settings.server.url


def _typed_line(what: str, *, is_hidden: bool) -> str:
    """What somebody types at the terminal; else the next line of the input."""
    if sys.stdin.isatty():
        return str(typer.prompt(what, hide_input=is_hidden, err=True))
    return sys.stdin.readline().rstrip("\r\n")


def _warn_of_key() -> None:
    from mnemoir.settings.keys import KEY_VARIABLE

    if os.environ.get(KEY_VARIABLE, "").strip():
        note(f"{KEY_VARIABLE} is set: commands go on with that key until you unset it.")
