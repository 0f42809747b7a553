"""Another process that holds a file of sessions for writing, until it is told to let go.

`python -m tests.conversations.file_holder <file>`
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw


@contextmanager
def held_by_another_process(path: Path) -> Iterator[Callable[[], None]]:
    """The file is held inside; what is given lets go of it, which the end does at the latest."""
    line = [sys.executable, "-m", "tests.conversations.file_holder", str(path)]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        try:
            yield holder.stdin.close
        finally:
            holder.stdin.close()
            assert holder.wait(30) == 0


def main(path: str) -> None:
    connection = apsw.Connection(path)
    connection.execute("BEGIN IMMEDIATE")
    print("held", flush=True)
    sys.stdin.read()
    connection.execute("ROLLBACK")


if __name__ == "__main__":
    main(sys.argv[1])
