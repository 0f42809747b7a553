"""Which conversations are called so: by the title, or where there is none by the first words.

Only so many are looked at for one page. So one that finds few ends early, and the next goes on behind it.
"""

from datetime import datetime

from mnemoir.core.conversations import SessionRecord
from mnemoir.ports.log import Log
from mnemoir.server.conversations.answers import first_words

_AT_ONCE = 50
_MOST_LOOKED_AT = 2000

Place = tuple[datetime, str]  # of a conversation in the list


def place_of(record: SessionRecord) -> Place:
    """Where it stands in the list."""
    return record.updated_at, record.id


def page_called(log: Log, words: str, limit: int, before: Place | None) -> tuple[list[SessionRecord], Place | None]:
    """Those called by all of the words, newest activity first, and behind which the next page begins. Blocks.

    Case does not count.
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
