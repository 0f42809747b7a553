"""Search for phrases over the full text of records. A phrase is data: nothing in it is syntax."""

from collections.abc import Iterable, Sequence

import orjson

from mnemoir.core.discussions import Record
from mnemoir.storage.discussions.record_chunks import metadata_of
from mnemoir.storage.discussions.record_ranking import counted, ranked
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.queries import queries

_QUERIES = queries("records/search")


def search(sql: Sql, keywords: Sequence[str], limit: int, weights: Sequence[float]) -> list[Record]:
    """Records that hold any of the phrases, best first; else those that hold any word of them."""
    found = _found(sql, keywords, limit, weights)
    if not found:
        words = [word for keyword in keywords for word in _cleaned(keyword).split()]
        found = _found(sql, words, limit, weights)
    by_id = {record.id: record for record in records(sql, found)}
    return [by_id[number] for number in found if number in by_id]


def records(sql: Sql, numbers: Sequence[int]) -> list[Record]:
    """Records that are not of stale chunks, unsorted."""
    return [record_of(row) for row in sql.rows(_QUERIES["records"], ids=orjson.dumps(numbers).decode())]


def record_of(row: tuple[int, str, str, str | None, str | None, str | None]) -> Record:
    """From a row of the columns that all queries for records name, in their order."""
    number, text, created_at, metadata, chunk, made_by = row
    return Record(
        id=number,
        text=text,
        created_at=created_at,
        metadata=metadata_of(metadata, text),
        chunk=chunk,
        made_by=made_by or "",
    )


def _found(sql: Sql, phrases: Iterable[str], limit: int, weights: Sequence[float]) -> list[int]:
    quoted = ['"' + cleaned.replace('"', '""') + '"' for cleaned in map(_cleaned, phrases) if cleaned]
    return ranked(sql, counted(sql, list(dict.fromkeys(quoted))), limit, weights)


def _cleaned(phrase: str) -> str:
    """As WilmerAI reads a keyword; and what would end an expression, or is no character, parts words like a space."""
    plain = phrase.replace("-", " ").replace("\0", " ")
    return plain.encode("utf-8", "replace").decode().strip()
