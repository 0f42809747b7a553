"""The shared options of commands that call a server, and the session with its connection that they select."""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode

import typer

from mnemoir.cli.output import Config, DataDir, Json, Project, Url, print_json
from mnemoir.core.errors import InvalidRequest

if TYPE_CHECKING:
    from mnemoir.cli.connection import Connection

T = TypeVar("T")
Command = Callable[..., None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The shared options of one command; None for those not given. `asking` adds each of them to a command."""

    project: Project = None
    url: Url = None
    config: Config = None
    data_dir: DataDir = None
    as_json: Json = False

    @asynccontextmanager
    async def connect_to_server(self) -> "AsyncIterator[Connection]":
        """Connect to the server. The imports are local, because `--help` does not need them."""
        from mnemoir.cli.connection import connect
        from mnemoir.settings import load_settings

        settings = load_settings(self.config, {"storage.data_dir": self.data_dir})
        url = self.url.rstrip("/") if self.url else None
        in_process = self.data_dir is not None
        async with connect(settings, url=url, in_process=in_process) as connection:
            yield connection

    def target(self, path: str, query: Mapping[str, Any]) -> str:
        """`path` with its query string, including the project. Values that are None are left out."""
        full = {**query, "project": self.project}
        given = urlencode({name: value for name, value in full.items() if value is not None})
        return f"{path}?{given}" if given else path

    def ask(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: object = None) -> Any:
        """Connect, send one request and return the parsed answer."""

        async def once() -> Any:
            async with self.connect_to_server() as connection:
                return await connection.ask(method, self.target(path, query or {}), body)

        return run(once())

    def printed_as_json(self, answer: object) -> bool:
        """Print the answer as JSON if --json asks for it. Returns whether it was printed."""
        if self.as_json:
            print_json(answer)
        return self.as_json


def asking(group: typer.Typer, *, projects: bool = False) -> Callable[..., Callable[[Command], Command]]:
    """A decorator that adds a command to the group and passes it a Session with the values of the shared options.

    They follow the command's own options; only a group with `projects` has --project.
    """
    shared = [one for one in inspect.signature(Session).parameters.values() if projects or one.name != "project"]

    def asks(name: str | None = None) -> Callable[[Command], Command]:
        def add(command: Command) -> Command:
            @wraps(command)
            def with_session(**given: Any) -> None:
                command(Session(**{one.name: given.pop(one.name) for one in shared}), **given)

            _, *own = inspect.signature(command).parameters.values()
            with_session.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]  # typer reads it
            group.command(name)(with_session)
            return command

        return add

    return asks


def named_in_path(name: str, what: str) -> str:
    """The name as one step of a URL's path. Raises InvalidRequest for "", "." and ".."."""
    if name in ("", ".", ".."):
        raise InvalidRequest(f"{name!r} is not a valid {what}.")
    return quote(name, safe="", errors="replace")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; the only entry into asynchronous code."""
    import asyncio  # local: it takes a quarter of the time of --help, which does not need it

    return asyncio.run(work)
