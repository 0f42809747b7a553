"""The options that several commands share, and printing: data to standard output, notes to standard error."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Protocol

import orjson
import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Config = Annotated[
    Path | None, typer.Option(help="Settings file; else mnemoir.yaml here or in your config directory.")
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        help="Directory that holds the memories. Commands other than serve open it themselves when it is named."
    ),
]
Url = Annotated[str | None, typer.Option(help="Address of a running server; else the one of the settings.")]
User = Annotated[str, typer.Option("--user", "-u", help="Whose memories.")]
Project = Annotated[
    str | None, typer.Option("--project", "-p", help="Project; else the default one of the settings.")
]


class Advance(Protocol):
    """A function that reports the number of items finished since its last call."""

    def __call__(self, count: int) -> None: ...


def print_json(value: object) -> None:
    """Print one JSON value, indented, with a final newline."""
    typer.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE), nl=False)


def print_row(*cells: object) -> None:
    """Print one line with two spaces between the cells; control characters are printed as escapes."""
    typer.echo("  ".join(printable(str(cell)) for cell in cells))


def print_memories(memories: Sequence[Mapping[str, Any]]) -> None:
    """Print a line per memory: id, date, score if it has one, and text."""
    for memory in memories:
        score = [f"{memory['score']:.2f}"] if isinstance(memory.get("score"), int | float) else []
        print_row(memory["id"], str(memory.get("created_at") or "")[:10], *score, memory["memory"])


def note(text: str) -> None:
    """Print a note for people to standard error."""
    typer.echo(printable(text, keep="\n"), err=True)


def printable(text: str, keep: str = "") -> str:
    """`text` with control characters as escapes, because a memory may contain a terminal command."""
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Advance]:
    """A progress bar on standard error; nothing is shown when standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count: bar.advance(task, count)


def counted(count: int, thing: str, things: str | None = None) -> str:
    """`1 chunk`, `2 chunks`; `things` is the plural where it is not regular."""
    return f"{count} {thing if count == 1 else things or f'{thing}s'}"
