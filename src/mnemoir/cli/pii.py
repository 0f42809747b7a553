"""`mnemoir pii …`: try what counts as personal data."""

import sys
from typing import Annotated

import typer

from mnemoir.cli.groups import group
from mnemoir.cli.output import Config, Json, note, print_json, print_row

commands = group("Try what counts as personal data.")


@commands.callback()
def _group() -> None:
    """Keep `check` a command of its own."""


@commands.command()
def check(
    text: Annotated[str | None, typer.Argument(help="The text; else standard input is read.")] = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Print the personal data in a text, by the rules of the settings, and the text with placeholders."""
    from mnemoir.access.personal_data import rules_of
    from mnemoir.privacy.placeholders import Placeholders
    from mnemoir.settings import load_settings

    given = sys.stdin.read() if text is None else text
    findings = rules_of(load_settings(config, {}).pii).find(given)
    placeholders = Placeholders()
    placeholders.reserve(given)
    redacted = placeholders.with_placeholders(given, findings)
    found = [
        {"kind": one.kind, "start": one.start, "end": one.end, "text": given[one.start : one.end]} for one in findings
    ]
    if as_json:
        print_json({"findings": found, "redacted": redacted})
        return
    for one in found:
        print_row(one["kind"], f"{one['start']}-{one['end']}", one["text"])
    if found:
        print_row()
        print_row(redacted)
    else:
        note("No personal data was found.")
