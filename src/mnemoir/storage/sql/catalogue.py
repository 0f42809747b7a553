"""The catalogue of the files of conversations: which of them hold what, as they were when they were looked at last.

So that no question about all users opens a file for each of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mnemoir.core.text import digest
from mnemoir.storage.sql.engine import Engine, Sql, Value
from mnemoir.storage.sql.queries import queries

_QUERIES = queries("catalogue")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What one file holds: the last activity of each conversation, by the digest of its id, and how many messages.

    Of the `messages`, `embeddable` say something, and `embedded` of those have a vector. `stamp` is the file's from
    before it was read: while it stays, so does the rest.
    """

    stamp: str
    used_at: Mapping[bytes, str] = field(default_factory=dict)
    messages: int = 0
    embeddable: int = 0
    embedded: int = 0


class Catalogue:
    """`db` is the caller's. A place names a user's folder. Raises StorageUnavailable."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def stamps(self) -> dict[str, str]:
        """The stamp of each file, by place."""
        return await self._db.read(None, lambda sql: dict(sql.rows(_QUERIES["stamps"])))

    async def put(self, found: Mapping[str, Contents | None]) -> None:
        """Write down what files hold now, by place; None for one that is gone."""

        def work(sql: Sql) -> None:
            for place, contents in found.items():
                if contents is None:
                    sql.run(_QUERIES["drop_file"], place=place)
                else:
                    _put(sql, place, contents)

        if found:
            await self._db.write(None, work)

    async def drop(self, place: str) -> None:
        """Leave no byte of a place on the disk."""
        if await self._db.write(None, lambda sql: sql.run(_QUERIES["drop_file"], place=place)):
            await self._db.empty_log()

    async def places_with(self, id: str) -> list[str]:
        """Where there is a conversation of that id."""
        return await self._places("places_with", digest=digest(id))

    async def places_used_before(self, time: str) -> list[str]:
        """Where there is a conversation that was last used before a time, which is written as the files write it."""
        return await self._places("places_used_before", before=time)

    async def totals(self) -> dict[str, int]:
        """How many conversations and messages there are, how many of these are embeddable, and how many embedded."""
        names = ("conversations", "messages", "embeddable", "embedded")
        return await self._db.read(None, lambda sql: dict(zip(names, sql.row(_QUERIES["total"]), strict=True)))

    async def _places(self, query: str, **values: str | bytes) -> list[str]:
        return await self._db.read(None, lambda sql: [place for (place,) in sql.rows(_QUERIES[query], **values)])


def _put(sql: Sql, place: str, contents: Contents) -> None:
    """Of the conversations only what has changed: there may be thousands."""
    sql.run(
        _QUERIES["put_file"],
        place=place,
        stamp=contents.stamp,
        messages=contents.messages,
        embeddable=contents.embeddable,
        embedded=contents.embedded,
    )
    before = dict(sql.rows(_QUERIES["conversations"], place=place))
    changed = contents.used_at.items() - before.items()
    gone = before.keys() - contents.used_at.keys()
    put: list[dict[str, Value]] = [{"place": place, "digest": digest, "used_at": at} for digest, at in changed]
    sql.many(_QUERIES["put_conversation"], put)
    sql.many(_QUERIES["drop_conversation"], [{"place": place, "digest": digest} for digest in gone])
