"""Reading of other programs' JSON files with a list of conversations or one conversation."""

import hashlib
import uuid
from collections.abc import Iterator
from typing import IO

from mnemoir.conversations.transfer.bounded_json import MARK, MOST_BYTES, array_items, first_byte, read_value
from mnemoir.conversations.transfer.members import Members
from mnemoir.core.conversations import checked_session_id
from mnemoir.core.errors import InvalidRequest

_ITEM = "Conversation"


def conversations_in(file: IO[bytes]) -> Iterator[tuple[Members, bytes]]:
    """Each conversation with its bytes, one in memory at a time. Reading them raises InvalidImport."""
    if first_byte(file) == b"{":
        raw = file.read(MOST_BYTES + 1).removeprefix(MARK)
        yield Members(read_value(raw, "The file"), f"{_ITEM} 1"), raw
        return
    for number, raw in enumerate(array_items(file, _ITEM), start=1):
        place = f"{_ITEM} {number}"
        yield Members(read_value(raw, place), place), raw


def session_id_of(told: str | None, raw: bytes) -> str:
    """The id in the file if it is valid, else an id derived from the conversation's bytes, equal on each import."""
    try:
        return checked_session_id(told or "")
    except InvalidRequest:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, hashlib.sha256(raw).hexdigest()))
