"""Running the server: a socket, uvicorn with this server's limits, and an orderly shutdown."""

import asyncio
import contextlib
import signal
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from types import FrameType
from typing import Any, TypeVar

import structlog
import uvicorn
from starlette.types import ASGIApp

from mnemoir.core.errors import SettingsError
from mnemoir.server.door.entry import connection_class
from mnemoir.server.door.options import ServerOptions, check_exposure

T = TypeVar("T")

_log = structlog.get_logger(__name__)
_BACKLOG = 2048
_ACCEPTED_AT_ONCE = 16  # uvloop accepts one connection of each socket in a round of its loop
_SEND_BUFFER = 256 * 1024
_OTHER_FILES = 128  # descriptors for databases and the log
_TELLING_S = 2.0  # for requests that were cut off to tell that
SWITCH_S = 0.001  # a thread that computes gives way to the loop after it: a request changes threads several times
_SPARE = 1.25  # connections over the limit that still get a refusal (`connection.py`)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` to its end on the fastest event loop available."""
    sys.setswitchinterval(SWITCH_S)
    try:
        import uvloop
    except ImportError:  # Windows
        return asyncio.run(main)
    return uvloop.run(main)


async def serve(
    app: ASGIApp,
    options: ServerOptions,
    *,
    listener: socket.socket | None = None,
    on_started: Callable[[int], None] = lambda port: None,
) -> None:
    """Serve until SIGINT or SIGTERM, or until cancelled; requests under way get `graceful_s` to end.

    `on_started` is called with the port when connections are accepted. Raises SettingsError for an address on which
    the server must not or cannot listen.
    """
    check_exposure(options)
    with listener or bind(options.host, options.port) as listening:
        most = _room_for(options)
        config = uvicorn.Config(
            app,
            http=connection_class(most, options.request_deadline_s),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # client_address.py reads X-Forwarded-For
            backlog=_BACKLOG,
            timeout_keep_alive=max(1, round(options.keep_alive_s)),
            timeout_graceful_shutdown=max(1, round(options.graceful_s)),
        )
        server = _Server(config, lambda: on_started(int(listening.getsockname()[1])))
        sockets = [listening, *(listening.dup() for _ in range(_ACCEPTED_AT_ONCE - 1))]
        try:
            # a task of its own: uvicorn wakes up ten times a second, and would wake every task that awaits it here
            await asyncio.create_task(server.serve(sockets=sockets), name="server")
        except asyncio.CancelledError:
            await server.shutdown(sockets=sockets)  # uvicorn itself leaves connections open when cancelled
            raise


def bind(host: str, port: int) -> socket.socket:
    """A socket bound to that address. Raises SettingsError with the reason for a failure."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as exc:
        raise SettingsError(f"Cannot listen on {host}: {exc.strerror or exc}. Check server.host.") from exc
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # inherited by every connection; by default the kernel buffers up to 4 MiB for a reader that stands still
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        listener.bind(address)
    except OSError as exc:
        listener.close()
        raise SettingsError(
            f"Cannot listen on {host} port {port}: {exc.strerror or exc}. "
            "Stop what listens there, or choose another with --port."
        ) from exc
    return listener


class _Server(uvicorn.Server):
    """uvicorn with a callback for its start; it leaves the end of the process to its caller."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        if self.server_state.tasks:  # cancelled as their time was up; each tells its client
            await asyncio.wait(self.server_state.tasks, timeout=_TELLING_S)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn's own raises the signal again at the end, which would kill the process before the parts are closed
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.handle_exit(number, frame)


def _room_for(options: ServerOptions) -> int:
    """The number of connections the process may hold: the descriptor limit is raised, or the number lowered.

    Each chat under way has another connection, to a model.
    """
    most_connections, other_files = options.most_connections, _OTHER_FILES + options.most_active_chats
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return most_connections
    wanted = int(most_connections * _SPARE) + other_files
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return most_connections
    possible = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (possible, hard))
    if possible >= wanted:
        return most_connections
    room = max(1, int((possible - other_files) / _SPARE))
    _log.warning("fewer connections than configured", most_connections=room, descriptors=possible)
    return room
