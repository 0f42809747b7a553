"""The keys of files: as documented on pages and as defined in the code."""

import json
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def page(name):
    return (DOCS / name).read_text(encoding="utf-8")


def rows(text):
    """The default in each row of a table of keys, by the key."""
    return {row[1]: row[2] for row in re.finditer(r"^\| `([\w*]+)` \| ([^|]*) \| .*\|$", text, re.MULTILINE)}


def keys(model):
    """The default of each key of a file, by the key; None where there is none, or one that a table cannot show."""
    shown = {}
    for name, field in model.model_fields.items():
        default = field.default
        plain = isinstance(default, str | int | float) and default not in ("", "\n") and len(str(default)) < 40
        shown[field.alias or name] = f"`{json.dumps(default).strip(chr(34))}`" if plain else None
    return shown


def wrong(model, text, *elsewhere):
    """Keys of the model without a row or with another default in it."""
    found = rows(text)
    there = {key for other in elsewhere for key in keys(other)}
    return [
        key
        for key, default in keys(model).items()
        if key not in there and (found.get(key) is None or default not in (None, found[key]))
    ]


def json_in(name):
    """The JSON on a page, in order."""
    return [json.loads(found) for found in re.findall(r"^```json\n(.*?)^```", page(name), re.MULTILINE | re.DOTALL)]
