"""The real server as a process of its own, for tests that kill it, restart it or look at it from outside."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tests.forked_servers import ForkedServer, Forker

_PORTS = range(20_000, 32_000)
_START_S = 300.0  # it ends what hangs and measures nothing; a start that fails is seen at once
# what a developer's shell may hold and no test may use
_NOT_PASSED_ON = ("OPENAI_", "OLLAMA_", "MNEMOIR_", "MEMORY_", "API_KEYS", "ADMIN_API_KEY", "STORAGE_BACKEND", "HOST")


def free_port() -> int:
    """A random port of the loopback interface that nobody listens on now.

    The system gives ports of this range to no connection and to no server that asks for any port: one of those could
    take it before it is used.
    """
    while True:
        port = secrets.choice(_PORTS)  # processes of tests share the seed of `random`
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def clean_environment(**given: str) -> dict[str, str]:
    """This process's environment without settings of Mnemoir, and no Ollama to be found by chance."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_PASSED_ON)}
    return {**kept, "OLLAMA_HOST": f"127.0.0.1:{free_port()}", **given}


class ServerProcess:
    """`mnemoir serve` on a free port over a data directory; a context manager that ends what it started."""

    forker: Forker | None = None  # tests have one, to start in a tenth of the time; who measures a start has none

    def __init__(
        self,
        data_dir: Path,
        *,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        own_port: int | None = None,
        python: str = sys.executable,
        forked: bool = True,
    ):
        """`own_port` is the one it will find in its files; without it, it is told a free one.

        `forked` servers are made by `ServerProcess.forker`, where there is one and nothing speaks against it.
        """
        self._may_be_forked = forked and python == sys.executable
        self._python = python
        self.data_dir = data_dir
        self.port = own_port or free_port()
        self._told_port = [] if own_port else ["--port", str(self.port)]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = data_dir.parent / f"{data_dir.name}.log"
        self._arguments = arguments
        self._environment = clean_environment(**(environment or {}))
        self._process: subprocess.Popen[bytes] | ForkedServer | None = None

    def start(self) -> "ServerProcess":
        """Start it and wait until it answers."""
        arguments = ["serve", *self._told_port, "--data-dir", str(self.data_dir), *self._arguments]
        self._process = self._forked(arguments) or self._begun(arguments)
        try:
            self._wait_until_it_answers()
        except BaseException:
            self.kill()  # whoever asked for it has no server to end
            raise
        return self

    def _forked(self, arguments: Sequence[str]) -> ForkedServer | None:
        forker = self.forker
        if forker is None or not self._may_be_forked or not forker.can(self._environment):
            return None
        return forker.start(arguments, environment=self._environment, directory=self.data_dir.parent, log=self.log)

    def _begun(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            command = [self._python, "-m", "mnemoir", *arguments]
            return subprocess.Popen(command, env=self._environment, stdout=log, stderr=log, cwd=self.data_dir.parent)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """kill -9: no chance to write anything more."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """The orderly end."""
        self._end(signal.SIGTERM)

    def __enter__(self) -> "ServerProcess":
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.kill()

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait(timeout=60)

    def _wait_until_it_answers(self) -> None:
        """By /health, which asks for no key. A look costs next to nothing: a hundred of them fit into a start."""
        assert self._process is not None
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline and self._process.poll() is None:
            look = HTTPConnection("127.0.0.1", self.port, timeout=5)
            try:
                look.request("GET", "/health")
                if look.getresponse().status == 200:
                    return
            except (OSError, HTTPException):
                time.sleep(0.01)  # nobody listens yet, and nothing tells when somebody does
            finally:
                look.close()
        raise AssertionError(f"the server did not start:\n{self.log.read_text()}")
