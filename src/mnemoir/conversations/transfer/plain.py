"""Removal of terminal commands from texts."""

import re

# terminal commands: CSI with its parameters, OSC up to its end, two-character sequences
_COMMANDS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain_text(text: str) -> str:
    """The text without terminal commands and control characters; lines end with a line feed."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", _COMMANDS.sub("", lines))
