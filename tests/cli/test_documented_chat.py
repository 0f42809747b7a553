"""The page about the terminal chat names every command and no unknown one."""

import re
from pathlib import Path

from mnemoir.cli.chat.loop import NAMES

PAGE = (Path(__file__).parents[2] / "docs/terminal-chat.md").read_text(encoding="utf-8")


def test_the_page_names_every_command_and_no_unknown_one():
    rows = [line.split(" | ")[0] for line in PAGE.splitlines() if line.startswith("| `/")]
    assert {name for row in rows for name in re.findall(r"`(/\w+)", row)} == set(NAMES)
