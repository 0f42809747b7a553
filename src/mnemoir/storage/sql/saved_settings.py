"""Settings that were saved at a running server, a row each, where several servers share a database."""

from dataclasses import asdict, dataclass

from mnemoir.storage.sql.engine import FileEngine, queries

_QUERIES = queries("servers/saved_settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedValue:
    """`value` is JSON; `wrapped` is the secret that goes with it, encrypted by the key that `kek` names."""

    value: str
    kek: str | None = None
    wrapped: bytes | None = None


class SqlSavedSettings:
    """Blocking; every method raises StorageUnavailable. `tables` are the caller's."""

    def __init__(self, tables: FileEngine) -> None:
        self._tables = tables

    def get(self, name: str) -> SavedValue | None:
        """What was saved last by that name; None when nothing was."""
        row = self._tables.read(lambda sql: sql.row(_QUERIES["get"], name=name))
        if row is None:
            return None
        value, kek, wrapped = row
        return SavedValue(value=value, kek=kek, wrapped=wrapped)

    def put(self, name: str, saved: SavedValue) -> None:
        """Replace it."""
        self._tables.write(lambda sql: sql.run(_QUERIES["put"], name=name, **asdict(saved)))

    def drop(self, name: str) -> None:
        """Remove it."""
        self._tables.write(lambda sql: sql.run(_QUERIES["drop"], name=name))
