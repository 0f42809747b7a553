"""The name a client has for a conversation, read off a request body of any protocol.

No protocol has a field for it, so clients use fields of their own; which ones are looked at is a setting.
"""

from collections.abc import Mapping, Sequence

from mnemoir.wire import members
from mnemoir.wire.members import Json


def session_name(body: Json, fields: Sequence[str]) -> tuple[str, str] | None:
    """The first of these fields that holds more than blanks, and its value; None when none does.

    A dot leads into an object: `metadata.session_id`. Where there is no object the field counts as missing. Raises
    InvalidRequest for a value that is neither a string nor a whole number; fields behind the first are not looked at.
    """
    for field in fields:
        value = _value_at(body, field)
        if value is not None and value.strip():
            return field, value
    return None


def _value_at(body: Json, field: str) -> str | None:
    outer, _, name = field.rpartition(".")
    place: object = body
    for step in outer.split(".") if outer else ():
        place = place.get(step) if isinstance(place, Mapping) else None
    return members.own_name(place, name, at=f"{outer}." if outer else "") if isinstance(place, Mapping) else None
