"""What a PostgreSQL database must be to be used: new enough, roomy enough, whole, and of its own data directory."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from psycopg import errors

from mnemoir.core.errors import StorageDamaged, StorageUnavailable
from mnemoir.storage.postgres.connections import LOCK_S, STATEMENT_S
from mnemoir.storage.postgres.transactions import Connection, PostgresSql, form_of
from mnemoir.storage.sql.engine import queries
from mnemoir.storage.sqlite.membership import Belonging, Membership

SETTINGS = (
    b"SET LOCAL search_path TO mnemoir; SET LOCAL statement_timeout TO '%ds'; SET LOCAL lock_timeout TO '%ds'"
    % (STATEMENT_S, LOCK_S)
)
WRITE = b"BEGIN ISOLATION LEVEL READ COMMITTED; " + SETTINGS
READ = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; " + SETTINGS
_IDENTITY = queries("identity")
_CREATE = b"CREATE SCHEMA mnemoir"
_SERVER = """
    SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding'),
           current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
           rolname, rolsuper OR rolbypassrls
      FROM pg_roles WHERE rolname = current_user"""
_FOUND = """
    SELECT to_regnamespace(%(schema)s) IS NOT NULL, obj_description(to_regnamespace(%(schema)s), 'pg_namespace')"""
_SCHEMA = "mnemoir"
_SYSTEM = "SELECT system_identifier FROM pg_control_system()"
_OLDEST = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of database: the setting that names it, its parts, connections to it, and how its schema is marked."""

    setting: str
    parts: Sequence[str]
    connections: int
    mark: str
    comment: bytes


DATA = Kind(
    setting="storage.postgres.dsn",
    parts=("main", "access", "runs", "servers"),
    connections=8,
    mark="Mnemoir, schema 1",
    comment=b"COMMENT ON SCHEMA mnemoir IS 'Mnemoir, schema 1'",
)
KEYS = Kind(
    setting="encryption.store",
    parts=("keys",),
    connections=2,
    mark="Mnemoir keys, schema 1",
    comment=b"COMMENT ON SCHEMA mnemoir IS 'Mnemoir keys, schema 1'",
)


def prepare(name: str, kind: Kind, membership: Membership | None, connection: Connection) -> str:
    """Refuse what cannot be used, and make what is missing, one process after the other; what is to be warned of.

    `name` is what errors call the database. Raises StorageUnavailable and StorageDamaged as `open_postgres` does.
    """
    version, encoding, most, role, sees_all = connection.execute(_SERVER).fetchone() or (0, "", 0, "", False)
    if version < _OLDEST:
        raise StorageUnavailable(f"{name} runs on PostgreSQL {version}. Use PostgreSQL {_OLDEST} or newer.")
    if encoding != "UTF8":
        raise StorageUnavailable(f"{name} has the encoding {encoding}. Make the database with ENCODING 'UTF8'.")
    if most < kind.connections + 1:
        raise StorageUnavailable(
            f"{name} lets in {most} clients (max_connections without superuser_reserved_connections), and Mnemoir "
            f"needs {kind.connections + 1}: {kind.connections}, and one to see whether it answers. Raise "
            "max_connections."
        )
    sql = PostgresSql(connection)
    sql.hold("schema")
    if not is_made(name, kind, connection):
        if membership is not None and membership.is_expected():
            raise membership.loss_error(name, "is empty, so it is not the one that was used before")
        folder = files("mnemoir.storage.postgres") / "schema"
        schema = b"\n".join((folder / f"{part}.sql").read_bytes() for part in kind.parts)
        connection.execute(_CREATE)
        connection.execute(schema)
        connection.execute(kind.comment)
    if membership is not None:
        _take(name, membership, sql)
    return f"Row security is off: the role {role} of t{name[1:]} is a superuser or has BYPASSRLS." if sees_all else ""


def is_made(name: str, kind: Kind, connection: Connection) -> bool:
    """Whether the tables were made. Raises StorageUnavailable where others stand in their place."""
    is_there, mark = connection.execute(_FOUND, {"schema": _SCHEMA}).fetchone() or (False, None)
    if is_there and mark != kind.mark:
        raise StorageUnavailable(
            f"{name} has a schema {_SCHEMA} that this version of Mnemoir did not make for this. Give {kind.setting} "
            "another database, or start the version that made it."
        )
    return bool(is_there)


def cluster_of(connection: Connection) -> int:
    """What tells a cluster from all others; a copy of its files has the same."""
    (system,) = connection.execute(_SYSTEM).fetchone() or (0,)
    return int(system)


def refuse_another(name: str, membership: Membership | None, connection: Connection) -> None:
    """Raise StorageDamaged where a new connection leads to another directory's database, or to an empty one.

    It is one round trip. Without a `membership` there is nothing to ask.
    """
    if membership is None:
        return
    question = b"; ".join((READ, form_of(_IDENTITY["identity"]).rstrip(b";"), b"COMMIT"))
    try:
        answers = connection.execute(question)
    except errors.UndefinedTable as exc:
        raise membership.loss_error(name, "has no schema mnemoir that its role may use") from exc
    while answers.description is None and answers.nextset():
        pass
    _refuse_foreign(name, membership, answers.fetchone())


def _take(name: str, membership: Membership, sql: PostgresSql) -> None:
    """Give the database to a data directory. Raises StorageDamaged for one of another."""
    found = sql.row(_IDENTITY["identity"])
    if found is None and not membership.is_expected():
        sql.run(_IDENTITY["put_identity"], directory=membership.directory(), owner=membership.owner)
    else:
        _refuse_foreign(name, membership, found)


def _refuse_foreign(name: str, membership: Membership, found: tuple[str, str] | None) -> None:
    what = membership.difference(None if found is None else Belonging(*found))
    if what is not None and found is None:
        raise membership.loss_error(name, what)
    if what is not None:  # to take that as a loss would not make the database this directory's
        raise StorageDamaged(
            f"{name} {what} (storage_damaged), so nothing is opened. Name the directory that it belongs to in "
            "storage.data_dir, or another database in storage.postgres.dsn."
        )
