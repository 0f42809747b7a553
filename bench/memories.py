"""Adding and searching a growing number of memories over HTTP, in one scope and spread over a thousand.

The baseline of a search is one SQLite FTS5 table over the same texts, searched for the same words with bm25: the
plain way, without vectors, scopes or HTTP.
"""

import random
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any

import requests

from bench.report import median, ms, percentile, table
from tests.serving import ServerProcess

SIZES = (1_000, 10_000, 100_000)
SCOPES = 1_000
PER_SCOPE = 20
BATCH = 500
SEARCHES = 60
SINGLE_ADDS = 60

_PLACES = [
    "Graz",
    "Linz",
    "Vienna",
    "Oslo",
    "Lima",
    "Kyoto",
    "Porto",
    "Cork",
    "Turin",
    "Ghent",
    "Bern",
    "Riga",
    "Split",
    "Nice",
    "Lund",
]
_THINGS = [
    "rowing",
    "chess",
    "bread",
    "gardens",
    "trains",
    "violins",
    "maps",
    "kites",
    "pottery",
    "stars",
    "soup",
    "cycling",
    "poems",
    "bees",
    "ferries",
]
_DOES = [
    "likes",
    "sells",
    "repairs",
    "paints",
    "studies",
    "misses",
    "collects",
    "photographs",
    "teaches",
    "sketches",
    "dreams-of",
    "avoids",
]
_WHEN = [
    "on Mondays",
    "every spring",
    "since school",
    "at night",
    "with her sister",
    "for work",
    "on holiday",
    "after lunch",
]


def texts(count: int, seed: int = 1) -> list[str]:
    """Distinct short statements."""
    rng = random.Random(seed)
    return [
        f"{rng.choice(_DOES)} {rng.choice(_THINGS)} in {rng.choice(_PLACES)} {rng.choice(_WHEN)}, note {number}"
        for number in range(count)
    ]


def questions(count: int) -> list[str]:
    """Questions that share a word or two with many statements."""
    rng = random.Random(2)
    return [f"who {rng.choice(_DOES)} {rng.choice(_THINGS)} in {rng.choice(_PLACES)}?" for _ in range(count)]


class Memories:
    """A timed client of one server's memory routes."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/api/memories"
        self._session = requests.Session()

    def add(self, said: list[str], user: str) -> float:
        """Seconds to store texts verbatim in one call."""
        body = {"messages": [{"role": "user", "content": text} for text in said], "user_id": user, "infer": False}
        return self._timed("post", self._url, json=body)

    def search(self, query: str, user: str) -> float:
        """Seconds of one search."""
        return self._timed("post", f"{self._url}/search", json={"query": query, "user_id": user, "limit": 10})

    def timeline(self, user: str) -> float:
        """Seconds of counting one user's memories by week."""
        return self._timed("get", f"{self._url}/{user}/timeline")

    def delete_all(self, user: str) -> float:
        """Seconds to delete all memories of a user."""
        return self._timed("delete", self._url, params={"user_id": user})

    def _timed(self, method: str, url: str, **given: Any) -> float:
        started = time.perf_counter()
        answer = self._session.request(method, url, **given)
        took = time.perf_counter() - started
        answer.raise_for_status()
        return took


def fill(memories: Memories, said: list[str], user: str) -> float:
    """Store texts in batches; texts per second, the median of the batches."""
    batches = [said[start : start + BATCH] for start in range(0, len(said), BATCH)]
    return median([len(batch) / memories.add(batch, user) for batch in batches])


def plain_search(said: list[str], asked: list[str]) -> float:
    """The median seconds of the FTS5 baseline."""
    with sqlite3.connect(":memory:") as db:
        db.execute("create virtual table f using fts5(body, tokenize='porter unicode61')")
        db.executemany("insert into f values (?)", [(text,) for text in said])
        took = []
        for question in asked:
            words = " OR ".join(f'"{word}"' for word in question.rstrip("?").split()[1:])
            started = time.perf_counter()
            db.execute("select rowid from f where f match ? order by rank limit 10", (words,)).fetchall()
            took.append(time.perf_counter() - started)
    return median(took)


def measure_size(memories: Memories, size: int) -> list[str]:
    """One row: a new scope of `size` memories in addition to the existing ones."""
    user, said, asked = f"one-{size}", texts(size), questions(SEARCHES)
    rate = fill(memories, said, user)
    memories.search(asked[0], user)  # the first search loads the scope; it is not measured
    searches = [memories.search(question, user) for question in asked]
    repeated = [memories.search(question, user) for question in asked]  # their embeddings are cached
    singles = [memories.add([f"single note {number}"], user) for number in range(SINGLE_ADDS)]
    after_add = []
    for number in range(10):
        memories.add([f"another note {number}"], user)
        after_add.append(memories.search(asked[number], user))
    weeks = [memories.timeline(user) for _ in range(10)]
    plain = plain_search(said, asked)
    return [
        f"{size:,} in one scope",
        f"{rate:.0f}/s",
        ms(median(singles)),
        ms(median(searches)),
        ms(percentile(repeated, 0.95)),
        ms(median(after_add)),
        ms(median(weeks)),
        ms(plain),
        f"{median(searches) / plain:.1f}",
    ]


def measure_scopes(memories: Memories) -> list[str]:
    """One row: a thousand users of a few memories each."""
    said, asked, rng = texts(PER_SCOPE, seed=3), questions(SEARCHES), random.Random(4)
    took = [memories.add(said, f"user-{number}") for number in range(SCOPES)]
    chosen = [f"user-{rng.randrange(SCOPES)}" for _ in asked]
    searches = [memories.search(question, user) for question, user in zip(asked, chosen, strict=True)]
    repeated = [memories.search(question, user) for question, user in zip(asked, chosen, strict=True)]
    return [
        f"{PER_SCOPE} in each of {SCOPES:,} scopes",
        f"{PER_SCOPE / median(took):.0f}/s",
        "",
        ms(median(searches)),
        ms(percentile(repeated, 0.95)),
        "",
        "",
        "",
        "",
    ]


def run(sizes: tuple[int, ...] = SIZES) -> None:
    """Run the whole benchmark on one growing server."""
    with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder) / "data") as server:
        memories = Memories(server.url)
        rows = [measure_size(memories, size) for size in sizes]
        rows.append(measure_scopes(memories))
        header = [
            "",
            "add, batches",
            "add, single",
            "search",
            "search p95, no embedding",
            "search after an add",
            "timeline",
            "FTS5 alone",
            "ratio",
        ]
        table("memories over HTTP (medians; embedding included unless said)", header, rows)
        memories.add(texts(1000, seed=5), "leaving")
        memories.add(texts(1000, seed=6), "leaving")
        table("delete all", ["", "time"], [["2,000 memories of one user", ms(memories.delete_all("leaving"))]])
