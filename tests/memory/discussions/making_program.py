"""A program that makes memories until it is killed.

`python -m tests.memory.discussions.making_program <root> <kind>`
"""

import asyncio
import sys
from pathlib import Path

from mnemoir.memory.discussions.making import Chunk
from tests.memory.discussions.making_kit import Memory, said

MESSAGES = said(*(f"message {n}: " + "word " * (n % 9) if n % 4 else "ok" for n in range(1500)))


async def main(root: Path, kind: str) -> None:
    memory = Memory(root=root, kind=kind)

    async def telling(chunk: Chunk) -> str:
        print(len(chunk.text), flush=True)
        return await memory.worker(chunk)

    await memory.make(MESSAGES, telling)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
