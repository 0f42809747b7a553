"""Bringing stored cells to the keys of now: encrypted by the newest key of their user, or plain with encryption off.

Rows are read and written again, a few hundred in each transaction, only those that are not as they should be. So it
may be killed anywhere and goes on at the next start, while others read and write. At the end of a scope its digests
are made anew, in one transaction, and the scope notes its key.
"""

from dataclasses import dataclass
from functools import cache

from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from mnemoir.storage.named_queries import Types, made_query
from mnemoir.storage.sealing.cells import JOINED_MARK, MARK, Cells, joined_prefix_of, prefix_bytes_of, prefix_of
from mnemoir.storage.sql.engine import Engine, Sql, Value, queries, scope_of
from mnemoir.storage.sql.tables import Owner, SealedFile, main_file

ROWS_AT_ONCE = 500
_TRACES_AT_ONCE = 8  # a trace may have some megabytes
_QUERIES = queries("sealing")
_MESSAGES = queries("sessions/sealing")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeKeys:
    """A scope, and the keys that its digests and all of its cells are known to have; None and 0 are those of none."""

    id: int
    scope: Scope
    hashed_by: int | None
    sealed_by: int | None

    @property
    def owner(self) -> Owner:
        """Whose keys encrypt it."""
        return self.scope.tenant, self.scope.project, self.scope.user

    def fits(self, key: int | None) -> bool:
        """True when nothing is to be done for its cells to be encrypted by a key, None for plain."""
        return self.hashed_by == key and self.sealed_by == (key or 0)


def scopes_after(sql: Sql, scope_id: int) -> list[ScopeKeys]:
    """Some scopes with a greater number, in its order."""
    rows = sql.rows(_QUERIES["scopes_after"], after=scope_id, limit=ROWS_AT_ONCE)
    return [
        ScopeKeys(id=id, scope=scope_of(*names), hashed_by=hashed_by, sealed_by=sealed_by)
        for id, *names, hashed_by, sealed_by in rows
    ]


def before_first(file: SealedFile, table: str) -> Value:
    """The place before the first row of a table."""
    return -1 if table in file.numbered else ""


def reseal_rows(
    sql: Sql, cells: Cells, table: str, after: Value, key: int | None = None, *, file: SealedFile
) -> Value:
    """Write some rows of a table behind one anew, if they are not as they should be; the last of them, None for none.

    `key` is the one that cells of a scope should have. Rows of unscoped tables are only checked for whether they are
    encrypted at all: they are kept for days.
    """
    select, update = _statements(file, table, cells.seals, is_scoped=sql.scope_id is not None)
    names = ("page", file.row_keys[table], *file.tables[table])
    marks: dict[str, Value] = {"mark": MARK, "mark_bytes": MARK.encode(), "mark_joined": JOINED_MARK}
    if key is not None:
        marks = {"mark": prefix_of(key), "mark_bytes": prefix_bytes_of(key), "mark_joined": joined_prefix_of(key)}
    limit = _TRACES_AT_ONCE if table == "runs" else ROWS_AT_ONCE
    rows = sql.rows(select, after=after, limit=limit, **marks)
    for row in rows:
        sql.run(update, **dict(zip(names, row, strict=True)), **marks)
    if table in file.paged_by and len(rows) == limit:
        return int(rows[-1][0]) - 1  # more rows may have this number; those written now are passed over
    return rows[-1][0] if rows else None


async def reseal_scope(database: Engine, cells: Cells, scope: ScopeKeys, key: int | None) -> None:
    """Write the cells and digests of a scope anew, if they are not as they should be. It may be cut anywhere."""
    await database.write(None, lambda sql: sql.within(scope.id).run(_QUERIES["set_seal_key"], key=None))
    file = main_file()
    for table in file.tables:
        if table not in file.unscoped:
            await reseal_table(database, cells, table, scope_id=scope.id, key=key)
    await database.write(None, lambda sql: _finish_scope(sql.within(scope.id), key))


