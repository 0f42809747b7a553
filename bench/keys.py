"""The time to recognise one of 100,000 keys: cold, when it is read from the file, and warm, when it is remembered."""

import random
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from bench.report import median, table
from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.core.api_keys import hash_of, new_text
from mnemoir.core.clock import to_text, utc_now
from mnemoir.core.data_directory import ACCESS_FILE
from mnemoir.settings import load_settings

KEYS = 100_000
COLD = 2_000  # look-ups, each of another key
WARM, BATCHES = 20_000, 7


def opened(folder: Path) -> AccessFile:
    """The access file of a data directory."""
    return AccessFile(load_settings(None, {"storage.data_dir": str(folder)}, environ={}))


def filled(folder: Path) -> list[str]:
    """The texts of all keys of a new data directory; they are written into its file at once."""
    with closing(opened(folder)) as access:
        ApiKeys(access).create(role="write", by="bench")
        pepper = access.pepper
    made = [new_text() for _ in range(KEYS)]
    now = to_text(utc_now())  # used a moment ago, so that no look-up has to write that down in another thread
    rows = ((parts.id, hash_of(parts.secret, pepper), now) for parts, _ in made)
    with closing(sqlite3.connect(folder / ACCESS_FILE)) as file, file:
        file.executemany(
            "INSERT INTO api_keys (id, hash, tenant, role, label, created_at, created_by, last_used_at)"
            " VALUES (?, ?, 'default', 'write', '', '2026-01-01T00:00:00Z', 'bench', ?)",
            rows,
        )
    return [text for _, text in made]


def cold(folder: Path, texts: list[str]) -> tuple[float, float]:
    """The median and the 99th percentile of look-ups of a server that has just started, in seconds of the clock."""
    with closing(opened(folder)) as access:
        keys, times = ApiKeys(access), []
        for text in texts:
            before = time.perf_counter()
            found = keys.principal(text)
            times.append(time.perf_counter() - before)
            assert found is not None
    return median(times), sorted(times)[len(times) * 99 // 100]


def warm(folder: Path, text: str) -> float:
    """CPU seconds of one look-up of a key that is remembered, in the best batch."""
    with closing(opened(folder)) as access:
        keys = ApiKeys(access)
        keys.principal(text)
        times = []
        for _ in range(BATCHES):
            before = time.process_time()
            for _ in range(WARM):
                keys.principal(text)
            times.append((time.process_time() - before) / WARM)
        return min(times)


def run() -> None:
    """Run the whole benchmark."""
    with tempfile.TemporaryDirectory() as name:
        texts = filled(Path(name))
        random.Random(1).shuffle(texts)
        usual, slowest = cold(Path(name), texts[:COLD])
        remembered = warm(Path(name), texts[0])
    rows = [
        ("cold, median", f"{usual * 1e6:.0f} µs"),
        ("cold, 99 of 100", f"{slowest * 1e6:.0f} µs"),
        ("warm (CPU)", f"{remembered * 1e6:.1f} µs"),
    ]
    table(f"recognising one of {KEYS:,} keys", ("", "time"), rows)


if __name__ == "__main__":
    run()
