"""Named SQL: files of queries, each under `-- name: …` with a comment that describes its result.

Text that several queries of a file share is written once, under `-- part: …`, and replaces `{its name}` in them.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

_BLOCK = re.compile(r"^-- (name|part): (\w+)\n(.*?)(?=^-- (?:name|part): |\Z)", re.DOTALL | re.MULTILINE)
_PART = re.compile(r"\{(\w+)\}")


@cache
def queries(subject: str) -> Mapping[str, str]:
    """The queries of `queries/<subject>.sql` by name, with their comments, which then show in database traces."""
    text = (files("mnemoir.storage.sql") / "queries" / f"{subject}.sql").read_text("utf-8")
    blocks = _BLOCK.findall(text)
    parts = {name: body.strip() for kind, name, body in blocks if kind == "part"}
    return {
        name: _PART.sub(lambda found: parts[found[1]], body.strip()) for kind, name, body in blocks if kind == "name"
    }


@cache
def subjects() -> Sequence[str]:
    """All files of queries, in name order."""
    folder = files("mnemoir.storage.sql") / "queries"
    return sorted(entry.name.removesuffix(".sql") for entry in folder.iterdir() if entry.name.endswith(".sql"))
