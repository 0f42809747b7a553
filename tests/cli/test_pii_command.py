"""`mnemoir pii check` tells what counts as personal data by the settings at hand."""

import json
from pathlib import Path

from typer.testing import CliRunner

from mnemoir.cli.commands import app_with

TEXT = "Write to mira@example.org or call 0171 2345678."


def test_a_text_is_looked_through_by_the_rules_of_the_settings(tmp_path: Path) -> None:
    config = tmp_path / "mnemoir.yaml"
    config.write_text("pii: {regions: [DE]}", encoding="utf-8")
    told = CliRunner().invoke(app_with(), ["pii", "check", TEXT, "--config", str(config)])
    assert told.stdout.splitlines() == [
        "EMAIL  9-25  mira@example.org",
        "PHONE  34-46  0171 2345678",
        "",
        "Write to [EMAIL_1] or call [PHONE_1].",
    ]


def test_standard_input_is_read_and_json_is_printed() -> None:
    told = json.loads(CliRunner().invoke(app_with(), ["pii", "check", "--json"], input=TEXT).stdout)
    assert told["findings"] == [{"kind": "EMAIL", "start": 9, "end": 25, "text": "mira@example.org"}]
    assert told["redacted"] == "Write to [EMAIL_1] or call 0171 2345678."


def test_a_country_without_rules_is_named(tmp_path: Path) -> None:
    config = tmp_path / "mnemoir.yaml"
    config.write_text("pii: {countries: [ZZ]}", encoding="utf-8")
    told = CliRunner().invoke(app_with(), ["pii", "check", TEXT, "--config", str(config)])
    assert "pii.countries names 'ZZ'" in str(told.exception)
