"""What commands print: data to standard output, as lines for people or JSON for programs; notes to standard error."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import orjson
import typer


class Step(Protocol):
    """Tells how many more items are done."""

    def __call__(self, count: int) -> None: ...


def print_json(value: object) -> None:
    """One JSON value, indented, with a final newline."""
    typer.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE), nl=False)


def print_row(*cells: object) -> None:
    """One line with two spaces between the cells; what a terminal could take for a command is spelled out."""
    typer.echo("  ".join(printable(str(cell)) for cell in cells))


def print_memories(memories: Sequence[Mapping[str, Any]]) -> None:
    """Id, date, score if it has one, and text of each."""
    for memory in memories:
        score = [f"{memory['score']:.2f}"] if isinstance(memory.get("score"), int | float) else []
        print_row(memory["id"], str(memory.get("created_at") or "")[:10], *score, memory["memory"])


def note(text: str) -> None:
    """For people, not for pipes."""
    typer.echo(printable(text, keep="\n"), err=True)


def printable(text: str, keep: str = "") -> str:
    """`text` with control characters spelled out, for a memory may hold an escape sequence."""
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Step]:
    """A progress bar on standard error while something long runs; nothing when that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count: bar.advance(task, count)


def counted(count: int, thing: str) -> str:
    """`1 chunk`, `2 chunks`."""
    return f"{count} {thing}{'' if count == 1 else 's'}"
