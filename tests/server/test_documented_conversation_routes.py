"""The pages about conversations name every route, and every format and choice of an import."""

import re
from pathlib import Path
from typing import get_args

from mnemoir.conversations.transfer import ExportFormat, ImportFormat, OnConflict
from mnemoir.server.conversations.access import CONVERSATIONS

DOCS = Path(__file__).parents[2] / "docs"
_METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}


def first_cells(page: str) -> list[list[str]]:
    """Of each row of the page's tables, what its first cell marks as code."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [re.findall(r"`([^`]+)`", line.split(" | ")[0]) for line in text.splitlines() if line.startswith("| `")]


def routes_in(page: str) -> set[tuple[str, str]]:
    """Method and path; methods that stand alone belong to the next path."""
    found, waiting = set(), []
    for name in (name for cell in first_cells(page) for name in cell):
        method, _, path = name.partition(" ")
        if method in _METHODS:
            waiting.append(method)
        if path.startswith(CONVERSATIONS):
            found |= {(one, path) for one in waiting}
            waiting = []
    return found


async def test_every_route_is_on_the_page_and_none_that_is_not_there(server) -> None:
    paths = (await server.get("/openapi.json"))["paths"]
    offered = {
        (method.upper(), path)
        for path, methods in paths.items()
        if path.startswith(CONVERSATIONS)
        for method in methods
    }
    assert routes_in("conversations.md") == offered


def test_every_format_and_every_choice_is_on_the_page() -> None:
    told = {name for cell in first_cells("export-and-import.md") for name in cell}
    assert {*get_args(ExportFormat), *get_args(ImportFormat), *get_args(OnConflict)} <= told