async def reseal_table(
    database: Engine, cells: Cells, table: str, *, scope_id: int | None = None, key: int | None = None
) -> bool:
    """The same of a table in a scope, or of an unscoped one; False when there was nothing to do."""
    file, is_moved = main_file(), False
    after = before_first(file, table)

    def reseal_batch(sql: Sql) -> Value:
        return reseal_rows(sql.within(scope_id), cells, table, after, key, file=file)

    while (reached := await database.write(None, reseal_batch)) is not None:
        after, is_moved = reached, True
    return is_moved


def _finish_scope(sql: Sql, key: int | None) -> None:
    """Make the digests of a scope anew with a key, None for bare ones, and note it. `sql` is within the scope.

    Those of messages are made when they are asked for.
    """
    sql.run(_QUERIES["set_hash_key"], key=key)
    sql.run(_MESSAGES["forget_digests"])
    sql.run(_QUERIES["count_bytes"])
    within, file = sql.within(sql.scope_id), main_file()
    for table, column in file.hashed.items():
        row_key = file.row_keys[table]
        types = _types_of(file, table)
        texts = made_query(f"SELECT {row_key}, {column} FROM {table} WHERE scope_id = :scope_id", types)  # noqa: S608  # names of ours
        which = f"scope_id = :scope_id AND {row_key} = :{row_key}"
        put = made_query(f"UPDATE {table} SET content_hash = :content_hash WHERE {which}", types)  # noqa: S608  # the same
        found = within.rows(texts)
        within.many(put, [{row_key: row, "content_hash": content_hash(text)} for row, text in found])
    sql.run(_QUERIES["set_seal_key"], key=key or 0)


def is_anything_keyed(sql: Sql) -> bool:
    """True when the database holds digests or cells of a key."""
    return sql.value(_QUERIES["any_keyed"]) is not None


def share_of(sql: Sql) -> tuple[int, int, int]:
    """The number of users, of those whose cells are all encrypted, and of those whose cells are known to be plain."""
    users, encrypted, plain = sql.row(_QUERIES["share"])
    return users, encrypted, plain


@cache
def _statements(file: SealedFile, table: str, seals: bool, *, is_scoped: bool) -> tuple[str, str]:
    """The query of rows that are not as they should be, and the one that writes one."""
    key = file.key_columns.get(table, file.row_keys[table])
    page = file.paged_by.get(table, key)
    within = "scope_id = :scope_id AND " if is_scoped else ""
    columns = file.tables[table]
    differs = " OR ".join(_differs(file, table, column, seals) for column in columns)
    select = (
        f"SELECT {page} AS page, {key} AS {file.row_keys[table]}, {', '.join(columns)} FROM {table} "  # noqa: S608  # names of ours
        f"WHERE {within}{page} > :after AND ({differs}) ORDER BY {page} LIMIT :limit"
    )
    update = (
        f"UPDATE {table} SET {', '.join(f'{column} = :{column}' for column in columns)} "  # noqa: S608  # the same
        f"WHERE {within}{page} = :page AND {key} = :{file.row_keys[table]} AND ({differs})"
    )
    types = _types_of(file, table)
    return made_query(select, types), made_query(update, types)


def _types_of(file: SealedFile, table: str) -> Types:
    """The types of what the statements over a table bind."""
    number = "integer" if table in file.numbered else "text"
    return {
        **{column: "bytes" if column in file.blobs else "text" for column in file.tables[table]},
        **dict.fromkeys(("after", "page"), number),
        **dict.fromkeys(("mark_bytes", "mark_joined", "content_hash"), "bytes"),
        "limit": "integer",
        "mark": "text",
        file.row_keys[table]: "text" if table in (*file.key_columns, *file.paged_by) else number,
    }


def _differs(file: SealedFile, table: str, column: str, seals: bool) -> str:
    """The condition that a cell is plain or of another key and should not be, or is encrypted and should not be."""
    mark = "mark_bytes" if column in file.blobs else "mark"
    alone, as_one = (
        f"substr({column}, 1, length(:{name})) {'<>' if seals else '='} :{name}" for name in (mark, "mark_joined")
    )
    joined = file.joined.get(table, ())
    if column not in joined:
        return alone
    if column != joined[0]:
        return f"(length({column}) > 0 AND {alone})"
    return as_one
