"""Wrong values, said so that a person can put them right, and without ever repeating a secret."""

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
    """One sentence for each wrong value: its place, its key, the value and what is allowed."""
    lines: dict[str, None] = {}  # a key that is wrong in two ways of a union is still one line
    for detail in error.errors(include_url=False, include_input=False):
        key = _key_of(detail["loc"])
        value, origin = given.get(key, (None, "default"))
        rule = _rule(detail["type"], detail["msg"], detail.get("ctx", {}), value)
        lines[f"{origin}: {key} {shown(key, value) if key in KEYS else ''}{rule}."] = None
    return list(lines)


def shown(key: str, value: object) -> str:
    """A value fit for a message: secrets, and passwords in URLs, stay out."""
    if key in SECRET_KEYS:
        return "(its value is not shown) "
    if not isinstance(value, str | int | float):
        return f"is a {type(value).__name__} and "
    text = _USER_INFO.sub("//***@", str(value))
    return f"is {text[:_LONGEST_SHOWN]!r} and "


def _key_of(loc: tuple[int | str, ...]) -> str:
    """The setting at fault; what pydantic adds for an item of a list or a branch of a union is left out."""
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
