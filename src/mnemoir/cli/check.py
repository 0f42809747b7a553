"""`mnemoir check`: reports all problems of a config tree before it is served."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemoir.cli.options import Config, Json
from mnemoir.cli.output import note, print_json, print_row

if TYPE_CHECKING:
    from mnemoir.workflows.checking import Problem


def check(
    config_dir: Annotated[Path, typer.Option(help="The Configs folder, or the Public folder around it.")],
    user: Annotated[
        list[str] | None, typer.Option("--user", "-u", help="Check only what this user reaches; may be repeated.")
    ] = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Check a config tree; exit 1 if something in it cannot work."""
    from dataclasses import asdict

    from mnemoir.app.tree import outside
    from mnemoir.settings import load_settings
    from mnemoir.workflows.checking import check_with_hints
    from mnemoir.workflows.config.tree import ConfigTree
    from mnemoir.workflows.node_types import loaded

    for left_out in loaded().problems:
        note(f"Warning: {left_out}")
    tree = ConfigTree.open(config_dir)
    settings = load_settings(config, {"workflows.config_dir": config_dir})
    problems, hints = check_with_hints(tree, user or [], loaded().types, outside(settings, tree))
    errors = sum(problem.level == "error" for problem in problems)
    warnings = len(problems) - errors
    if as_json:
        told = {"problems": [asdict(problem) for problem in problems], "hints": [asdict(hint) for hint in hints]}
        print_json({**told, "errors": errors, "warnings": warnings})
    else:
        _print_problems(problems)
        for hint in hints:
            print_row("hint   ", hint.file, hint.path, hint.text)
        print_row(f"{_counted(errors, 'error')}, {_counted(warnings, 'warning')}")
    if errors:
        raise typer.Exit(1)


def _print_problems(problems: Sequence["Problem"]) -> None:
    for problem in problems:
        print_row(f"{problem.level:<7}", problem.file, problem.path, problem.cause, problem.fix)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
