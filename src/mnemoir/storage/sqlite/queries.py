"""Named SQL: a file of queries, each under `-- name: …` with a comment that says what it gives."""

import re
from collections.abc import Mapping
from importlib.resources import files

_BLOCK = re.compile(r"^-- name: (\w+)\n(.*?)(?=^-- name: |\Z)", re.DOTALL | re.MULTILINE)


def queries(subject: str) -> Mapping[str, str]:
    """The queries of `queries/<subject>.sql` by name, comments included: they show in traces of the database."""
    text = (files("mnemoir.storage.sqlite") / "queries" / f"{subject}.sql").read_text("utf-8")
    return {name: body.strip() for name, body in _BLOCK.findall(text)}


def subjects() -> list[str]:
    """All files of queries, in name order."""
    folder = files("mnemoir.storage.sqlite") / "queries"
    return sorted(entry.name.removesuffix(".sql") for entry in folder.iterdir() if entry.name.endswith(".sql"))
