"""Pages of messages: of a path through a conversation in both directions, and of its tree by id.

A path continues from the message that its page ends with, so later pages stay on the branch of the first page, also
when the head has moved since.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mnemoir.core.conversations import ROOT, MessageNotFoundError, StoredMessage
from mnemoir.ports.log import Log
from mnemoir.server.body import LARGEST_ID
from mnemoir.server.cursors import InvalidCursor, read_cursor, write_cursor

_OLDER, _NEWER, _TREE = "thread", "newer", "tree"
_AT_ONCE = 64  # messages, because each may have megabytes
_PAGE_CHARACTERS = 8 * 1024 * 1024  # a page ends after the message that exceeds it

Read = Callable[[int, int], list[StoredMessage]]  # (count, after this id); id 0 for the first


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Messages, oldest first, and the cursors of the following pages: `next`, and `newer` in the other direction."""

    messages: Sequence[StoredMessage]
    next: str | None
    newer: str | None = None


def tree_page(log: Log, id: str, limit: int, cursor: str | None) -> Page:
    """A page of all branches, by id. Raises InvalidCursor."""
    last = 0 if cursor is None else _place(cursor, _TREE)
    found, goes_on = _read(lambda count, after: log.message_tree(id, count, after=after), limit, last)
    return Page(messages=found, next=write_cursor(_TREE, found[-1].id) if goes_on else None)


def newest_page(log: Log, id: str, limit: int) -> Page:
    """The last page of the thread."""
    found, goes_on = _read(lambda count, before: log.thread_messages(id, count, before=before or None), limit, 0)
    return Page(messages=found[::-1], next=_cursor(_OLDER, found[-1:]) if goes_on else None)


def following_page(log: Log, id: str, limit: int, cursor: str) -> Page:
    """The page before or after the page that the cursor is from. Raises InvalidCursor."""
    try:
        last = _place(cursor, _OLDER)
    except InvalidCursor:
        last = _place(cursor, _NEWER)
        found, goes_on = _behind(log, id, limit, last)
        return Page(
            messages=found, next=_cursor(_OLDER, found[:1]), newer=_cursor(_NEWER, found[-1:]) if goes_on else None
        )
    found, goes_on = _before(log, id, limit, last)
    return Page(
        messages=found[::-1], next=_cursor(_OLDER, found[-1:]) if goes_on else None, newer=_cursor(_NEWER, found[:1])
    )


def page_around(log: Log, id: str, limit: int, message_id: int) -> Page:
    """The page with a message in the middle of its neighbours; for ROOT the beginning of the thread.

    Raises MessageNotFoundError.
    """
    middle = log.way_to(id, message_id, 1) if message_id != ROOT else []
    if not middle and message_id != ROOT:
        raise MessageNotFoundError(f"The conversation {id[:80]!r} has no message {message_id}.")
    half = (limit - 1) // 2 if middle else 0
    before, is_more_before = _before(log, id, half, message_id) if half else ([], bool(middle))
    behind, is_more_behind = _behind(log, id, limit - half - len(middle), message_id)
    messages = [*before[::-1], *middle, *behind]
    return Page(
        messages=messages,
        next=_cursor(_OLDER, messages[:1]) if is_more_before else None,
        newer=_cursor(_NEWER, messages[-1:]) if is_more_behind else None,
    )


def _before(log: Log, id: str, limit: int, message_id: int) -> tuple[list[StoredMessage], bool]:
    return _read(lambda count, last: log.way_before(id, last, count), limit, message_id)


def _behind(log: Log, id: str, limit: int, message_id: int) -> tuple[list[StoredMessage], bool]:
    return _read(lambda count, last: log.way_behind(id, last, count), limit, message_id)


def _read(read: Read, limit: int, last: int) -> tuple[list[StoredMessage], bool]:
    """At most `limit` messages, fewer where they are large; and True when there may be more."""
    found: list[StoredMessage] = []
    characters = 0
    while len(found) <= limit and characters < _PAGE_CHARACTERS:
        more = read(min(limit + 1 - len(found), _AT_ONCE), last)
        if not more:  # a damaged message is left out, so fewer than requested is not the end
            return found, False
        found += more
        last = more[-1].id
        characters += sum(len(stored.message.text) for stored in more)
    return found[:limit], True


def _cursor(direction: str, at: Sequence[StoredMessage]) -> str | None:
    return write_cursor(direction, at[0].id) if at else None


def _place(cursor: str, of: str) -> int:
    (place,) = read_cursor(cursor, of, int)
    if not isinstance(place, int) or not 0 < place <= LARGEST_ID:
        raise InvalidCursor
    return place
