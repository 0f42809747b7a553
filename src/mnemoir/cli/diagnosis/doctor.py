"""`mnemoir doctor`: runs all checks and prints the findings with the steps to take."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemoir.cli.output import Config, DataDir, Json, note, print_json, print_row
from mnemoir.cli.session import run

if TYPE_CHECKING:
    from mnemoir.cli.diagnosis.file_checks import Finding


def doctor(
    config_dir: Annotated[
        Path | None, typer.Option(help="Config tree that is served; else the one of the settings.")
    ] = None,
    user: Annotated[
        list[str] | None, typer.Option("--user", "-u", help="User of the tree who is served; may be repeated.")
    ] = None,
    begin_anew: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Take the loss of this file as it is, so that it is begun anew."),
    ] = None,
    config: Config = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Check settings, stored data, config tree, model, embedder and port; exit 1 if something must be put right."""
    from dataclasses import asdict

    from mnemoir.cli.diagnosis.checks import check_all

    if begin_anew is not None:
        _begin_anew(begin_anew, config, data_dir, as_json=as_json)
        return
    given = {"storage.data_dir": data_dir, "workflows.config_dir": config_dir, "workflows.users": user or None}
    findings = run(check_all(config, given))
    if as_json:
        print_json({"checks": [asdict(finding) for finding in findings]})
    else:
        _print(findings)
    if any(finding.state == "fail" for finding in findings):
        raise typer.Exit(1)


def _begin_anew(named: str, config: Path | None, data_dir: Path | None, *, as_json: bool) -> None:
    from mnemoir.settings import load_settings
    from mnemoir.upkeep.losses import begin_anew

    begun = begin_anew(load_settings(config, {"storage.data_dir": data_dir}), named)
    if as_json:
        print_json({"path": str(begun.path), "kept_as": None if begun.kept_as is None else str(begun.kept_as)})
        return
    print_row(begun.path, "is begun anew")
    if begun.kept_as is not None:
        note(f"What was in its place is kept as {begun.kept_as}. Delete it when you need it no more.")


def _print(findings: Sequence["Finding"]) -> None:
    """Print a line for each check, and one below it for what to do. None is folded: paths can be copied."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    width = max((len(finding.check) for finding in findings), default=0)
    colours = {"ok": "green", "warn": "yellow", "fail": "bold red"}
    for finding in findings:
        state = Text(f"{finding.state:<4}  ", style=colours[finding.state])
        console.print(state + Text(f"{finding.check:<{width}}  {finding.found}"))  # Text: no markup
        if finding.to_do:
            console.print(Text(" " * (width + 8) + f"what to do: {finding.to_do}"))
