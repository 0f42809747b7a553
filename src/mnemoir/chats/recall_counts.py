"""How often each memory of a person was recalled for a question that it fits, in their newest answers."""

from collections import Counter
from collections.abc import Mapping

from mnemoir.chats.conversations import Conversations
from mnemoir.core.ids import MemoryId
from mnemoir.core.scope import Scope
from mnemoir.ports.recalled import read_references
from mnemoir.storage.user_pool import in_thread

ANSWERS_COUNTED = 2000
"""The newest questions that are looked at."""


async def recall_counts(conversations: Conversations, scope: Scope) -> Mapping[MemoryId, int]:
    """Recalls by memory; those that only came along do not count. Raises StorageUnavailable."""
    if not await conversations.exist(scope):
        return {}
    async with conversations.of(scope) as own:
        return _counts(await in_thread(own.log.latest_references, ANSWERS_COUNTED))


def _counts(texts: list[str]) -> Counter[MemoryId]:
    counts = Counter[MemoryId]()
    for text in texts:
        references = read_references(text) or ()
        counts.update({MemoryId(one.id) for one in references if one.source == "memory" and one.fits})
    return counts
