"""Servers for tests, forked from a process that has imported everything: an import takes a second of processor time.

A test worker keeps one such process. Asked by a line of JSON on its standard input, it forks a child that takes over
the directory, environment, umask, limits, arguments and log it is given and then runs the command `mnemoir`, as
`python -m mnemoir` does. That the real command starts is shown by tests/cli/test_serve_command.py and test_wheel.py.
"""

import asyncio
import atexit
import contextlib
import gc
import importlib
import json
import logging
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn, cast

import psutil
import structlog
import typer.main
from typer.core import TyperGroup

CHECKOUT = Path(__file__).parents[1]
_IMPORTED = (
    *("mnemoir.cli.serve", "mnemoir.server", "mnemoir.app.logs", "mnemoir.trees.served", "typer._adapters"),
    *("mnemoir.providers.embedding.minilm_encoder", "onnxruntime", "tokenizers", "uvloop", "uvicorn.lifespan.off"),
    "encodings.idna",  # of `getaddrinfo`
)
# what a server makes of a first request, such as hundreds of patterns, costs it three times as much as its start
_FIRST_REQUESTS = (
    ("POST", "/api/memories", {"messages": [{"role": "user", "content": "I live in Bern."}], "user_id": "anna"}),
    ("POST", "/api/memories/search", {"query": "Where does she live?", "user_id": "anna"}),
    ("POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": "Hello"}], "user": "anna"}),
)
_PASSED_LIMITS = (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE)
_BEFORE_IMPORT = ("PYTHON", "LD_")  # what is read when a process starts cannot be given to a fork


class ForkedServer:
    """A server that is no child of this process: as much of subprocess.Popen as a test needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._handle: int | None = os.pidfd_open(pid)
        except ProcessLookupError:
            self._handle = None  # it has ended already

    def poll(self) -> int | None:
        """None while it runs; how it ended nobody is told."""
        return self._ended_within(0)

    def wait(self, timeout: float) -> int:
        ended = self._ended_within(timeout)
        if ended is None:
            raise subprocess.TimeoutExpired("mnemoir serve", timeout)
        return ended

    def send_signal(self, how: signal.Signals) -> None:
        if self.poll() is None and self._handle is not None:
            signal.pidfd_send_signal(self._handle, how)

    def _ended_within(self, timeout_s: float) -> int | None:
        if self._handle is None:
            return 0
        look = select.poll()
        look.register(self._handle, select.POLLIN)
        if not look.poll(timeout_s * 1000):
            return None
        os.close(self._handle)
        self._handle = None
        return 0


class Forker:
    """The process that forks; started when it is first needed, ended with `close`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._one_at_a_time = threading.Lock()

    def can(self, environment: Mapping[str, str]) -> bool:
        """Whether a fork is the same as a process of its own."""
        set_here = {name for name, value in environment.items() if os.environ.get(name) != value}
        return hasattr(os, "pidfd_open") and not any(name.startswith(_BEFORE_IMPORT) for name in set_here)

    def start(
        self, arguments: Sequence[str], *, environment: Mapping[str, str], directory: Path, log: Path
    ) -> ForkedServer:
        """`mnemoir` with these arguments; what it prints goes to the end of `log`."""
        wanted = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "directory": str(directory),
            "log": str(log),
            "umask": _umask(),
            "limits": [resource.getrlimit(limit) for limit in _PASSED_LIMITS],
        }
        with self._one_at_a_time:
            forking = self._process = self._process or _forking()
            assert forking.stdin is not None
            assert forking.stdout is not None
            forking.stdin.write(json.dumps(wanted) + "\n")
            forking.stdin.flush()
            return ForkedServer(int(forking.stdout.readline()))

    @property
    def used_s(self) -> float:
        """Seconds of processor time of all servers that have ended."""
        if self._process is None:
            return 0.0
        used = psutil.Process(self._process.pid).cpu_times()
        return float(used.children_user + used.children_system)

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()  # the end of its input is its end
            self._process = None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _forking() -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.forked_servers"]
    return subprocess.Popen(command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _become(wanted: dict) -> None:
    """Take over what a process of its own would have been given."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(wanted["directory"])
    os.umask(wanted["umask"])
    for limit, values in zip(_PASSED_LIMITS, wanted["limits"], strict=True):
        resource.setrlimit(limit, tuple(values))
    os.environ.clear()
    os.environ.update(wanted["environment"])
    time.tzset()
    log = os.open(wanted["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, place in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, place)
    os.close(log)
    os.close(nothing)
    sys.path[0] = os.getcwd()
    sys.argv = [importlib.import_module("mnemoir").__path__[0] + "/__main__.py", *wanted["arguments"]]


def _run() -> NoReturn:
    """The command to its end, but for taking all modules apart, which copies the memory shared with this process."""
    status: object = 0
    try:
        importlib.import_module("mnemoir.cli").main()
    except SystemExit as ended:
        status = ended.code
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the end of any process does
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else status is not None)


def _reap(*_: object) -> None:
    """Take note of every child that ended: so its processor time counts as that of this process."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


async def _answer_first_requests(data_dir: str) -> None:
    """What is made at its first use, and then kept, is made by this process: children find it."""
    given = {"storage.data_dir": data_dir, "llm.provider": "offline"}
    load_settings = importlib.import_module("mnemoir.settings").load_settings
    server = importlib.import_module("mnemoir.server")
    parts = await importlib.import_module("mnemoir.app.parts").open_parts(load_settings(None, given, environ={}))
    app = server.create_app(parts, server.ServerOptions())
    call = importlib.import_module("mnemoir.providers.http").call_asgi
    for method, target, body in _FIRST_REQUESTS:
        answer = await call(app, method, target, body=json.dumps(body).encode())
        assert answer.status == 200, answer.body
    await parts.aclose()


def main() -> None:
    """Import, fork for each line, and in a child be the command."""
    gc.disable()
    for name in _IMPORTED:
        importlib.import_module(name)
    importlib.import_module("mnemoir.workflows.node").installed_nodes()
    importlib.import_module("mnemoir.providers.embedding.minilm_model").MiniLM()._load()  # it runs without threads
    typer.main.get_command = cache(typer.main.get_command)  # the command is the same for all children
    app_with = importlib.import_module("mnemoir.cli.commands").app_with
    command = cast(TyperGroup, typer.main.get_command(app_with("serve")))
    for parameter in (*command.params, *command.commands["serve"].params):
        parameter.get_runtime_param()  # type: ignore[attr-defined]  # of Typer, which keeps it
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with tempfile.TemporaryDirectory(prefix="forked-") as folder:
        asyncio.run(_answer_first_requests(folder))
    structlog.reset_defaults()
    assert threading.active_count() == 1, "a fork has none of the other threads"
    gc.freeze()  # what children share with this process is not looked through, which would copy it
    gc.enable()
    signal.signal(signal.SIGCHLD, _reap)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _become(json.loads(line))
            _run()
        print(pid, flush=True)


if __name__ == "__main__":
    main()
