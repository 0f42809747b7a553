"""Full-text search for phrases in records. A phrase is data: nothing in it is syntax."""

from collections.abc import Iterable, Sequence

import orjson

from mnemoir.core.discussions import Record
from mnemoir.storage.discussions.record_chunks import metadata_of
from mnemoir.storage.discussions.record_ranking import counted, ranked
from mnemoir.storage.sql.engine import Sql, queries

_QUERIES = queries("records/search")


def search(sql: Sql, keywords: Sequence[str], limit: int, weights: Sequence[float]) -> list[Record]:
    """Records that contain any of the phrases, best first; if none, those that contain any of their words."""
    found = _found(sql, keywords, limit, weights)
    if not found:
        words = [word for keyword in keywords for word in _cleaned(keyword).split()]
        found = _found(sql, words, limit, weights)
    by_id = {record.id: record for record in records(sql, found)}
    return [by_id[number] for number in found if number in by_id]


def records(sql: Sql, numbers: Sequence[int]) -> list[Record]:
    """The records of these numbers, unsorted, without those of stale chunks."""
    return [record_of(row) for row in sql.rows(_QUERIES["records"], ids=orjson.dumps(numbers).decode())]


def record_of(row: tuple[int, str, str, str | None, str | None, str | None]) -> Record:
    """The record of a row with the columns of all record queries, in their order."""
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
    """The keyword as WilmerAI cleans it; characters that end an expression, or are invalid, become spaces."""
    plain = phrase.replace("-", " ").replace("\0", " ")
    return plain.encode("utf-8", "replace").decode().strip()
