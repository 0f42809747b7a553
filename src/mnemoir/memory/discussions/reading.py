"""Reads a discussion's memory: summaries and records. No file is written and no language model is called."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mnemoir.core.clock import from_text
from mnemoir.core.discussions import Discussion, Record
from mnemoir.memory.discussions.parts import DiscussionMemory
from mnemoir.memory.discussions.rolling_summary import chunks_since

Mode = Literal["keyword", "hybrid"]

MOST_KEYWORDS = 60
_RECENT = 3
_POOL = 4  # candidates per wanted record, among which newer ones are preferred
_LEAST_POOL = 50
_SLOPE = 5  # places further down the list, the first is worth twice as much


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSearch:
    """The options of a record search.

    By `keyword`, phrases that are separated by `;` are found as they stand. `hybrid` search compares meaning as well,
    with `question` in place of the keywords if given, and falls back to keywords where it finds nothing. For keywords
    alone: `weights` are those of title, summary, entities, key phrases and the summary again; `prefers_recent` lets
    newer records come before somewhat better ones.
    """

    mode: Mode = "keyword"
    question: str = ""
    weights: Sequence[float] = ()
    prefers_recent: bool = False


_PLAIN = RecordSearch()


async def recent_summaries(memory: DiscussionMemory, discussion: Discussion, count: int = 0) -> list[str]:
    """The texts of the last `count` chunk summaries, oldest of them first: three for 0, all for -1."""
    if count < 0:
        return await all_summaries(memory, discussion)
    return [chunk.text for chunk in await memory.ledger.newest(discussion, count or _RECENT)]


async def all_summaries(memory: DiscussionMemory, discussion: Discussion) -> list[str]:
    """The texts of all chunk summaries that are neither stale nor forgotten, in the order of the conversation."""
    return [chunk.text for chunk in await memory.ledger.all(discussion) if chunk.is_read]


async def rolling_summary_text(memory: DiscussionMemory, discussion: Discussion) -> str | None:
    """The text of the rolling summary; None where there is none yet."""
    summary = await memory.summaries.load(discussion)
    return None if summary is None else summary.text


async def summaries_since(memory: DiscussionMemory, discussion: Discussion) -> list[str]:
    """The texts of the chunk summaries that are not in the rolling summary yet."""
    summary = await memory.summaries.load(discussion)  # loaded first, so that it names no chunk missing below
    return [chunk.text for chunk in chunks_since(await memory.ledger.all(discussion), summary)]


def keywords_of(text: str) -> list[str]:
    """The phrases between semicolons, the first 60 that are not blank."""
    parts = (part.strip() for part in text.split(";"))
    return [part for part in parts if part][:MOST_KEYWORDS]


async def find_records(
    memory: DiscussionMemory, discussion: Discussion, text: str, *, limit: int = 5, how: RecordSearch = _PLAIN
) -> list[Record]:
    """Records relevant to the keywords in `text`, best first, at most `limit`; [] without keywords.

    Raises StorageUnavailable.
    """
    keywords = keywords_of(text)
    if limit < 1 or not (keywords or how.question.strip()):
        return []
    if how.mode == "hybrid":
        question = how.question.strip() or " ".join(keywords)
        numbers = await memory.recall.search(discussion, question, limit=limit, now=memory.clock())
        found = await _records(memory, discussion, numbers)
        if found:
            return found
    return await _by_keywords(memory, discussion, keywords, limit, how)


def text_for_prompt(record: Record, *, is_dated: bool = False) -> str:
    """A record's text as prompts show it, with `[YYYY-MM-DD] ` in front if wanted and the day is known."""
    day = from_text(record.created_at) if is_dated else None
    return f"[{day:%Y-%m-%d}] {record.text}" if day else record.text


async def _records(memory: DiscussionMemory, discussion: Discussion, numbers: Sequence[int]) -> list[Record]:
    """The records that still exist, in the order of `numbers`."""
    pages = [await memory.records.newest(discussion, limit=1, before=number + 1) for number in numbers]
    return [record for number, page in zip(numbers, pages, strict=True) for record in page if record.id == number]


async def _by_keywords(
    memory: DiscussionMemory, discussion: Discussion, keywords: Sequence[str], limit: int, how: RecordSearch
) -> list[Record]:
    if not keywords:
        return []
    most = max(_LEAST_POOL, _POOL * limit) if how.prefers_recent else limit
    found = await memory.records.search(discussion, keywords, limit=most, weights=how.weights)
    return (_newer_first(found, memory.clock()) if how.prefers_recent else list(found))[:limit]


def _newer_first(found: Sequence[Record], now: datetime) -> list[Record]:
    """Records reordered by rank and age. The rank stands in for the BM25 score, which the store does not return.

    A record of today is worth two and a half times one of the same place from long ago, as elsewhere in the format.
    """
    worth = {record.id: _freshness(record, now) / (place + _SLOPE) for place, record in enumerate(found)}
    return sorted(found, key=lambda record: worth[record.id], reverse=True)


def _freshness(record: Record, now: datetime) -> float:
    made = from_text(record.created_at)
    days = math.inf if made is None else max(0.0, (now - made).total_seconds() / 86400)
    return 1 + 1.5 * math.exp(-0.01 * days)
