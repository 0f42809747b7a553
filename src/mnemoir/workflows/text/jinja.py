"""Rendering of node texts that are Jinja2 templates.

Only text of a workflow's author is a template; text of users and models is only a value in it. The author may not be
the server's administrator, so templates run in a sandbox and with limits.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from traceback import walk_tb

from jinja2 import Template, TemplateError, TemplateSyntaxError, meta

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.text.fields import TextPosition, TextPositions
from mnemoir.workflows.text.sandbox import NamedText, Sandbox

_LONGEST = 256 * 1024  # characters of a template
_LONGEST_KEPT = 64 * 1024
_MOST_TOKENS = 4000  # compiling takes 25 µs per token, during which other requests wait
_LONGEST_REASON = 300

_sandbox = Sandbox()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    template: Template
    names: Set[str]


def render(source: str, variables: Mapping[str, object], places: TextPositions | None = None) -> str:
    """The rendered template; only the variables it names are computed.

    Unknown variables and their members are empty. A newline at the end is removed. Raises SettingsError for a
    template that is wrong, uses forbidden Python members, or exceeds a limit. The positions of variables are appended
    to `places`, except for those in the output of macros and blocks, which are unknown.
    """
    compiled = _compiled_template(source)
    values = {name: variables[name] for name in compiled.names if name in variables}
    try:
        pieces = compiled.template.generate(values)
        return "".join(pieces if places is None else _pieces_with_places(pieces, places))
    except Exception as exc:  # a template is a program and may raise anything
        raise _failure(exc) from exc


def names_in(source: str) -> Set[str]:
    """The names of variables in the template. Raises SettingsError for a wrong template."""
    return _compiled_template(source).names


def _pieces_with_places(pieces: Iterable[str], places: TextPositions) -> Iterator[str]:
    size = 0
    for piece in pieces:
        if isinstance(piece, NamedText):
            places.append(TextPosition(piece.name, size, size + len(piece)))
        size += len(piece)
        yield piece


def _compiled_template(source: str) -> _Compiled:
    return _remembered(source) if len(source) <= _LONGEST_KEPT else _compile(source)


def _compile(source: str) -> _Compiled:
    if len(source) > _LONGEST:
        raise SettingsError(f"The Jinja2 template has {len(source)} characters; {_LONGEST} are allowed.")
    try:
        if next(islice(_sandbox.lex(source), _MOST_TOKENS, None), None) is not None:
            raise TemplateError(f"it has more than {_MOST_TOKENS} names and signs between its braces")
        tree = _sandbox.parse(source)
        names = frozenset(meta.find_undeclared_variables(tree))
        return _Compiled(template=_sandbox.from_string(_sandbox.bounded_template(tree)), names=names)
    # raised by Jinja2 and Python's compiler for deep nesting, long numbers, and mistakes
    except (TemplateError, SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise _failure(exc) from exc


def _failure(exc: Exception) -> SettingsError:
    line = exc.lineno if isinstance(exc, TemplateSyntaxError) else _line_of(exc)
    place = "" if line is None else f" in line {line}"
    reason = " ".join(str(exc).split())[:_LONGEST_REASON] or type(exc).__name__
    return SettingsError(
        f"The Jinja2 template fails{place}: {reason.rstrip('.')}. Correct the text, or set `jinja2` to false."
    )


def _line_of(exc: Exception) -> int | None:
    """The line of the template in which the exception was raised; None if unknown."""
    lines = [line for frame, line in walk_tb(exc.__traceback__) if frame.f_code.co_filename == "<template>"]
    return lines[-1] if lines else None


_remembered = lru_cache(maxsize=256)(_compile)
