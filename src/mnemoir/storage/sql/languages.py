"""The language of each user's last question of some length, in the row of their scope."""

from mnemoir.core.scope import Scope
from mnemoir.ports.languages import KeptLanguages
from mnemoir.storage.sql.engine import Engine, queries

_QUERIES = queries("languages")


class SqlLanguages:
    """`db` is the caller's. A user without memories has no row, and nothing whose rank a language could change."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def last_of(self, scope: Scope) -> str:
        """See the port."""
        found = await self._db.read(scope.owner, lambda sql: sql.value(_QUERIES["last_language"]))
        return found or ""

    async def note(self, scope: Scope, language: str) -> None:
        """See the port."""
        if await self.last_of(scope) != language:
            await self._db.write(scope.owner, lambda sql: sql.run(_QUERIES["note_language"], language=language))


_: type[KeptLanguages] = SqlLanguages  # checked, never run
