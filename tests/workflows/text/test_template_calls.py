"""What a template may call: exactly what is listed here, whatever Python or Jinja2 add."""

import datetime
import decimal
import functools

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.text.filling import fill

CALLABLE = {
    "text": {
        *[
            "capitalize",
            "casefold",
            "center",
            "count",
            "endswith",
            "expandtabs",
            "find",
            "index",
            "isalnum",
            "isalpha",
        ],
        *["isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isprintable", "isspace"],
        *["istitle", "isupper", "join", "ljust", "lower", "lstrip", "partition", "removeprefix", "removesuffix"],
        *["replace", "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines"],
        *["startswith", "strip", "swapcase", "title", "upper", "zfill", "format"],
    },
    "members": {"copy", "get", "items", "keys", "values"},
    "items": {"copy", "count", "index"},
    "pair": {"count", "index"},
    "number": set(),
    "share": set(),
    "truth": set(),
    "raw": set(),
    "unique": set(),
}
DATA = {
    "text": "abc",
    "members": {"a": 1},
    "items": [1],
    "pair": (1,),
    "number": 7,
    "share": 0.5,
    "truth": True,
    "raw": b"abc",
    "unique": {1},
}


def is_refused(template: str, **more: object) -> bool:
    """Whether the template is stopped for what it calls; another failure is one of the call itself."""
    try:
        fill(template, {**DATA, **more}, jinja=True)
    except SettingsError as exc:
        return "is not for templates" in exc.message
    return False


@pytest.mark.parametrize("name", DATA)
def test_of_data_these_methods_may_be_called_and_no_other(name):
    methods = {method for method in dir(DATA[name]) if not method.startswith("_")}
    callable_ones = {method for method in methods if callable(getattr(DATA[name], method))}
    assert {method for method in callable_ones if not is_refused(f"{{{{ {name}.{method}() }}}}")} == CALLABLE[name]


CALLABLES = [
    *[print, len, open, eval, type, object, str, int, list, dict.fromkeys, "abc".format_map, "abc".encode],
    *[lambda: "called", functools.partial(print), datetime.datetime, datetime.datetime.now, decimal.Decimal],
    *[{}.update, [].append, [].sort, {1}.add, DATA.setdefault, DATA.pop],
]


@pytest.mark.parametrize("function", CALLABLES, ids=[str(number) for number in range(len(CALLABLES))])
def test_a_function_that_came_among_the_data_is_not_called(function):
    assert is_refused("{{ function() }}", function=function)
    assert is_refused("{% for each in [function] %}{{ each(1) }}{% endfor %}", function=function)


def test_of_jinja_2_these_functions_may_be_called_and_no_other():
    offered = ["range(2)", "dict(a=1)", "namespace(a=1)", "cycler('a', 'b').next()", "joiner()()"]
    assert [call for call in offered if is_refused(f"{{{{ {call} }}}}")] == []
    assert is_refused("{{ cycler('a').__class__() }}")
    with pytest.raises(SettingsError, match="'lipsum' is undefined"):
        fill("{{ lipsum() }}", DATA, jinja=True)
