"""Error messages for wrong settings: how to correct them, and never with a secret in the text."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from mnemoir.settings.keys import KEYS, SECRET_KEYS, nearest

_USER_INFO = re.compile(r"//[^/@\s]*@")
_LONGEST_SHOWN = 80
_TYPES = {
    "string_type": "must be text; put it in quotes",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "tuple_type": "must be a list, or one text with commas",
}


def explain(error: ValidationError, given: Mapping[str, tuple[Any, str]]) -> list[str]:
    """One sentence for each wrong value: its origin, its key, the value and the rule."""
    lines: dict[str, None] = {}  # ordered and unique: a union reports the same key once per branch
    for detail in error.errors(include_url=False, include_input=False):
        key = _key_of(detail["loc"])
        value, origin = given.get(key, (None, "default"))
        rule = _rule(detail["type"], detail["msg"], detail.get("ctx", {}), value)
        lines[f"{origin}: {key} {shown(key, value) if key in KEYS else ''}{rule}."] = None
    return list(lines)


def shown(key: str, value: object) -> str:
    """The part of a message that shows a value, without secrets and without passwords in URLs."""
    if key in SECRET_KEYS:
        return "(its value is not shown) "
    if not isinstance(value, str | int | float):
        return f"is a {type(value).__name__} and "
    text = _USER_INFO.sub("//***@", str(value))
    return f"is {text[:_LONGEST_SHOWN]!r} and "


def _key_of(loc: tuple[int | str, ...]) -> str:
    """The key of the wrong setting, without pydantic's suffixes for list items and union branches."""
    for length in range(len(loc), 0, -1):
        key = ".".join(str(part) for part in loc[:length])
        if key in KEYS:
            return key
    return ".".join(str(part) for part in loc)


def _rule(kind: str, message: str, context: Mapping[str, Any], value: object) -> str:
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        guess = nearest(str(value), re.findall(r"'([^']*)'", context["expected"]))
        return f"must be one of {context['expected']}" + (f" (did you mean {guess!r}?)" if guess else "")
    return _TYPES.get(kind) or message.replace("Input should be", "must be")
