"""The options of `mnemoir chat`."""

from typing import Annotated

import typer

from mnemoir.cli.output import Config, DataDir, Project, Url
from mnemoir.cli.session import Session, run


def chat(
    conversation: Annotated[
        str | None,
        typer.Option(
            "--session", "-s", help="Continue this conversation: its id, or the beginning of it. Default: a new one."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Model to use; default: the server's, or its first.")
    ] = None,
    user: Annotated[str, typer.Option("--user", "-u", help="Who is talking.")] = "user",
    no_memory: Annotated[
        bool, typer.Option("--no-memory", help="Store nothing of this chat, and recall nothing.")
    ] = False,
    project: Project = None,
    url: Url = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Read one message per line, and print each answer as one line of JSON.")
    ] = False,
) -> None:
    """Talk to the model: at a terminal with editing and Markdown, in a pipe with one message per line."""
    if conversation is not None and no_memory:
        raise typer.BadParameter("--session names a stored conversation; leave --no-memory out.")
    from mnemoir.cli.chat.opening import ChatOptions

    asked = Session(config=config, data_dir=data_dir, url=url, project=project)
    options = ChatOptions(
        asked=asked, conversation=conversation, model=model, user=user, no_memory=no_memory, as_json=as_json
    )
    if not run(options.run()):
        raise typer.Exit(1)
