"""A program that appends chunks of two records until it is killed, and prints each chunk that was acknowledged.

`python -m tests.storage.discussions.record_program <root> <name> <how many>`
"""

import asyncio
import sys
from pathlib import Path

from mnemoir.core.discussions import Discussion
from mnemoir.storage.discussions.record_store import SqliteRecordStore
from tests.storage.discussions.record_words import record, source


async def main(root: Path, name: str, count: int) -> None:
    store, tea = SqliteRecordStore(), Discussion(root=root, id="tea")
    for number in range(count):
        label = f"{name} chunk {number}"
        await store.append(tea, [record(f"{label} tea"), record(f"{label} rum")], source(label))
        print(label, flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
