"""`mnemoir chat`: its options, and how a chat begins and ends."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemoir.cli.options import Config, DataDir, Project, Url
from mnemoir.cli.session import Session, run

if TYPE_CHECKING:
    from mnemoir.cli.chat.asking import Server
    from mnemoir.cli.chat.conversation import Conversation
    from mnemoir.cli.chat.display import Display
    from mnemoir.cli.chat.piped import Input


def chat(
    session: Annotated[
        str | None,
        typer.Option("--session", "-s", help="Go on with this conversation: its id, or how it begins. Else a new one."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Model to ask; else the server's.")] = None,
    user: Annotated[str, typer.Option("--user", "-u", help="Who is talking.")] = "user",
    no_memory: Annotated[
        bool, typer.Option("--no-memory", help="Keep nothing of what is said, and recall nothing.")
    ] = False,
    project: Project = None,
    url: Url = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Read a message a line, and print each answer as a line of JSON.")
    ] = False,
) -> None:
    """Talk to the model. At a terminal with editing and Markdown; in a pipe each line is a message."""
    if session is not None and no_memory:
        raise typer.BadParameter("--session names a conversation that is kept; leave --no-memory out.")
    asked = Session(config=config, data_dir=data_dir, url=url, project=project)
    if run(_chat(asked, session, user=user, model=model, no_memory=no_memory, as_json=as_json)):
        raise typer.Exit(1)


async def _chat(
    asked: Session, session: str | None, *, user: str, model: str | None, no_memory: bool, as_json: bool
) -> bool:
    """Whether something went wrong that a program should know of."""
    from mnemoir.cli.chat.asking import Server
    from mnemoir.cli.chat.loop import converse
    from mnemoir.cli.chat.session import Chat

    at_terminal = not as_json and sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    async with asked.connected() as connection:
        server = Server(connection, asked, user=user, model=model)
        display = _display(at_terminal=at_terminal, as_json=as_json)
        conversation = await _conversation(server, display, session, no_memory=no_memory)
        talk = Chat(
            server=server,
            input=_input(server, None if no_memory else asked.data_directory(), at_terminal=at_terminal),
            display=display,
            conversation=conversation,
            can_be_interrupted=at_terminal,
        )
        await converse(talk)
    return bool(talk.failures) and not at_terminal
