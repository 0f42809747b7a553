"""Members that are not read here, such as annotations, logprobs and pictures, of pieces that are read whole.

Lists are put one behind the other, objects are joined member by member. Texts of a message are pieces, as transcripts
are, but for names, such as an id, which are written in each piece. Everywhere else the last value that is not null
counts, for servers repeat it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from mnemoir.core.events import Passed
from mnemoir.wire.members import Json

_NAMES = frozenset({"id", "type", "name", "role", "object", "model", "format", "mime_type"})


def join_members(pieces: Iterable[Passed], *, answer_grows: bool) -> Passed | None:
    """All members of these pieces; None where there are none.

    With `answer_grows` lists beside the message are pieces, too, as in JSON lines; else the last one counts.
    """
    answer: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    message: dict[str, Any] = {}
    last = None
    for last in pieces:
        given = last.answer or {}
        if answer_grows:
            _add(answer, given)
        else:
            answer |= {name: value for name, value in given.items() if value is not None or name not in answer}
        _add(choice, last.choice or {})
        _add(message, last.message or {}, texts_grow=True)
    if last is None or not (answer or choice or message):
        return None
    return Passed(
        route=last.route, answer=answer or None, choice=choice or None, message=_close_texts(message) or None
    )


class _Pieces(list[str]):
    """A text that grows; joined once, for it may be long."""


def _add(joined: dict[str, Any], later: Json, *, texts_grow: bool = False) -> None:
    """Add the members of a later piece to those so far, which are changed."""
    for name, value in later.items():
        before = joined.get(name)
        if value is None:
            joined.setdefault(name, None)
        elif isinstance(value, str):
            if not texts_grow or name in _NAMES:
                joined[name] = value
            elif isinstance(before, _Pieces):
                before.append(value)
            else:
                joined[name] = _Pieces([value])
        elif isinstance(value, list):
            if isinstance(before, list) and not isinstance(before, _Pieces):
                before.extend(value)
            else:
                joined[name] = list(value)
        elif isinstance(value, Mapping):
            if not isinstance(before, dict):
                before = joined[name] = {}
            _add(before, value, texts_grow=texts_grow)
        else:
            joined[name] = value


def _close_texts(members: dict[str, Any]) -> dict[str, Any]:
    """Join the pieces of texts; the members are changed."""
    for name, value in members.items():
        if isinstance(value, _Pieces):
            members[name] = "".join(value)
        elif isinstance(value, dict):
            _close_texts(value)
    return members
