"""`mnemoir doctor`: is everything in place, and if not, what to do."""

from typing import Any

import typer

from mnemoir.cli.options import Config, DataDir, Json
from mnemoir.cli.output import print_json
from mnemoir.cli.session import run


def doctor(config: Config = None, data_dir: DataDir = None, as_json: Json = False) -> None:
    """Check settings, data directory, database, model, embedder and port; exit 1 if something must be put right."""
    from dataclasses import asdict

    from mnemoir.cli.checks import check_all

    findings = run(check_all(config, data_dir))
    if as_json:
        print_json({"checks": [asdict(finding) for finding in findings]})
    else:
        _print_table([asdict(finding) for finding in findings])
    if any(finding.state == "fail" for finding in findings):
        raise typer.Exit(1)


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("check", "state")
    for title in ("found", "what to do"):
        table.add_column(title, overflow="fold")  # a path is told whole
    colours = {"ok": "green", "warn": "yellow", "fail": "bold red"}
    for row in rows:
        state = Text(row["state"], style=colours[row["state"]])
        table.add_row(row["check"], state, Text(row["found"]), Text(row["to_do"]))  # Text: no markup is read in it
    Console(highlight=False).print(table)
