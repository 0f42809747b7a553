"""Full-text search for phrases in records, the best by bm25. A phrase is data: nothing in it is syntax.

FTS5 scores each row that matches, and reads the length of each one for it: over 100,000 records 200 ms for a word
that is in all of them, where finding the rows takes 8 ms. So the rare phrases come first. A phrase in n of N rows
adds at most `(k1 + 1) * ln((N - n + 0.5) / (n + 0.5))` to a score. As soon as `limit` rows that hold a rare phrase
score more than all the common ones could add together, no row without a rare phrase can come before them. Of the rows
with one, only those near enough to the best get the scores of the common phrases.

A phrase in more than half of the rows weighs next to nothing (FTS5 gives it 0.000001), and is searched only when the
others find fewer rows than wanted. Source of the formula: the documentation of FTS5, section 5.1.1.
"""

import math
import weakref
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

import apsw
import orjson

from mnemoir.core.discussions import Record
from mnemoir.storage.discussions.record_chunks import metadata_of
from mnemoir.storage.sql.engine import Sql, queries

_QUERIES = queries("records/search")


_K1, _B = 1.2, 0.75  # of FTS5's bm25
_NO_WEIGHT = 1e-6  # FTS5's idf of a phrase in more than half of the rows
_EXPECTED = 2.0  # a guess at the score of a row with a phrase, in units of its idf; only the speed depends on it

_MOST_COUNTS = 1000
_EVEN = (1.0,) * 5  # the weights of the columns
_GREATEST_WEIGHT = 1e9  # keeps scores finite
_DECIMALS = 9  # of weights: FTS5 reads no exponents

Scores = dict[int, float]  # of rows; less is better


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A phrase quoted for FTS5, and the number of its rows: at least one; above half of all it need not be exact."""

    text: str
    rows: int


def install(connection: apsw.Connection) -> None:
    """Register on a connection the functions that score single rows and count the rows with a phrase."""
    connection.register_fts5_function("mnemoir_score", _score)
    connection.create_scalar_function("mnemoir_rows_with", _Counts(connection).rows_with, 1)


def counted_phrases(sql: Sql, phrases: Sequence[str]) -> list[Phrase]:
    """Quoted phrases with the numbers of their rows, counted to a little more than half of all rows."""
    handed: Any = apsw.pyobject(phrases)  # not an SQL value: the function gets the Python object
    rows = orjson.loads(sql.row(_QUERIES["rows_with"], phrases=handed)[0])
    return [Phrase(text=text, rows=number) for text, number in zip(phrases, rows, strict=True) if number]


def ranked_rows(sql: Sql, phrases: Sequence[Phrase], limit: int, weights: Sequence[float]) -> list[int]:
    """The numbers of the best `limit` rows that contain any of the phrases; ties by number.

    `weights` are those of the columns, 1 for those that are missing, or are no numbers.
    """
    if limit < 1:
        return []
    of_columns = (*map(_fit, weights), *_EVEN)[: len(_EVEN)]
    ranking = _Ranking(sql, limit, of_columns, int(sql.row(_QUERIES["row_count"])[0]))
    rarest_first = sorted(phrases, key=lambda phrase: phrase.rows)
    telling = [phrase for phrase in rarest_first if ranking.idf(phrase) > _NO_WEIGHT]
    scores = ranking.best(telling) if telling else {}
    if len(scores) < limit and len(telling) < len(phrases):
        scores = ranking.best(rarest_first)
    return nsmallest(limit, scores, key=lambda row: (scores[row], row))


@dataclass(frozen=True, slots=True)
class _Ranking:
    sql: Sql
    limit: int
    weights: Sequence[float]
    total: int

    def best(self, phrases: Sequence[Phrase]) -> Scores:
        """At least the best `limit` rows and their scores; `phrases` are rarest first."""
        if min(self.weights) < 0:  # then a score has no upper bound
            return self._scores(phrases, self.limit)
        for rare in range(self._guess(phrases), len(phrases)):
            scores = self._scores(phrases[:rare], -1)
            if len(scores) >= self.limit and self._limit_th(scores) >= self._most(phrases[rare:]):
                return self._completed_scores(scores, phrases[:rare], phrases[rare:])
        return self._scores(phrases, self.limit)

    def idf(self, phrase: Phrase) -> float:
        """The inverse document frequency, as FTS5 computes it."""
        return max(_NO_WEIGHT, math.log((self.total - phrase.rows + 0.5) / (phrase.rows + 0.5)))

    def _guess(self, phrases: Sequence[Phrase]) -> int:
        """An estimate of the number of rare phrases before any row is scored; at least one."""
        found = 0
        for number, phrase in enumerate(phrases, start=1):
            found += phrase.rows
            if found >= self.limit and self._most(phrases[number:]) <= _EXPECTED * self.idf(phrase):
                return number
        return len(phrases)

    def _most(self, phrases: Sequence[Phrase]) -> float:
        """An upper bound of the sum that the phrases add to a score."""
        return sum((_K1 + 1) * self.idf(phrase) for phrase in phrases)

    def _limit_th(self, scores: Scores) -> float:
        """The score of the last of the best rows."""
        return -nsmallest(self.limit, scores.values())[-1]

    def _completed_scores(self, scores: Scores, rare: Sequence[Phrase], common: Sequence[Phrase]) -> Scores:
        """The scores, including the common phrases for those rows that these could raise among the best."""
        reach = self._most(common) - self._limit_th(scores)
        near = {row: score for row, score in scores.items() if score <= reach}
        idfs = tuple(map(self.idf, (*rare, *common)))
        scoring = _Scoring(near.keys(), idfs, self.weights)
        expression = f"({_any_of(rare)}) AND ({_any_of(common)})"
        handed: Any = apsw.pyobject(scoring)
        rows = self.sql.rows(_QUERIES["scored"], expression=expression, scoring=handed)
        near.update((row, score) for row, score in rows if row in near)
        return near

    def _scores(self, phrases: Sequence[Phrase], limit: int) -> Scores:
        rank_by = f"bm25({', '.join(f'{weight:.{_DECIMALS}f}' for weight in self.weights)})"
        return dict(self.sql.rows(_QUERIES["best"], expression=_any_of(phrases), rank_by=rank_by, limit=limit))


@dataclass(frozen=True, slots=True)
class _Scoring:
    """FTS5's bm25 for some rows, from known row counts of the expression's phrases.

    FTS5 itself counts the rows of every phrase each time before it scores the first row.
    """

    rows: Set[int]
    idfs: Sequence[float]
    weights: Sequence[float]

    def score(self, api: apsw.FTS5ExtensionApi) -> float:
        """The score of the cursor's row; less is better, 0 for a row that is not requested."""
        if api.rowid not in self.rows:
            return 0.0
        average = api.column_total_size() / api.row_count
        damping = _K1 * (1 - _B + _B * api.column_size() / average)
        score = 0.0
        for number, idf in enumerate(self.idfs):
            weighed = sum(
                self.weights[column] * len(api.phrase_column_offsets(number, column))
                for column in api.phrase_columns(number)
            )
            score += idf * weighed * (_K1 + 1) / (weighed + damping)
        return -score


