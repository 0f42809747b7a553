"""The types of values that several files of settings share."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, SecretStr
from pydantic.functional_validators import AfterValidator


def lower(raw: object) -> object:
    """A text in small letters, without blanks around it."""
    return raw.strip().lower() if isinstance(raw, str) else raw


def lower_or_off(raw: object) -> object:
    """YAML reads a bare off as false."""
    return "off" if raw is False else lower(raw)


def split_list(raw: object) -> object:
    """Split a comma-separated text into a tuple, so that a list fits into one environment variable."""
    if not isinstance(raw, str):
        return raw
    return tuple(part for part in (piece.strip() for piece in raw.split(",")) if part)


def _key(raw: SecretStr) -> SecretStr:
    text = raw.get_secret_value().strip()
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("must be printable ASCII without spaces, for it travels in an HTTP header")
    return SecretStr(text)


def path_or_dsn(raw: object) -> object:
    """A connection string of PostgreSQL as a secret, and any other text as a path."""
    if not isinstance(raw, str):
        return raw
    return SecretStr(raw.strip()) if _DSN.match(raw) else Path(raw)


def _path(raw: Path) -> Path:
    return raw.expanduser().absolute()


_DSN = re.compile(r"\s*(?:postgres(?:ql)?://|\w+ *=)")
Key = Annotated[SecretStr, AfterValidator(_key)]
AbsolutePath = Annotated[Path, AfterValidator(_path)]
Names = Annotated[tuple[str, ...], BeforeValidator(split_list)]
