"""The options that several commands share, and printing: data to standard output, notes to standard error."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
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

Found = Mapping[str, Any]
LESS_LIKELY = "--- less likely ---"
_MANY = {"memory": "memories"}  # plurals that no `s` makes
_LINE_S = 5.0  # between two lines of progress


class Advance(Protocol):
    """A function that reports the number of items finished since its last call."""

    def __call__(self, count: int) -> None: ...


def print_json(value: object) -> None:
    """Print one JSON value, indented, with a final newline."""
    typer.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE), nl=False)


def print_row(*cells: object) -> None:
    """Print one line with two spaces between the cells; control characters are printed as escapes."""
    typer.echo("  ".join(printable(str(cell)) for cell in cells))


def print_memories(memories: Sequence[Found]) -> None:
    """Print a line per memory: id, date, score if it has one, and text; the less likely ones below a line."""
    likely, others = likely_and_others(memories)
    for memory in [*likely, *others]:
        if others and memory is others[0]:
            print_row(LESS_LIKELY)
        score = [f"{memory['score']:.2f}"] if isinstance(memory.get("score"), int | float) else []
        print_row(memory["id"], str(memory.get("created_at") or "")[:10], *score, memory["memory"])


def likely_and_others(found: Sequence[Found]) -> tuple[list[Found], list[Found]]:
    """The results in two lists, in order: those that the server marked as likely, and the others."""
    return [one for one in found if one.get("likely", True)], [one for one in found if not one.get("likely", True)]


def note(text: str) -> None:
    """Print a note for people to standard error."""
    typer.echo(printable(text, keep="\n"), err=True)


def printable(text: str, keep: str = "") -> str:
    """`text` with control characters as escapes, because a memory may contain a terminal command."""
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


@contextmanager
def progress(title: str, total: int | None, now: Callable[[], float] = monotonic) -> Iterator[Advance]:
    """A progress bar on standard error; where that is no terminal, a line every `_LINE_S` seconds."""
    if not sys.stderr.isatty():
        yield _line_now_and_then(title, total, now)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count: bar.advance(task, count)


def _line_now_and_then(title: str, total: int | None, now: Callable[[], float]) -> Advance:
    done, told_at = 0, now()

    def print_progress(count: int) -> None:
        nonlocal done, told_at
        done += count
        if now() - told_at >= _LINE_S:
            told_at = now()
            note(f"{title}: {done}" if total is None else f"{title}: {done} of {total}")

    return print_progress


def count_with_noun(count: int, thing: str) -> str:
    """`1 chunk`, `2 chunks`, `2 memories`."""
    return f"{count} {thing if count == 1 else _MANY.get(thing, f'{thing}s')}"
