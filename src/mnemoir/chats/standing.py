"""The lines of former questions as they may be written again: of memories as they read now, and of messages."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from mnemoir.chats.conversations import Conversations
from mnemoir.chats.memory_parts import Memory
from mnemoir.core.ids import MemoryId
from mnemoir.core.scope import Scope
from mnemoir.core.text import RecalledLine
from mnemoir.models.model_parts import Models
from mnemoir.ports.recalled import MOST_SAID, SAID, Reference, Standing
from mnemoir.settings import Settings
from mnemoir.storage.user_pool import in_thread
from mnemoir.wire.app_prompts import typed_text

_SHARE_OF_CONTEXT = 8  # the lines of former questions have an eighth of it at most


def standing_lines(settings: Settings, models: Models, memory: Memory, conversations: Conversations) -> Standing:
    """How lines are found again in this server's own memory and conversations."""

    async def lines(scope: Scope, references: Collection[Reference]) -> Mapping[Reference, RecalledLine]:
        of_memories = await _lines_of_memories(memory, scope, [one for one in references if one.source == "memory"])
        of_messages = [one for one in references if one.source == "message"]
        return {**of_memories, **await _lines_of_messages(conversations, scope, of_messages)}

    async def most_tokens() -> int:
        most, context = settings.memory.kept_recall_tokens, await models.inquiry.context_tokens()
        return most if context is None else min(most, context // _SHARE_OF_CONTEXT)

    return Standing(lines=lines, most_tokens=most_tokens)


async def _lines_of_memories(
    memory: Memory, scope: Scope, references: Collection[Reference]
) -> Mapping[Reference, RecalledLine]:
    """One statement, none without a reference."""
    if not references:
        return {}
    visible = await memory.facts.visible(scope.owner)
    ids = list(dict.fromkeys(MemoryId(one.id) for one in references))
    found = {one.id: one for one in await memory.store.current(scope.owner, visible, ids)}
    return _lines_as_then(
        references,
        {id: RecalledLine(text=one.text, id=id, origin=one.origin) for id, one in found.items()},
    )


async def _lines_of_messages(
    conversations: Conversations, scope: Scope, references: Collection[Reference]
) -> Mapping[Reference, RecalledLine]:
    """One statement, none without a reference."""
    if not references:
        return {}
    async with conversations.of(scope) as own:
        found = await in_thread(own.log.messages_with_uids, list(dict.fromkeys(one.id for one in references)))
    said = {uid: typed_text(one.message.text)[:MOST_SAID] for uid, one in found.items()}
    return _lines_as_then(
        references, {uid: RecalledLine(text=f"{SAID}{text}", said_uid=uid) for uid, text in said.items()}
    )


def _lines_as_then(
    references: Collection[Reference], lines: Mapping[str, RecalledLine]
) -> Mapping[Reference, RecalledLine]:
    """The lines that say what they said, each with its day of then."""
    now = ((one, lines[one.id]) for one in references if one.id in lines)
    return {one: replace(line, day=one.day, fits=one.fits) for one, line in now if one.is_worded(line)}
