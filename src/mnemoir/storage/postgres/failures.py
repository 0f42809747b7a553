"""What failures of a PostgreSQL database are told as: errors that name the database, and nothing that is secret."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from mnemoir.core.errors import StorageDamaged, StorageUnavailable
from mnemoir.storage.sql.engine import Damaged


@contextmanager
def storage_errors(name: str, setting: str) -> Iterator[None]:
    """Raise StorageUnavailable, naming the database, in place of errors of the driver; `setting` has its string."""
    try:
        yield
    except psycopg.OperationalError as exc:
        raise StorageUnavailable(f"{name} cannot be used: {_first_line(exc)}. {_next_step(exc, setting)}") from exc
    except Damaged as exc:
        raise StorageDamaged(f"{name} is damaged: {exc}.") from exc
    except (errors.DataError, errors.IntegrityError) as exc:  # whose words quote values
        raise StorageUnavailable(f"{name} refused a statement: {type(exc).__name__}.") from exc
    except psycopg.Error as exc:
        raise StorageUnavailable(f"{name} refused a statement: {_first_line(exc)}.") from exc


def name_of(dsn: str, setting: str) -> str:
    """Host, port and database, without what is secret. Raises StorageUnavailable for a text that is no DSN."""
    try:
        told = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError as exc:
        raise StorageUnavailable(
            f"{setting} is no connection string of PostgreSQL. Write it as "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
        ) from exc
    host = told.get("host") or told.get("hostaddr") or "this machine"
    at = f"{host} port {told['port']}" if told.get("port") else host
    return f"The PostgreSQL database {told.get('dbname') or told.get('user') or 'postgres'} on {at}"


def _next_step(exc: psycopg.OperationalError, setting: str) -> str:
    """What to do: a database that gave a reason runs."""
    if isinstance(exc, errors.LockNotAvailable | errors.QueryCanceled):
        return "Look what holds it up, in pg_stat_activity, or try again."
    if isinstance(exc, errors.DiskFull):
        return "Make room on its disk."
    if exc.sqlstate is None and "FATAL:" not in str(exc):
        return "Check that it runs."
    return f"Correct that in {setting}, or in the database."


def _first_line(exc: Exception) -> str:
    return (str(exc).strip().splitlines() or [type(exc).__name__])[0].rstrip(".")