class _Counts:
    """Row counts of phrases. Counting a common one takes milliseconds, so counts are cached until a write."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = weakref.ref(connection)
        self._counts: dict[str, int] = {}
        self._version: tuple[int, int] | None = None

    def rows_with(self, *arguments: Any) -> str:
        """The row counts of the phrases, the only argument, as JSON."""
        connection = self._connection()
        assert connection is not None  # it calls this function
        version = int(connection.pragma("data_version")), connection.total_changes()  # writes of others, and its own
        if version != self._version or len(self._counts) > _MOST_COUNTS:
            self._counts.clear()
            self._version = version
        (phrases,) = arguments
        missing = [phrase for phrase in phrases if phrase not in self._counts]
        if missing:
            most = int(connection.execute(_QUERIES["row_count"]).get) // 2 + 1
            for phrase in missing:
                values = {"phrase": phrase, "most": most}
                self._counts[phrase] = int(connection.execute(_QUERIES["count_rows_with"], values).get)
        return orjson.dumps([self._counts[phrase] for phrase in phrases]).decode()


def _score(api: apsw.FTS5ExtensionApi, *arguments: Any) -> float:
    scoring: _Scoring = arguments[0]
    return scoring.score(api)


def _fit(weight: float) -> float:
    return 1.0 if math.isnan(weight) else round(max(-_GREATEST_WEIGHT, min(_GREATEST_WEIGHT, weight)), _DECIMALS)


def _any_of(phrases: Sequence[Phrase]) -> str:
    return " OR ".join(phrase.text for phrase in phrases)


def search(sql: Sql, keywords: Sequence[str], limit: int, weights: Sequence[float]) -> list[Record]:
    """Records that contain any of the phrases, best first; if none, those that contain any of their words."""
    found = _matching_rows(sql, keywords, limit, weights)
    if not found:
        words = [word for keyword in keywords for word in _cleaned_keyword(keyword).split()]
        found = _matching_rows(sql, words, limit, weights)
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


def _matching_rows(sql: Sql, phrases: Iterable[str], limit: int, weights: Sequence[float]) -> list[int]:
    quoted = ['"' + cleaned.replace('"', '""') + '"' for cleaned in map(_cleaned_keyword, phrases) if cleaned]
    return ranked_rows(sql, counted_phrases(sql, list(dict.fromkeys(quoted))), limit, weights)


def _cleaned_keyword(phrase: str) -> str:
    """The keyword cleaned as WilmerAI does it; characters that end an expression, or are invalid, become spaces."""
    plain = phrase.replace("-", " ").replace("\0", " ")
    return plain.encode("utf-8", "replace").decode().strip()
