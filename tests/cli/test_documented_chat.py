"""The page about the terminal chat names every command, and none that is not there."""

import re
from pathlib import Path

from mnemoir.cli.chat.commands import NAMES

PAGE = (Path(__file__).parents[2] / "docs/terminal-chat.md").read_text(encoding="utf-8")


def test_every_command_is_on_the_page_and_none_that_is_not_there():
    rows = [line.split(" | ")[0] for line in PAGE.splitlines() if line.startswith("| `/")]
    assert {name for row in rows for name in re.findall(r"`(/\w+)", row)} == set(NAMES)
