"""Search for phrases over the full text of records. A phrase is data: nothing in it is syntax."""

from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

import apsw
import orjson

from mnemoir.core.discussions import Record
from mnemoir.storage.discussions.record_chunks import metadata_of
from mnemoir.storage.discussions.record_ranking import Phrase, ranked, row_count
from mnemoir.storage.sql.queries import queries

_QUERIES = queries("records/search")
_MOST_COUNTS = 1000
_counts: WeakKeyDictionary[apsw.Connection, tuple[object, dict[str, int]]] = WeakKeyDictionary()


def search(
    connection: apsw.Connection, keywords: Sequence[str], limit: int, weights: Sequence[float]
) -> list[Record]:
    """Records that hold any of the phrases, best first; else those that hold any word of them."""
    found = _found(connection, keywords, limit, weights)
    if not found:
        words = [word for keyword in keywords for word in _cleaned(keyword).split()]
        found = _found(connection, words, limit, weights)
    by_id = {record.id: record for record in records(connection, found)}
    return [by_id[number] for number in found if number in by_id]


def records(connection: apsw.Connection, numbers: Sequence[int]) -> list[Record]:
    """Records that are not of stale chunks, unsorted."""
    wanted = {"ids": orjson.dumps(numbers).decode()}
    return [record_of(row) for row in connection.execute(_QUERIES["records"], wanted)]


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


def _found(connection: apsw.Connection, phrases: Iterable[str], limit: int, weights: Sequence[float]) -> list[int]:
    quoted = ['"' + cleaned.replace('"', '""') + '"' for cleaned in map(_cleaned, phrases) if cleaned]
    rows = _rows_with(connection, list(dict.fromkeys(quoted)))
    return ranked(connection, [Phrase(text=text, rows=rows[text]) for text in rows if rows[text]], limit, weights)


def _rows_with(connection: apsw.Connection, phrases: Sequence[str]) -> dict[str, int]:
    """How many records hold each phrase; a little more than half of all stands for more.

    To count a common one takes milliseconds, so the counts are kept until somebody writes to the file.
    """
    version, known = _counts.get(connection, (None, {}))
    if version != (version := connection.pragma("data_version")) or len(known) > _MOST_COUNTS:
        known = {}
        _counts[connection] = (version, known)
    missing = [phrase for phrase in phrases if phrase not in known]
    if missing:
        most = row_count(connection) // 2 + 1
        for phrase in missing:
            known[phrase] = int(connection.execute(_QUERIES["rows_with"], {"phrase": phrase, "most": most}).get)
    return {phrase: known[phrase] for phrase in phrases}


def _cleaned(phrase: str) -> str:
    """As WilmerAI reads a keyword; and what would end an expression, or is no character, parts words like a space."""
    plain = phrase.replace("-", " ").replace("\0", " ")
    return plain.encode("utf-8", "replace").decode().strip()
