"""Signatures as the reference writes them, to compare with the ones there are."""

import inspect
import subprocess
import sys
from collections.abc import Callable
from typing import Any


def given_as(documented: str, function: Callable[..., Any]) -> str:
    """The function's parameters and defaults in one line, `*` in front of those that go by name alone.

    Only documented parameters are in it; the others must go by name and have a default.

    So a caller who knows the documents alone is never in the way of a parameter of ours.
    """
    names = {piece.split("=")[0].strip() for piece in documented.split(",")}
    parameters = _parameters(function)
    own = [each for each in parameters if each.name not in names]
    assert all(each.kind is each.KEYWORD_ONLY and each.default is not each.empty for each in own), own
    return _line([each for each in parameters if each.name in names])


def modules_after(code: str) -> list[str]:
    """The modules of ours that a fresh process has loaded after running the code."""
    tell = "\nimport sys; print(*sorted(name for name in sys.modules if name.startswith('mnemoir.')))"
    done = subprocess.run([sys.executable, "-c", code + tell], capture_output=True, text=True, timeout=300)
    assert done.stderr == ""
    return done.stdout.split()


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return [each for each in inspect.signature(function).parameters.values() if each.name != "self"]


def _line(parameters: list[inspect.Parameter]) -> str:
    pieces: list[str] = []
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and "*" not in pieces:
            pieces.append("*")
        pieces.append(each.name if each.default is each.empty else f"{each.name}={each.default!r}")
    return ", ".join(pieces)
