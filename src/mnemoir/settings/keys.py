"""The keys of all settings, their environment variables, and error messages for wrong settings, without secrets.

Keys are derived from the tree: `server.port`, `llm.timeouts.connect_s`, …

Every setting has a variable named after its key (`server.port` is MNEMOIR_SERVER__PORT). Some have a short name too,
which other programs also use; the long name wins when both are set. An empty variable counts as unset.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard, get_args

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from mnemoir.settings.tree import Settings

PREFIX = "MNEMOIR_"
KEY_VARIABLE = "MNEMOIR_API_KEY"  # the key of the command line
REKEY_VARIABLES = ("MNEMOIR_PREVIOUS_KEY", "MNEMOIR_NEW_KEY")  # of discussions, for `mnemoir discussions rekey`
# where programs find a server, and keys: no settings of one
_OF_CLIENTS = ("MNEMOIR_URL", KEY_VARIABLE, *REKEY_VARIABLES)

PLAIN = {
    "HOST": "server.host",
    "PORT": "server.port",
    "ROOT_PATH": "server.root_path",
    "API_KEYS": "server.api_keys",
    "ADMIN_API_KEY": "server.admin_api_key",
    "STORAGE_BACKEND": "storage.backend",
    "WORKSPACE_ROOT": "storage.workspace_root",
    "DEFAULT_PROJECT": "memory.default_project",
    "MEMORY_MANAGEMENT_URL": "memory.management_url",
    "MEMORY_DECAY_DAYS": "memory.decay_days",
    "MEMORY_TOUCH_ON_NONE": "memory.touch_on_none",
    "MEMORY_LLM_PROVIDER": "llm.provider",
    "MEMORY_LLM_MODEL": "llm.model",
    "OPENAI_API_KEY": "llm.api_key",
    "OPENAI_BASE_URL": "llm.base_url",
    "OLLAMA_HOST": "llm.ollama_url",
    "HTTP_PROXY": "http.http_proxy",
    "HTTPS_PROXY": "http.https_proxy",
    "NO_PROXY": "http.no_proxy",
}
# programs read these in small letters, too, and then before the others
_IN_SMALL = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_REFUSED = ("ALL_PROXY", "all_proxy")
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
    "missing": "is missing",
    "extra_forbidden": "is not known there",
}


def _is_section(annotation: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _sections_of(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    return {name: info.annotation for name, info in model.model_fields.items() if _is_section(info.annotation)}


def _walk(model: type[BaseModel], prefix: str = "") -> tuple[dict[str, FieldInfo], dict[str, tuple[str, ...]]]:
    keys: dict[str, FieldInfo] = {}
    sections: dict[str, tuple[str, ...]] = {prefix.removesuffix("."): tuple(model.model_fields)}
    inner = _sections_of(model)
    for name, info in model.model_fields.items():
        if name not in inner:
            keys[prefix + name] = info
            continue
        more_keys, more_sections = _walk(inner[name], f"{prefix}{name}.")
        keys |= more_keys
        sections |= more_sections
    return keys, sections


def _holds_secret(annotation: object) -> bool:
    if _is_section(annotation):
        return any(_holds_secret(info.annotation) for info in annotation.model_fields.values())
    return annotation is SecretStr or any(_holds_secret(part) for part in get_args(annotation))


KEYS, SECTIONS = _walk(Settings)  # every setting by its dotted name; the names within every section
_OBJECT_LISTS = frozenset(
    key for key, info in KEYS.items() if any(_is_section(item) for item in get_args(info.annotation))
)
SECRET_KEYS = frozenset(key for key, info in KEYS.items() if _holds_secret(info.annotation))


def nearest(name: str, allowed: Iterable[str]) -> str | None:
    """The allowed name most similar to `name`; None when none is similar enough."""
    close = difflib.get_close_matches(name.lower(), list(allowed), n=1, cutoff=0.6)
    return close[0] if close else None


def unknown_key(key: str) -> str:
    """The message for an unknown key: the most similar key, and the keys allowed in that section."""
    section = key.rpartition(".")[0]
    while section not in SECTIONS:
        section = section.rpartition(".")[0]
    guess = nearest(key, KEYS)
    hint = f" Did you mean {guess}?" if guess else ""
    where = f"Allowed in {section}" if section else "The sections are"
    return f"{key} is not a setting.{hint} {where}: {', '.join(SECTIONS[section])}."


def variable_of(key: str) -> str:
    """The long name of a setting's environment variable."""
    return PREFIX + key.upper().replace(".", "__")


NAMES = {variable_of(key): key for key in KEYS}


def read_environment(environ: Mapping[str, str]) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """The given settings, key to (value, variable), and a problem for each unknown variable with our prefix."""
    given: dict[str, tuple[str, str]] = {}
    problems = [_refusal_of(variable) for variable in _REFUSED if environ.get(variable, "").strip()]
    for variable, key in PLAIN.items():
        for name in (variable, variable.lower()) if variable in _IN_SMALL else (variable,):
            if environ.get(name, "").strip():
                given[key] = (environ[name], name)
    for variable, value in environ.items():
        name = variable.upper()
        if not name.startswith(PREFIX) or name in _OF_CLIENTS or not value.strip():
            continue
        if name in NAMES:
            given[NAMES[name]] = (value, variable)
        else:
            problems.append(_unknown(variable))
    return given, problems


def _refusal_of(variable: str) -> str:
    return f"environment variable {variable} is not obeyed. Set HTTP_PROXY and HTTPS_PROXY instead, and clear it."


def _unknown(variable: str) -> str:
    guess = nearest(variable, {name.lower(): name for name in NAMES})
    hint = f" Did you mean {guess.upper()}?" if guess else ""
    return (
        f"environment variable {variable}: is not a setting.{hint} "
        "A name is MNEMOIR_, the section, two underscores and the key, as in MNEMOIR_SERVER__PORT."
    )


def explain(error: ValidationError, given: Mapping[str, tuple[Any, str]]) -> list[str]:
    """One sentence for each wrong value: its origin, its key, the value and the rule."""
    lines: dict[str, None] = {}  # ordered and unique: a union reports the same key once per branch
    for detail in error.errors(include_url=False, include_input=False):
        key = _key_of(detail["loc"])
        value, origin = given.get(key, (None, "default"))
        within = _within(key, detail["loc"])
        rule = _rule(detail["type"], detail["msg"], detail.get("ctx", {}), value)
        lines[f"{origin}: {key}{within} {shown_value(key, value) if key in KEYS and not within else ''}{rule}."] = (
            None
        )
    return list(lines)


def _within(key: str, loc: tuple[int | str, ...]) -> str:
    """The place within a setting that is a list of objects, such as `[1].issuer`, numbered from 1; "" for others."""
    if key not in _OBJECT_LISTS:
        return ""
    inner = loc[key.count(".") + 1 :]
    return "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in inner)


def shown_value(key: str, value: object) -> str:
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
