"""The members of a chat's conversation: its session id, the history to show a model, the parent of its messages, and
the time zone of the person.

All of them are read from the body of any protocol.

No protocol has a field for the session id, so clients use fields of their own; a setting lists those to read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import ChatRequest, Extra
from mnemoir.wire import members
from mnemoir.wire.members import Json

History = Literal["client", "server"]
_LARGEST_ID = 2**63 - 1


def shown_history(body: Json) -> History | None:
    """The member `history`: the choice between the history the client sent and the one the server has stored.

    None where it is missing or of another type, which belongs to another program. Raises InvalidRequest for a text
    that is neither of the two.
    """
    asked = body.get("history")
    if asked is None or not isinstance(asked, str):
        return None
    if asked not in ("client", "server"):
        raise InvalidRequest(f'history must be "client" or "server", it is {asked[:80]!r}.', field="history")
    return "server" if asked == "server" else "client"


def asks_to_store(body: Json) -> bool | None:
    """The member `store` of OpenAI's protocols: True to store the chat, False not to; None where it is missing."""
    asked = body.get("store")
    return asked if isinstance(asked, bool) else None


def time_zones_of_person(body: Json) -> list[str]:
    """The time zones that `user_location` names, beside the tools or in one, as OpenAI and Anthropic have it."""
    options, tools = body.get("web_search_options"), body.get("tools")
    if not options and not tools and "user_location" not in body:
        return []
    holders = [body, options, *(tools if isinstance(tools, list) else ())]
    places = [one["user_location"] for one in holders if isinstance(one, dict) and "user_location" in one]
    places += [place.get("approximate") for place in places if isinstance(place, Mapping)]
    named = [place.get("timezone") for place in places if isinstance(place, Mapping)]
    return [name for name in named if isinstance(name, str)]


def parent_message(body: Json) -> int | None:
    """The member `parent_id`: the stored message that new messages follow, 0 for the beginning.

    None where it is missing or of another type, which belongs to another program. Raises InvalidRequest for a number
    that is no valid message id.
    """
    given = body.get("parent_id")
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    if not isinstance(given, int) or not 0 <= given <= _LARGEST_ID:
        raise InvalidRequest(
            f"parent_id must be the id of a message, or 0 for the beginning, it is {given!r:.40}.", field="parent_id"
        )
    return given


def session_name(body: Json, fields: Sequence[str]) -> tuple[str, str] | None:
    """The first of these fields that holds more than blanks, and its value; None when none does.

    A dot leads into an object: `metadata.session_id`. Where there is no object the field counts as missing. Raises
    InvalidRequest for a value that is neither a string nor a whole number; fields after the first are not read.
    """
    for field in fields:
        value = _value_at(body, field)
        if value is not None and value.strip():
            return field, value
    return None


def without_session(chat: ChatRequest, fields: Sequence[str]) -> ChatRequest:
    """The chat without those fields among the members that are forwarded to a model."""
    extra = without_fields(chat.request.extra, fields)
    return chat if extra is chat.request.extra else replace(chat, request=replace(chat.request, extra=extra))


def without_fields(extra: Extra | None, fields: Sequence[str]) -> Extra | None:
    """The members without those fields: the same object where none is present, None where no member is left."""
    if extra is None:
        return None
    members: Json = extra.members
    for field in fields:
        members = _without(members, field.split("."))
    if members is extra.members:
        return extra
    return replace(extra, members=members) if members else None


def _without(body: Json, path: Sequence[str]) -> Json:
    """`body` without the member at `path`: the same object where there is none; emptied objects are removed too."""
    name, *deeper = path
    if name not in body:
        return body
    rest = {other: value for other, value in body.items() if other != name}
    inner = body[name]
    if not deeper:
        return rest
    left = _without(inner, deeper) if isinstance(inner, Mapping) else inner
    if left is inner:
        return body
    return {**rest, name: left} if left else rest


def _value_at(body: Json, field: str) -> str | None:
    outer, _, name = field.rpartition(".")
    place: object = body
    for step in outer.split(".") if outer else ():
        place = place.get(step) if members.is_object(place) else None
    return members.own_name(place, name, at=f"{outer}." if outer else "") if members.is_object(place) else None
