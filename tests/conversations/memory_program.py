"""A process with agents on a memory that others share: some threads write, one reads all the while.

`python -m tests.conversations.memory_program <folder> <process> <writers> <messages>` prints a line for each message
that was acknowledged, and ends with 0 only if nothing that was read ever went away again.
"""

import asyncio
import sys
import threading
from pathlib import Path

from mnemoir.conversations import MemoryManager, Message, SearchFilter, SessionMetadata
from tests.conversations.search_kit import WordsClient, manager

_printing = threading.Lock()


def write(memory: MemoryManager, agent: str, count: int) -> None:
    session_id = memory.create_session("", SessionMetadata(custom={"agent": agent}), f"session of {agent}")
    for number in range(count):
        text = f"{agent} notes number {number}"
        message_id = memory.save_message(session_id, Message("user", text))
        with _printing:
            print(f"{message_id} {text}", flush=True)


def read(memory: MemoryManager, is_over: threading.Event) -> None:
    """Sessions, windows and searches, over what all processes have written so far."""
    seen: dict[str, list[str]] = {}
    while not is_over.is_set():
        for session in memory.list_sessions(20):
            texts = [message.text for message in memory.load_session(session.id)]
            before = seen.get(session.id, [])
            if texts[: len(before)] != before:
                raise AssertionError(f"{session.id}: {len(texts)} messages, and {len(before)} before")
            seen[session.id] = texts
            memory.load_history(session.id)
        found = asyncio.run(memory.search_hybrid("notes number 7", 5, SearchFilter(visibility="shared")))
        if len({hit.message_id for hit in found}) != len(found):
            raise AssertionError("a message was found twice")


def main(folder: str, process: str, writers: int, count: int) -> None:
    failures: list[BaseException] = []

    def guarded(work, *arguments: object) -> None:
        try:
            work(*arguments)
        except BaseException as exc:
            failures.append(exc)
            raise

    with manager(Path(folder), WordsClient(), embed_sync=False) as memory:
        is_over = threading.Event()
        reader = threading.Thread(target=guarded, args=(read, memory, is_over))
        threads = [
            threading.Thread(target=guarded, args=(write, memory, f"agent{process}x{number}", count))
            for number in range(writers)
        ]
        for thread in [reader, *threads]:
            thread.start()
        for thread in threads:
            thread.join()
        is_over.set()
        reader.join()
        asyncio.run(memory.wait_for_pending_embeddings())
    sys.exit(bool(failures))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
