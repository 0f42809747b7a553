"""Export and import of memories as JSON lines, in batches, and reading of a file that is sent in one request."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from mnemoir.cli.output import progress
from mnemoir.cli.session import Session
from mnemoir.core.atomic_file import replacing
from mnemoir.core.errors import InvalidRequest, StorageUnavailable, TooLarge

if TYPE_CHECKING:
    from mnemoir.cli.connection import Connection

_BATCH_LINES = 200
_BATCH_BYTES = 512 * 1024  # well below the smallest limit a server can be set to

Write = Callable[[bytes], object]
_MOST_BYTES = 256 * 1024 * 1024  # more than any server takes at once


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCounts:
    """The number of memories added, and of those that were not; the plans of a dry run.

    Of the latter, `too_long` are the lines whose text may not come in, by the server's shape; all others exist.
    """

    added: int
    skipped: int
    plans: tuple[Mapping[str, Any], ...] = ()
    too_long: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    numbers: tuple[int, ...]  # of its lines in the file
    lines: tuple[bytes, ...]


async def export_lines(session: Session, file: Path | None, user: str | None) -> int:
    """Write all memories to `file`, or to standard output; their number.

    The file appears when it is complete, and only its owner can read it.
    """
    count = 0
    with progress("Exporting", None) as step, output(file) as write:
        async with session.connect_to_server() as connection:
            target = session.target("/api/export", {"user_id": user})
            async for line in connection.lines(target):
                write(line + b"\n")
                step(1)
                count += 1
    return count


async def import_lines(session: Session, file: Path, user: str | None, *, dry_run: bool = False) -> ImportCounts:
    """Import all memories of `file`, for `user` if given, else for the user each line names; or plan that."""
    added, skipped, plans, too_long = 0, 0, list[Mapping[str, Any]](), list[Mapping[str, Any]]()
    query = {"dry_run": "true"} if dry_run else {}
    with progress("Importing", _count_lines(file)) as step:
        async with session.connect_to_server() as connection:
            for batch in _batches(file, user):
                answer = await _send(connection, session.target("/api/import", query), batch)
                added += answer.added
                skipped += answer.skipped
                plans += answer.plans
                too_long += answer.too_long
                step(len(batch.lines))
    return ImportCounts(added=added, skipped=skipped, plans=tuple(plans), too_long=tuple(too_long))


async def _send(connection: "Connection", target: str, batch: _Batch) -> ImportCounts:
    try:
        answer = await connection.ask("POST", target, b"\n".join(batch.lines))
    except InvalidRequest as exc:
        raise InvalidRequest(
            f"Lines {batch.numbers[0]} to {batch.numbers[-1]}: {exc.message}", code=exc.code
        ) from exc
    too_long = [{**one, "line": batch.numbers[one["line"] - 1]} for one in answer.get("too_long", ())]
    return ImportCounts(
        added=answer["imported"],
        skipped=answer["skipped"],
        plans=tuple(answer.get("plans", ())),
        too_long=tuple(too_long),
    )


def _batches(file: Path, user: str | None) -> Iterator[_Batch]:
    """The file's lines in batches of one request. Raises InvalidRequest that names a line without a JSON object."""
    lines, numbers, size = list[bytes](), list[int](), 0
    for number, line in _numbered_lines(file):
        record = _record(number, line, user)
        if lines and (len(lines) == _BATCH_LINES or size + len(record) > _BATCH_BYTES):
            yield _Batch(numbers=tuple(numbers), lines=tuple(lines))
            lines, numbers, size = [], [], 0
        numbers.append(number)
        lines.append(record)
        size += len(record) + 1
    if lines:
        yield _Batch(numbers=tuple(numbers), lines=tuple(lines))


def _record(number: int, line: bytes, user: str | None) -> bytes:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as exc:
        raise InvalidRequest(f"Line {number} is not valid JSON: {exc.msg}.", code="invalid_json") from exc
    if not isinstance(record, dict):
        raise InvalidRequest(f"Line {number} is not a JSON object.", code="invalid_json")
    record.pop("history", None)  # exported for readers; the server creates its own
    return orjson.dumps(record | ({} if user is None else {"user_id": user}))


def _numbered_lines(file: Path) -> Iterator[tuple[int, bytes]]:
    with file.open("rb") as source:
        for number, line in enumerate(source, start=1):
            if line.strip():
                yield number, line


def _count_lines(file: Path) -> int:
    return sum(1 for _ in _numbered_lines(file))


@contextmanager
def output(file: Path | None) -> Iterator[Write]:
    """A write function to standard output, or to a private file that appears when it is complete.

    Raises StorageUnavailable when the file cannot be written.
    """
    if file is None:
        yield sys.stdout.buffer.write
        sys.stdout.flush()
        return
    try:
        with replacing(file) as target:
            yield target.write
    except OSError as exc:
        raise StorageUnavailable(f"{file} cannot be written: {exc.strerror or exc}. Name another file.") from exc


def read_file(file: Path) -> bytes:
    """The file's bytes. Raises InvalidRequest when it cannot be read, TooLarge above 256 MiB."""
    try:
        with file.open("rb") as source:
            data = source.read(_MOST_BYTES + 1)
    except OSError as exc:
        raise InvalidRequest(f"{file} cannot be read: {exc.strerror or exc}.") from exc
    if len(data) > _MOST_BYTES:
        raise TooLarge(f"{file} has more than {_MOST_BYTES // 1024**2} MiB. Import it in parts.")
    return data
