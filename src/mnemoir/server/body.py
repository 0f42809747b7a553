"""Bodies of requests: what they are validated by, and the types that several of them have in common."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from mnemoir.core.clock import from_epoch, from_local_text
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.scope import entity_name
from mnemoir.core.zones import zone_name
from mnemoir.server.door.errors import Invalid, Misfit
from mnemoir.server.door.scopes import bound_user

Model = TypeVar("Model", bound=BaseModel)

_LONGEST_KEY = 255  # of idempotency
LARGEST_ID = 2**63 - 1  # of a message, and the largest number that a database holds
LONGEST_QUERY = 10_000  # characters; an embedding model gains nothing from further ones
_DIGITS = re.compile(r"\d+", re.ASCII)
_LARGEST = 2**31 - 1


def validated_body(model: type[Model], raw: object, *place: str | int) -> Model:
    """`raw` validated as `model`; raises Invalid with every problem, each located below `place`.

    A missing `user_id` is that of the caller's key, if it is bound to a user.
    """
    bound = bound_user()
    if bound is not None and isinstance(raw, dict) and "user_id" in model.model_fields and raw.get("user_id") is None:
        raw = {**raw, "user_id": bound}
    try:
        return model.model_validate(raw)
    except ValidationError as exc:
        raise Invalid(problems_of(exc.errors(include_url=False, include_input=False), *place)) from None


def problems_of(errors: Any, *place: str | int) -> list[Misfit]:
    """pydantic's validation errors in the shape clients know, without the values that were sent."""
    return [
        {"loc": [*place, *error["loc"]], "msg": error["msg"].removeprefix("Value error, "), "type": error["type"]}
        for error in errors
    ]


class Body(BaseModel):
    """A request body: types are strict, unknown members ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)


def name_of(field: str) -> BeforeValidator:
    """A validator for the name of a user, an agent, an application or a run."""

    def check(raw: object) -> str:
        try:
            return entity_name(raw, field)
        except InvalidRequest as exc:
            raise ValueError(exc.message) from None

    return BeforeValidator(check, json_schema_input_type=str | int)


def _instant(raw: object) -> datetime:
    """An instant, from seconds since 1970 or an ISO 8601 text; no offset means UTC."""
    return _local_instant(raw).astimezone(UTC)


def _local_instant(raw: object) -> datetime:
    """As `_instant`, at the offset it is written with."""
    seconds = isinstance(raw, (int, float)) and not isinstance(raw, bool)
    found = from_epoch(float(str(raw))) if seconds else from_local_text(raw)
    if found is None:
        raise ValueError("must be seconds since 1970 or an ISO 8601 time")
    return found


def not_blank(text: str) -> str:
    """`text` itself. Raises ValueError where it is only white space."""
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def idempotency_key(key: str | None) -> str | None:
    """The header Idempotency-Key as it was sent. Raises InvalidRequest for a blank or an overlong one."""
    if key is not None and (not key.strip() or len(key) > _LONGEST_KEY):
        raise InvalidRequest(
            f"Idempotency-Key must have 1 to {_LONGEST_KEY} characters.", code="invalid_idempotency_key"
        )
    return key


def whole_number(default: int, most: int) -> Callable[[object], int]:
    """A reader of limits: missing gives `default`, 0 and anything larger `most`; only whole numbers are accepted."""

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
    """`whole_number` for JSON, where a number in quotes is a text."""
    read = whole_number(default, most)

    def refuse_text(raw: object) -> int:
        if isinstance(raw, str):
            raise ValueError("must be a whole number, 0 or more")
        return read(raw)

    return refuse_text


def offset_number(raw: object) -> int:
    """The number of entries to skip; missing means 0."""
    return 0 if raw is None else _digits(raw)


UserId = Annotated[str, name_of("user_id")]
OtherUser = Annotated[str | None, name_of("user_id")]  # may be left out, and is not null, as that would name nobody
Instant = Annotated[datetime, BeforeValidator(_instant, json_schema_input_type=float | str)]
LocalInstant = Annotated[datetime, BeforeValidator(_local_instant, json_schema_input_type=float | str)]
TimeZone = Annotated[str, Field(max_length=64), AfterValidator(zone_name)]
Question = Annotated[str, AfterValidator(not_blank), AfterValidator(lambda text: text[:LONGEST_QUERY])]
