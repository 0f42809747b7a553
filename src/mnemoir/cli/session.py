"""The shared options of a command, and the connection to the server that they select."""

from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

if TYPE_CHECKING:
    from mnemoir.cli.connection import Connection

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The shared options of one command; None for those not given."""

    config: Path | None = None
    data_dir: Path | None = None
    url: str | None = None
    project: str | None = None

    @asynccontextmanager
    async def connected(self) -> "AsyncIterator[Connection]":
        """Connect to the server. The imports are local, because `--help` does not need them."""
        from mnemoir.cli.connection import connect
        from mnemoir.settings import load_settings

        settings = load_settings(self.config, {"storage.data_dir": self.data_dir})
        url = self.url.rstrip("/") if self.url else None
        in_process = self.data_dir is not None
        async with connect(settings, url=url, in_process=in_process) as connection:
            yield connection

    def target(self, path: str, query: Mapping[str, Any]) -> str:
        """`path` with its query string, including the project."""
        full = {**query, **({"project": self.project} if self.project else {})}
        return f"{path}?{urlencode(full)}" if full else path

    def ask(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: object = None) -> Any:
        """Connect, send one request and return the parsed answer."""

        async def once() -> Any:
            async with self.connected() as connection:
                return await connection.ask(method, self.target(path, query or {}), body)

        return run(once())


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; the only entry into asynchronous code."""
    import asyncio  # local: it takes a quarter of the time of --help, which does not need it

    return asyncio.run(work)
