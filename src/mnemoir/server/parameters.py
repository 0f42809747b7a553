"""Members of queries and bodies that routes of several subjects take."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from fastapi import Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from mnemoir.core.clock import from_epoch, from_text
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.scope import entity_name

LARGEST_ID = 2**63 - 1  # of a message
LONGEST_QUERY = 10_000  # characters; what lies behind them tells an embedding model nothing more
_DIGITS = re.compile(r"\d+", re.ASCII)
_LARGEST = 2**31 - 1


class Body(BaseModel):
    """What a route accepts: types strict, unknown members ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)


def name_of(field: str) -> BeforeValidator:
    """A reader of the name of a user, an agent, an application or a run."""

    def check(raw: object) -> str:
        try:
            return entity_name(raw, field)
        except InvalidRequest as exc:
            raise ValueError(exc.message) from None

    return BeforeValidator(check, json_schema_input_type=str | int)


def _instant(raw: object) -> datetime:
    """Seconds since 1970, or an ISO 8601 text; no offset means UTC."""
    seconds = isinstance(raw, (int, float)) and not isinstance(raw, bool)
    found = from_epoch(float(str(raw))) if seconds else from_text(raw)
    if found is None:
        raise ValueError("must be seconds since 1970 or an ISO 8601 time")
    return found


def not_blank(text: str) -> str:
    """The text itself. Raises ValueError where it is only white space."""
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def whole_number(default: int, most: int) -> Callable[[object], int]:
    """A reader of limits: missing gives `default`, 0 and anything larger `most`; all but whole numbers is refused."""

    def read(raw: object) -> int:
        if raw is None:
            return default
        number = _digits(raw)
        return most if number == 0 else min(number, most)

    return read


def _digits(raw: object) -> int:
    if isinstance(raw, str) and _DIGITS.fullmatch(raw.strip()):
        return _LARGEST if len(raw.strip()) > 9 else int(raw)
    if isinstance(raw, bool) or not isinstance(raw, int) or raw < 0:
        raise ValueError("must be a whole number, 0 or more")
    return min(raw, _LARGEST)


def strict_whole_number(default: int, most: int) -> Callable[[object], int]:
    """The same for JSON, where a number in quotes is a text."""
    read = whole_number(default, most)

    def refuse_text(raw: object) -> int:
        if isinstance(raw, str):
            raise ValueError("must be a whole number, 0 or more")
        return read(raw)

    return refuse_text


def offset_number(raw: object) -> int:
    """How many to skip; missing means none."""
    return 0 if raw is None else _digits(raw)


UserId = Annotated[str, name_of("user_id")]
Instant = Annotated[datetime, BeforeValidator(_instant, json_schema_input_type=float | str)]
Question = Annotated[str, AfterValidator(not_blank), AfterValidator(lambda text: text[:LONGEST_QUERY])]
Cursor = Annotated[str | None, Query(description="`next` of the page before")]
