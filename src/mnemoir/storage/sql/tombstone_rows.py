"""The tombstones that a database knows: of erasures that took what was in it then.

`erased.jsonl` beside it tells them, too. Who is named there alone was erased behind the time of this database, which
is one of before, or the erasure was cut.
"""

from collections.abc import Collection

from mnemoir.storage.sql.engine import Engine, queries

_QUERIES = queries("tombstones")


class TombstoneRows:
    """`db` is the caller's. A line is the text of a tombstone. Raises StorageUnavailable."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def lines(self) -> set[str]:
        """All lines."""
        return {line for (line,) in await self._db.read(None, lambda sql: sql.rows(_QUERIES["lines"]))}

    async def put(self, lines: Collection[str]) -> None:
        """Add lines; those that are there stay."""
        if lines:
            values = [{"line": line} for line in sorted(lines)]
            await self._db.write(None, lambda sql: sql.many(_QUERIES["put_line"], values))
