"""A program that dies: it commits from several tasks at once and prints each commit that was acknowledged.

`python -m tests.storage.sqlite.writing_program <database> <round>`
"""

import asyncio
import sys
from pathlib import Path

from mnemoir.core.memories import Provenance, SourceTurn
from mnemoir.storage.sql import SqlMemoryStore
from mnemoir.storage.sqlite import open_database
from tests.contracts.words import MIRA, message, rewrite

CLIENTS = 4
PER_COMMIT = 3


async def write(store: SqlMemoryStore, name: str) -> None:
    for number in range(10_000):
        label = f"{name} commit {number}"
        turns = [SourceTurn(role="user", text=label)]
        said = [message(f"{label} part {part}") for part in range(PER_COMMIT)]
        done = await store.commit(MIRA, said, Provenance(reason="verbatim", turns=turns))
        print(f"added {label}", flush=True)
        if number % 3 == 0:
            change = rewrite(done[0].memory, f"{label} part 0 again")
            await store.commit(MIRA, [change], Provenance(reason="verbatim", turns=turns))
            print(f"rewritten {label}", flush=True)


async def main(path: Path, round_: str) -> None:
    store = SqlMemoryStore(open_database(path))
    await asyncio.gather(*(write(store, f"round {round_} client {n}") for n in range(CLIENTS)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
