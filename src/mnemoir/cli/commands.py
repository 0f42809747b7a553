"""The command line: all commands by name, and the conversion of errors to an error line and an exit code."""

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from mnemoir import __version__
from mnemoir.cli.groups import group
from mnemoir.cli.output import Json, note, print_json, print_row
from mnemoir.core.errors import MnemoirError, NotFound

_ADDS = "add_to"  # a function that adds the command itself
# In the order of the help: the module below `cli`, and in it a group, or a function that is a command
_HOMES: Mapping[str, tuple[str, str]] = {
    "memories": ("memories", "commands"),
    "model": ("models", "model"),
    "keys": ("keys", "commands"),
    "users": ("users", "commands"),
    "audit": ("audit", "commands"),
    "pii": ("pii", "commands"),
    "encryption": ("encryption", "commands"),
    "backup": ("backup", "commands"),
    "subject": ("subject", "commands"),
    "hold": ("hold", "commands"),
    "retention": ("retention", "commands"),
    "runs": ("runs", "commands"),
    "conversations": ("conversations", "commands"),
    "discussions": ("discussions", "commands"),
    "serve": ("serve", _ADDS),
    "chat": ("chat.command", "chat"),
    "import": ("import_command", _ADDS),
    "mcp": ("mcp", "mcp"),
    "init": ("trees", "init"),
    "check": ("trees", "check"),
    "schema": ("trees", "schema"),
    "doctor": ("diagnosis.doctor", "doctor"),
    "usage": ("usage", "usage"),
    "login": ("login", "login"),
    "logout": ("login", "logout"),
    "version": ("commands", "version"),
}


@cache
def app_with(*names: str) -> typer.Typer:
    """The application with these commands and groups, without names with all; modules of others are not imported."""
    app = group(
        "A memory for your LLM applications: serve it, look into it, check it.",
        name="mnemoir",
        pretty_exceptions_enable=False,  # pretty tracebacks print local variables, which may hold a key
    )
    app.callback()(_options)
    for name in names or _HOMES:
        module, member = _HOMES[name]
        found = getattr(import_module(f"mnemoir.cli.{module}"), member)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        elif member == _ADDS:
            found(app)
        else:
            app.command(name)(found)
    return app


def version(as_json: Json = False) -> None:
    """Print the version."""
    if as_json:
        print_json({"version": __version__})
        return
    print_row(f"mnemoir {__version__}")


def _version_and_stop(wanted: bool) -> None:
    if wanted:
        version(as_json=False)
        raise typer.Exit


def _options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version_and_stop, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Nothing to do: the option acts by itself."""


def main() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    named = [name for name in sys.argv[1:2] if name in _HOMES]  # help and completion are about all commands
    sys.exit(run_for_exit_code(lambda: app_with(*named)(prog_name="mnemoir")))  # the name that completion goes by


def run_for_exit_code(command: Callable[[], None]) -> int:
    """Run `command`; its exit code. Our errors are printed as one line instead of a traceback."""
    try:
        command()
    except NotFound as exc:
        note(f"mnemoir: {exc.message}")
        return 3
    except MnemoirError as exc:
        note(f"mnemoir: {exc.message}")
        return 1
    return 0
