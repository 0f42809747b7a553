"""The house stays one that a reader finds the way in: short functions, shelves and lists of parts."""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from mnemoir.app.parts import Opening, Parts
from tests.narrowing import present

SOURCES = Path(__file__).parents[2] / "src" / "mnemoir"
BUILT = SOURCES / "server" / "static"


def files() -> Iterator[Path]:
    found = (file for file in SOURCES.rglob("*") if file.is_file() and BUILT not in file.parents)
    return (file for file in found if "__pycache__" not in file.parts)


def test_no_folder_holds_more_than_35_files():
    counted = Counter(file.parent.relative_to(SOURCES).as_posix() for file in files())
    assert {folder: count for folder, count in counted.items() if count > 35} == {}


@pytest.mark.slow
def test_no_function_is_longer_than_60_lines():
    long = {}
    for file in files():
        for node in ast.walk(ast.parse(file.read_bytes())) if file.suffix == ".py" else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                long[f"{file.relative_to(SOURCES)}:{node.name}"] = present(node.end_lineno) - node.lineno + 1
    assert {name: lines for name, lines in long.items() if lines > 60} == {}


def test_parts_has_a_value_for_each_room_and_no_value_more_than_15_members():
    values = get_type_hints(Parts)
    assert len(values) <= 8
    rooms: list[Any] = [kind for kind in values.values() if is_dataclass(kind)]
    assert Opening in rooms
    assert {kind.__name__: len(fields(kind)) for kind in rooms if len(fields(kind)) > 15} == {}


ABOVE_STORAGE = ("access", "app", "chats", "cli", "models", "server", "settings", "trees", "upkeep")


def test_the_rooms_above_storage_name_no_driver_of_a_database():
    above = [file for room in ABOVE_STORAGE for file in (SOURCES / room).rglob("*.py")]
    assert above
    named = ("apsw", "storage.sqlite")
    assert [file for file in above if any(name in file.read_text("utf-8") for name in named)] == []
