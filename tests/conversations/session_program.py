"""A program that shares a file of sessions: several threads save messages and print what was acknowledged.

`python -m tests.conversations.session_program <file> <process> <threads> <messages>`
"""

import sys
import threading

from mnemoir.conversations import MemoryManager, Message

_printing = threading.Lock()


def write(manager: MemoryManager, name: str, count: int) -> None:
    for number in range(count):
        text = f"{name} message {number}"
        message_id = manager.save_message(f"session of {name}", Message("user", text))
        with _printing:
            print(f"{message_id} {text}", flush=True)


def main(path: str, process: str, threads: int, count: int) -> None:
    with MemoryManager(path) as manager:
        names = [f"process {process} thread {number}" for number in range(threads)]
        writers = [threading.Thread(target=write, args=(manager, name, count)) for name in names]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
