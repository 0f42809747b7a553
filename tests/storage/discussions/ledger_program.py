"""Appends to a ledger until it is killed: `python -m tests.storage.discussions.ledger_program`.

Prints the text of every summary that was acknowledged.
"""

import asyncio
import itertools
import sys
from pathlib import Path

from mnemoir.core.discussions import BlockChanges
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from tests.storage.discussions.ledger_kit import called, source


async def append_for_ever(root: Path) -> None:
    ledger, d1 = FileChunkLedger(), called(root)
    begin = len(await ledger.all(d1))
    for number in itertools.count(begin):
        chunk = await ledger.append(d1, f"text {number} " * 300, source(f"text {number}"))
        print(f"text {number}", flush=True)
        if number % 5 == 0:
            await ledger.change(d1, BlockChanges(stale=frozenset({chunk.id})))


if __name__ == "__main__":
    asyncio.run(append_for_ever(Path(sys.argv[1])))
