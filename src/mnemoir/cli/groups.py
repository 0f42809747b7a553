"""What all commands share: whole sentences in `-h`, and no error when the reader of the output has left."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

_UNCUT = 1000  # characters of a command's help in the list of its group
_HELP = {"help_option_names": ["-h", "--help"]}


class Commands(TyperGroup):
    """A group of commands. Contexts and formatters are of Click, or of Typer's copy of it."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List each command with the whole sentence of its help, wrapped."""
        named = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, command.get_short_help_str(_UNCUT)) for name, command in named if command is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Read the arguments, which prints help and completions."""
        with _until_the_reader_leaves():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _until_the_reader_leaves():
            result = super().invoke(ctx)
            sys.stdout.flush()  # else a reader that has left is noticed after the exit code was chosen
            return result


def group(help: str, **options: Any) -> typer.Typer:
    """A group of commands with this help."""
    return typer.Typer(
        help=help,
        cls=Commands,
        context_settings=_HELP,
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help suits pipes and takes half the time
        **options,
    )


@contextmanager
def _until_the_reader_leaves() -> Iterator[None]:
    """Run the block; when the reader of the output closes it, as `head` does, end the program as done."""
    try:
        yield
    except BrokenPipeError:
        _discard_the_rest()
        raise typer.Exit from None


def _discard_the_rest() -> None:
    """Point the closed streams to nowhere, so that the flush at the end of the process cannot fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
