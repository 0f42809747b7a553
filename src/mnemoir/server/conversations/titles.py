"""Search of conversations by title, or by the first words where there is no title.

The number of conversations examined for one page is limited. A page with few hits ends early; the next one continues
after it.
"""

from datetime import datetime

from mnemoir.core.conversations import SessionRecord
from mnemoir.ports.log import Log
from mnemoir.server.conversations.answers import first_words

_AT_ONCE = 50
_MOST_LOOKED_AT = 2000

Place = tuple[datetime, str]  # of a conversation in the list


def place_of(record: SessionRecord) -> Place:
    """The conversation's position in the list."""
    return record.updated_at, record.id


def page_by_name(log: Log, words: str, limit: int, before: Place | None) -> tuple[list[SessionRecord], Place | None]:
    """Conversations whose name holds all the words, newest activity first; and the place to continue after. Blocks.

    Case is ignored.
    """
    wanted, called, looked_at = words.casefold().split(), list[SessionRecord](), 0
    while page := log.sessions_page(_AT_ONCE, before=before):
        begun = first_words(log, [record.id for record in page if not record.metadata.title])
        for record in page:
            if len(called) == limit or looked_at == _MOST_LOOKED_AT:
                return called, before
            before, looked_at = place_of(record), looked_at + 1
            name = (record.metadata.title or begun[record.id]).casefold()
            if all(word in name for word in wanted):
                called.append(record)
    return called, None
