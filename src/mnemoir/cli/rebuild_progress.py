"""The rebuild request of `mnemoir discussions rebuild`, with a display of its progress."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, aclosing, contextmanager
from typing import Any

import orjson

from mnemoir.cli.output import Advance, note, progress
from mnemoir.cli.session import Session
from mnemoir.core.errors import MnemoirError


async def rebuilt(session: Session, target: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Run a rebuild and show its progress; the last line of its answer. Raises MnemoirError when it is incomplete."""
    last: dict[str, Any] = {}
    with _bar() as tell:
        async with session.connected() as connection, aclosing(connection.lines(target, "POST", body)) as lines:
            async for line in lines:
                last = orjson.loads(line)
                if "error" in last:
                    raise MnemoirError(last["error"], code=last["code"])
                tell(last["done"], last["all"])
    if not last.get("finished"):
        raise MnemoirError("The server ended the rebuild before it was done, so the old memories stay. Try again.")
    return last


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """A function that shows done and total chunks: as a bar on a terminal, else as lines on standard error."""
    with ExitStack() as shown:
        at: list[Advance] = []
        done_before = 0

        def tell(done: int, all_chunks: int) -> None:
            nonlocal done_before
            if not sys.stderr.isatty():
                if done != done_before:
                    note(f"{done} of {all_chunks} chunks")
            else:
                if not at:
                    at.append(shown.enter_context(progress("Rebuilding", all_chunks)))
                at[0](done - done_before)
            done_before = done

        yield tell
