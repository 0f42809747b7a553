"""The newest summaries of a ledger of lines, read from its end, so that the cost is independent of its length."""

import os
from collections.abc import Iterator

from mnemoir.core.discussions import ChunkSummary
from mnemoir.storage.discussions.ledger_entries import complete_chunk, is_summary
from mnemoir.storage.discussions.ledger_lines import begins_as_array, is_unfinished, loads
from mnemoir.storage.discussions.placed_file import PlacedFile

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a named pipe must not stop the reader
_STEP = 64 * 1024  # bytes; a few summaries with their messages
_HEAD = 64


def newest_in(file: PlacedFile, count: int) -> list[ChunkSummary] | None:
    """The last `count` summaries with `ChunkSummary.is_read`, oldest of them first.

    None when the end is not enough: an array, entries without key or number, a file that shrank during the read.
    Raises StorageUnavailable.
    """
    with file.opened("read") as folder:
        if folder is None or file.is_array:
            return None
        opened = os.open(file.file, _READ, dir_fd=folder)
        try:
            if begins_as_array(os.pread(opened, _HEAD, 0)):
                return None
            with file.understood():
                return _newest(_lines_from_end(opened), count)
        except (_Shrunk, _Incomplete):
            return None
        finally:
            os.close(opened)


class _Shrunk(Exception):
    pass


class _Incomplete(Exception):
    pass


def _newest(lines: Iterator[bytes], count: int) -> list[ChunkSummary]:
    newest: list[ChunkSummary] = []
    for distance, line in enumerate(lines):
        if len(newest) == count:
            break
        chunk = _chunk(line, is_last=distance == 0)
        if chunk is not None and chunk.is_read:
            newest.append(chunk)
    return newest[::-1]


def _chunk(line: bytes, *, is_last: bool) -> ChunkSummary | None:
    if not line.strip() or (is_last and is_unfinished(line)):
        return None
    value = loads(line)
    if not is_summary(value):
        return None
    chunk = complete_chunk(value)
    if chunk is None:
        raise _Incomplete
    return chunk


def _lines_from_end(file: int) -> Iterator[bytes]:
    """The lines, last first; the first of them is the text after the last line end."""
    at, step, rest = os.fstat(file).st_size, _STEP, b""
    while at > 0:
        start = max(0, at - step)
        block = os.pread(file, at - start, start)
        if len(block) < at - start:
            raise _Shrunk
        rest, *lines = (block + rest).split(b"\n")
        yield from reversed(lines)
        at, step = start, step * 2  # a line longer than a step costs no more than its length
    yield rest
