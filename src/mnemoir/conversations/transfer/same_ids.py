"""Conversations of one file that have the same id: each that says something else is stored under an id of its own.

The ids are equal on each import of the file, so that what was imported before is recognised.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice

from mnemoir.conversations.transfer.copies import MessageCopy, SessionCopy, SkippedSession
from mnemoir.conversations.transfer.restoring import content_digest

TWICE_WHY = "The file has it twice, with the same messages. It is imported once."
_LONGEST_STEM = 500


class SameIds:
    """What the conversations of a file say, by their ids, from its first reading."""

    def __init__(self) -> None:
        self._told: dict[str, list[bytes]] = defaultdict(list)

    def note(self, id: str, messages: Iterator[MessageCopy]) -> None:
        """Read a conversation to its end and note what it says."""
        hashed = hashlib.sha256()
        for one in messages:
            hashed.update(b"%d " % one.parent + content_digest(one.message))
        self._told[id].append(hashed.digest())

    def name_apart(self, copies: Iterator[SessionCopy | SkippedSession]) -> Iterator[SessionCopy | SkippedSession]:
        """The conversations of the second reading, with an id for each that says something else."""
        read = Counter[str]()
        for copy in copies:
            if isinstance(copy, SkippedSession) or copy.id is None:
                yield copy
                continue
            told, at = self._told[copy.id], read[copy.id]
            read[copy.id] += 1
            if told[at] in told[:at]:
                yield SkippedSession(id=copy.id, title=copy.metadata.title or "", why=TWICE_WHY)
            else:
                yield replace(copy, id=self._name(copy.id, len(set(told[:at]))))

    def _name(self, id: str, before: int) -> str:
        """The id of a conversation behind so many others of the same id."""
        names = (f"{id[:_LONGEST_STEM]}-{number}" for number in count(2))
        free = (name for name in names if name not in self._told)
        return next(islice(free, before - 1, None)) if before else id
