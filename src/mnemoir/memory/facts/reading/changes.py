"""Changes that are told by what ended, by "so did I", or of two people, as the user would tell them alone.

"I don't live in Graz any more but in Linz." is "I live in Linz.", "Eva and I got married." is "I got married to
Eva.", and "My friend moved to Linz and so did I." has "I moved to Linz." behind it. `changes.toml` is the table.
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from mnemoir.core.accents import aligned_text


def with_new_states(text: str) -> str:
    """The text with each change told as the state that holds now."""
    plain = aligned_text(text)
    small = plain.lower()
    for marks, pattern, told in _changes():
        if not any(mark in small for mark in marks) or not pattern.search(plain):
            continue
        kept, at = [], 0
        for found in pattern.finditer(plain):
            said = {name: text[slice(*found.span(name))] for name in found.groupdict()}
            told_now = told.format(**said)
            kept += [text[at : found.start()], f"{told_now[:1].upper()}{told_now[1:]}"]
            at = found.end()
        text = "".join((*kept, text[at:]))
        plain = aligned_text(text)
        small = plain.lower()
    return text


@cache
def _changes() -> Sequence[tuple[Sequence[str], re.Pattern[str], str]]:
    table = tomllib.loads((files(__package__) / "changes.toml").read_text(encoding="utf-8"))
    found = []
    for rows in table["changes"].values():
        for row in rows:
            pattern = row["pattern"]
            for name, words in table["words"].items():
                pattern = pattern.replace(f"{{{name}}}", words)
            found.append(
                (row["mark"].split("|"), re.compile(rf"(?<![\w'])(?:{pattern})(?!\w)", re.IGNORECASE), row["told"])
            )
    return found
