"""Part of `make lint`: no function is named by a participle or a gerund.

A function that returns a value is named by a noun (`sorted_hits`, `description_of`), one that acts by a verb in the
imperative (`refuse_twice`). A name that ends in a participle (`listed`, `told`) says neither what comes back nor what
is done. `tools/function_names.toml` has the words, and the exceptions; one that is not needed any more is an error.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
Words = Mapping[str, Sequence[str]]
WORDS: Words = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def is_participle(name: str, words: Words = WORDS) -> bool:
    """Whether the name of a function ends in a participle or a gerund that describes nothing behind it."""
    steps = name.strip("_").split("_")
    first, last = steps[0], steps[-1]
    if name in words["foreign"] or name.startswith("__") or first in words["predicates"] or last in words["nouns"]:
        return False
    if len(steps) > 1 and first in words["imperatives"]:
        return False
    return last in words["irregular"] or (last.endswith("ed") and len(last) > 4) or last.endswith("ing")


def places(source: Path) -> Iterator[str]:
    """Each function below `source` with such a name, as `folder/file.py:name`, by file."""
    for file in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_participle(node.name):
                yield f"{file.relative_to(source).as_posix()}:{node.name}"


def problems(source: Path, exceptions: Sequence[str]) -> list[str]:
    """A line for each place that is no exception, and for each exception that is no place."""
    found = list(places(source))
    return [
        *(
            f"{place}: name it by a noun, or by a verb in the imperative"
            for place in found
            if place not in exceptions
        ),
        *(
            f"{place}: has no such name any more; take it off the exceptions"
            for place in exceptions
            if place not in found
        ),
    ]


if __name__ == "__main__":
    found = problems(ROOT / "src" / "mnemoir", WORDS["exceptions"])
    print(*found, sep="\n", file=sys.stderr)
    sys.exit(bool(found))
