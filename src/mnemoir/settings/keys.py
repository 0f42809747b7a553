"""The keys of all settings, derived from the tree: `server.port`, `llm.timeouts.connect_s`, …"""

import difflib
from collections.abc import Iterable
from typing import get_args

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from mnemoir.settings.tree import Settings


def _sections_of(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    return {
        name: info.annotation
        for name, info in model.model_fields.items()
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)
    }


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
    return annotation is SecretStr or any(_holds_secret(part) for part in get_args(annotation))


KEYS, SECTIONS = _walk(Settings)  # every setting by its dotted name; the names within every section
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
