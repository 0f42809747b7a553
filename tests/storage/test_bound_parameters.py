"""No statement is put together from values: each is constant text or a named query, and values are bound to it."""

import ast
import re
from pathlib import Path

import mnemoir.storage

ROOM = Path(mnemoir.storage.__file__).parent
RUNS = {"execute", "executemany"}
RUNS_OF_SQL = {"rows", "row", "value", "each", "run", "many"}
SQL = re.compile(r"\b_?sql$|^within$|_of\(scope\)$|sql\.within\(.*\)$")  # how a transaction is called
# the two that put something in: a number and a query of our own
MADE = {
    "sqlite/data_file.py: f'PRAGMA integrity_check({_MOST_LINES})'",
    "sqlite/database.py: f'EXPLAIN {query}'",
}


def statements() -> list[tuple[str, ast.expr]]:
    """Every statement that the room runs, with the file it is in."""
    return [
        (str(path.relative_to(ROOM)), node.args[0])
        for path in ROOM.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and runs_a_statement(node.func)
    ]


def runs_a_statement(called: ast.Attribute) -> bool:
    """Whether it is a method of a connection, or of a transaction as stores see it."""
    return called.attr in RUNS or (called.attr in RUNS_OF_SQL and SQL.search(ast.unparse(called.value)) is not None)


def is_made(statement: ast.expr) -> bool:
    """Whether it is formatted, joined or otherwise computed where it is run."""
    return any(isinstance(node, ast.JoinedStr | ast.BinOp | ast.Call) for node in ast.walk(statement))


def test_statements_are_constant_or_named():
    found = statements()
    assert len(found) > 120
    assert {f"{file}: {ast.unparse(node)}" for file, node in found if is_made(node)} == MADE
