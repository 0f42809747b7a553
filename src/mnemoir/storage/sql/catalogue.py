"""The catalogue of conversation files: the contents of each as of its last inspection.

With it a query over all users need not open a file for each of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from mnemoir.core.text import digest
from mnemoir.storage.sql.engine import Engine, Sql, Value, queries

_QUERIES = queries("catalogue")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The contents of one file: the last activity of each conversation by the digest of its id, and message counts.

    Of the `messages`, `embeddable` have text, and `embedded` of those have a vector; `by_day` counts those of each of
    the last days. `stamp` is the file's from before it was read: while it is unchanged, so are the contents.
    """

    stamp: str
    used_at: Mapping[bytes, str] = field(default_factory=dict)
    by_day: Mapping[str, int] = field(default_factory=dict)
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
        """Store the present contents of files, by place; None for a deleted file."""

        def put_contents(sql: Sql) -> None:
            for place, contents in found.items():
                if contents is None:
                    sql.run(_QUERIES["drop_file"], place=place)
                else:
                    _put(sql, place, contents)

        if found:
            await self._db.write(None, put_contents)

    async def drop(self, place: str) -> None:
        """Delete a place, leaving no byte of it on disk."""
        if await self._db.write(None, lambda sql: sql.run(_QUERIES["drop_file"], place=place)):
            await self._db.empty_log()

    async def places_with(self, id: str) -> list[str]:
        """The places with a conversation of that id."""
        return await self._places("places_with", digest=digest(id))

    async def places_used_before(self, time: str) -> list[str]:
        """The places with a conversation last used before a time, given in the format of the files."""
        return await self._places("places_used_before", before=time)

    async def totals(self) -> dict[str, int]:
        """The numbers of conversations and of messages, and of these the embeddable and the embedded ones."""
        names = ("conversations", "messages", "embeddable", "embedded")
        return await self._db.read(None, lambda sql: dict(zip(names, sql.row(_QUERIES["total"]), strict=True)))

    async def messages(self) -> dict[str, int]:
        """The number of messages of each file, by place."""
        return await self._db.read(None, lambda sql: dict(sql.rows(_QUERIES["messages"])))

    async def messages_by_day(self, since: date) -> dict[str, int]:
        """The messages of each UTC day since `since` that has any."""
        values = {"since": since.isoformat()}
        return await self._db.read(None, lambda sql: dict(sql.rows(_QUERIES["messages_by_day"], **values)))

    async def _places(self, query: str, **values: str | bytes) -> list[str]:
        return await self._db.read(None, lambda sql: [place for (place,) in sql.rows(_QUERIES[query], **values)])


def _put(sql: Sql, place: str, contents: Contents) -> None:
    """Write a file's contents; only changed conversations and days, as there may be thousands."""
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
    days = dict(sql.rows(_QUERIES["days"], place=place))
    moved = contents.by_day.items() - days.items()
    sql.many(_QUERIES["put_day"], [{"place": place, "day": day, "messages": many} for day, many in moved])
    sql.many(_QUERIES["drop_day"], [{"place": place, "day": day} for day in days.keys() - contents.by_day.keys()])
