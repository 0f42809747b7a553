"""Texts of nodes that are Jinja2 templates.

Only what a workflow's author wrote is ever a template; what a user or a model said is a value in it. As the author
need not be the server's administrator, templates run in a sandbox and with an end.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from traceback import walk_tb

from jinja2 import Template, TemplateError, TemplateSyntaxError, meta

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.text.positions import TextPosition, TextPositions
from mnemoir.workflows.text.sandbox import NamedText, Sandbox

_LONGEST = 256 * 1024  # characters of a template
_LONGEST_KEPT = 64 * 1024
_MOST_TOKENS = 4000  # compiling takes 25 µs for each, and everybody else waits
_LONGEST_REASON = 300

_sandbox = Sandbox()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    template: Template
    names: Set[str]


def render(source: str, variables: Mapping[str, object], places: TextPositions | None = None) -> str:
    """The template with those of the variables it names; only they are worked out.

    What is unknown is empty, as are its members. A newline at the end is dropped. Raises SettingsError for a template
    that is wrong, reaches for Python, or does too much. `places` are told what the template wrote of a variable and
    where, but for what macros and blocks wrote, for that went through other hands.
    """
    compiled = _compiled(source)
    values = {name: variables[name] for name in compiled.names if name in variables}
    try:
        pieces = compiled.template.generate(values)
        return "".join(pieces if places is None else _noted(pieces, places))
    except Exception as exc:  # a template is a program: it can end in anything
        raise _failure(exc) from exc


def names_in(source: str) -> Set[str]:
    """The variables the template names. Raises SettingsError for one that is wrong."""
    return _compiled(source).names


def _noted(pieces: Iterable[str], places: TextPositions) -> Iterator[str]:
    size = 0
    for piece in pieces:
        if isinstance(piece, NamedText):
            places.append(TextPosition(piece.name, size, size + len(piece)))
        size += len(piece)
        yield piece


def _compiled(source: str) -> _Compiled:
    return _remembered(source) if len(source) <= _LONGEST_KEPT else _compile(source)


def _compile(source: str) -> _Compiled:
    if len(source) > _LONGEST:
        raise SettingsError(f"The Jinja2 template has {len(source)} characters; {_LONGEST} are allowed.")
    try:
        if next(islice(_sandbox.lex(source), _MOST_TOKENS, None), None) is not None:
            raise TemplateError(f"it has more than {_MOST_TOKENS} names and signs between its braces")
        tree = _sandbox.parse(source)
        names = frozenset(meta.find_undeclared_variables(tree))
        return _Compiled(template=_sandbox.from_string(_sandbox.bounded(tree)), names=names)
    # what Jinja2 and Python's compiler make of nesting too deep, numbers too long, and mere mistakes
    except (TemplateError, SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise _failure(exc) from exc


def _failure(exc: Exception) -> SettingsError:
    line = exc.lineno if isinstance(exc, TemplateSyntaxError) else _line_of(exc)
    place = "" if line is None else f" in line {line}"
    reason = " ".join(str(exc).split())[:_LONGEST_REASON] or type(exc).__name__
    return SettingsError(
        f"The Jinja2 template fails{place}: {reason.rstrip('.')}. Mend the text, or set `jinja2` to false."
    )


def _line_of(exc: Exception) -> int | None:
    """The line of the template that was at work."""
    lines = [line for frame, line in walk_tb(exc.__traceback__) if frame.f_code.co_filename == "<template>"]
    return lines[-1] if lines else None


_remembered = lru_cache(maxsize=256)(_compile)
