"""Merging of a file's session into an existing one: new messages are added, nothing is changed or deleted.

Two messages are equal when they have equal content and the same parent. Of equal siblings, such as answers that were
regenerated, each matches only one.
"""

from collections import defaultdict, deque
from collections.abc import Iterator

from mnemoir.conversations.history_digest import PASSED_OVER, message_digest
from mnemoir.conversations.log.message_rows import record_of
from mnemoir.conversations.transfer.copies import BEGINNING, MessageCopy, SessionCopy
from mnemoir.conversations.transfer.restoring import SessionRestorer
from mnemoir.core.conversations import ROOT, Message, SessionRecord
from mnemoir.ports.log import Log

_PAGE = 500


def merge(restoring: SessionRestorer, copy: SessionCopy, session: SessionRecord) -> int:
    """Add the missing messages; their number.

    When the session's thread ended inside the file's thread, the head moves to the end of the file's; else it stays.
    """
    appender = restoring.appender(session.id, copy.updated_at)
    comparison = Comparison(restoring.storage, session.id, appender.ids)
    added = 0
    for number, message in comparison.new(copy):
        appender.put(restoring.record(message, session.id), number, message.parent)
        added += 1
    appender.flush()
    way = [appender.ids[number] for number in comparison.way()]
    goes_on = session.head is None or session.head in way
    head = way[0] if goes_on else session.head
    if head and (added or head != session.head):
        restoring.storage.set_head(session.id, head)
    return added


def count_new(storage: Log, copy: SessionCopy, session_id: str) -> int:
    """The number of messages that `merge` would add."""
    return sum(1 for _ in Comparison(storage, session_id, {BEGINNING: ROOT}).new(copy))


class Comparison:
    """A comparison of a file with a session. It adds the storage ids of existing messages to `ids`, by number."""

    def __init__(self, storage: Log, session_id: str, ids: dict[int, int]) -> None:
        self._ids = ids
        self._parents = [BEGINNING]  # by number
        self._head = BEGINNING
        self._stored: dict[tuple[int, bytes], deque[int]] = defaultdict(deque)
        after = 0
        while page := storage.message_tree(session_id, _PAGE, after=after):
            for stored in page:
                self._stored[stored.parent_id or ROOT, _said(stored.message)].append(stored.id)
            after = page[-1].id

    def new(self, copy: SessionCopy) -> Iterator[tuple[int, MessageCopy]]:
        """The messages missing in the session, with their numbers. The caller adds their storage ids to `ids`."""
        for number, message in enumerate(copy.messages, start=1):
            self._parents.append(message.parent)
            self._head = number if message.is_head else self._head
            found = self._found(message)
            if found is None:
                yield number, message
            else:
                self._ids[number] = found

    def way(self) -> Iterator[int]:
        """The numbers from the file's head to its beginning, BEGINNING last. Call it after `new` has ended."""
        number = self._head or len(self._parents) - 1
        while number != BEGINNING:
            yield number
            number = self._parents[number]
        yield BEGINNING

    def _found(self, message: MessageCopy) -> int | None:
        """The storage id of an equal message; None when there is none. A new parent has no stored children."""
        parent_id = self._ids.get(message.parent)
        if parent_id is None:
            return None
        same = self._stored.get((parent_id, _said(message.message)))
        return same.popleft() if same else None


def _said(message: Message) -> bytes:
    digest = message_digest(record_of("", message))
    return digest if digest != PASSED_OVER else message.text.encode("utf-8", "replace")
