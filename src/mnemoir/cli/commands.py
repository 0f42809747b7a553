"""The command line: all commands by name, and the conversion of errors to an error line and an exit code."""

import sys
from collections.abc import Callable
from functools import partial
from typing import Annotated, NoReturn

import typer

from mnemoir import __version__
from mnemoir.cli.audit import commands as audit
from mnemoir.cli.backup import commands as backup
from mnemoir.cli.chat.command import chat
from mnemoir.cli.conversations import commands as conversations
from mnemoir.cli.diagnosis.doctor import doctor
from mnemoir.cli.discussions import commands as discussions
from mnemoir.cli.encryption import commands as encryption
from mnemoir.cli.groups import group
from mnemoir.cli.hold import commands as hold
from mnemoir.cli.import_command import import_file
from mnemoir.cli.keys import commands as keys
from mnemoir.cli.login import login, logout
from mnemoir.cli.mcp import mcp
from mnemoir.cli.memories import commands as memories
from mnemoir.cli.models import embedding, model
from mnemoir.cli.output import Json, note, print_json, print_row
from mnemoir.cli.pii import commands as pii
from mnemoir.cli.retention import commands as retention
from mnemoir.cli.runs import commands as runs
from mnemoir.cli.serve import serve
from mnemoir.cli.session import asking
from mnemoir.cli.start_line import ServeCommand
from mnemoir.cli.subject import commands as subject
from mnemoir.cli.trees import check, init, schema
from mnemoir.cli.usage import usage
from mnemoir.cli.users import commands as users
from mnemoir.core.errors import MnemoirError, NotFound

app = group(
    "A memory for your LLM applications: serve it, look into it, check it.",
    name="mnemoir",
    pretty_exceptions_enable=False,  # pretty tracebacks print local variables, which may hold a key
)
app.add_typer(memories, name="memories")
model.add_typer(embedding, name="embedding")
app.add_typer(model, name="model")
app.add_typer(keys, name="keys")
app.add_typer(users, name="users")
app.add_typer(audit, name="audit")
app.add_typer(pii, name="pii")
app.add_typer(encryption, name="encryption")
app.add_typer(backup, name="backup")
app.add_typer(subject, name="subject")
app.add_typer(hold, name="hold")
app.add_typer(retention, name="retention")
app.add_typer(runs, name="runs")
app.add_typer(conversations, name="conversations")
app.add_typer(discussions, name="discussions")
app.command(cls=ServeCommand)(serve)
app.command()(chat)
asking(app, projects=True)("import")(import_file)
app.command()(mcp)
app.command()(init)
app.command()(check)
app.command()(schema)
app.command()(doctor)
app.command()(usage)
app.command()(login)
app.command()(logout)


@app.command()
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


@app.callback()
def _options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version_and_stop, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Nothing to do: the option acts by itself."""


def main() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    sys.exit(run_for_exit_code(partial(app, prog_name="mnemoir")))  # the name that completion goes by


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
