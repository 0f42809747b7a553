"""What is made at its first use: modules and patterns that a server at rest does without.

Most of a start is the import of libraries and the compilation of patterns that few requests need. For type checkers
the same module is imported under `if TYPE_CHECKING`.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, cast


def module(name: str) -> Any:
    """The module of that name, which is imported when a name of it is first read."""
    return _Module(name)


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """The compiled pattern, which is compiled when it is first used."""
    return cast("re.Pattern[str]", _Pattern(text, flags))


def homes_of(package: str) -> Mapping[str, str]:
    """The public names of a package, by its `__file__`, with the module that each is to be imported from.

    They are the names that the `.pyi` beside the file imports as themselves, for type checkers as well.
    """
    listed = ast.parse(Path(package).with_suffix(".pyi").read_text("utf-8")).body
    return {
        name.asname: imported.module
        for imported in listed
        if isinstance(imported, ast.ImportFrom) and imported.module is not None
        for name in imported.names
        if name.asname is not None  # the list's own imports have no other name
    }


@contextmanager
def hide(name: str) -> Iterator[None]:
    """Hide an optional library from those that are imported within the block, unless it was imported before."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # so an import of it fails
    try:
        yield
    finally:
        del sys.modules[name]


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:  # only of a name that was not read before
        found = getattr(import_module(self.__name__), name)
        if not name.startswith("__"):
            setattr(self, name, found)
        return found


class _Pattern:
    def __init__(self, text: str, flags: int) -> None:
        self._made_of = text, flags

    def __getattr__(self, name: str) -> Any:  # only of a name that was not read before
        found = getattr(re.compile(*self._made_of), name)
        setattr(self, name, found)
        return found
