"""The options that several commands share."""

from pathlib import Path
from typing import Annotated

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
