"""The documentation of the settings names every key, every variable and every default."""

import re
from pathlib import Path

import pytest
import yaml

from mnemoir.settings import load_settings
from mnemoir.settings.keys import KEYS, PLAIN

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
ROWS = {match[1]: match[0] for match in re.finditer(r"^\| `([a-z_.]+)` \|.*$", PAGE, re.MULTILINE)}


def test_the_page_has_one_row_for_each_setting_in_the_order_of_the_tree():
    assert list(ROWS) == list(KEYS)


@pytest.mark.parametrize("name", PLAIN)
def test_the_row_of_a_key_shows_its_plain_name(name):
    assert f"`{name}`" in ROWS[PLAIN[name]]


def test_the_row_of_a_key_shows_its_default():
    plain = [key for key, info in KEYS.items() if isinstance(info.default, str | int | float) and info.default != ""]
    wrong = [key for key in plain if not shows(ROWS[key], KEYS[key].default)]
    assert wrong == ["memory.management_url"]  # it follows the port, which the row says


def shows(row, default):
    text = (
        str(default).lower()
        if isinstance(default, bool)
        else f"{default:g}"
        if isinstance(default, float)
        else default
    )
    return f"| `{text}` |" in row


def test_the_example_file_holds_every_key_with_its_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = ROOT / "mnemoir.example.yaml"
    environ = {"HOME": str(Path.home())}
    assert load_settings(example, {}, environ).model_dump() == load_settings(None, {}, environ).model_dump()
    assert list(flat(yaml.safe_load(example.read_text()))) == list(KEYS)


def flat(tree, prefix=""):
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name
