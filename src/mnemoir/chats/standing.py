"""The lines of former questions as they may be written again: of memories as they read now, and of messages."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from mnemoir.chats.conversations import Conversations
from mnemoir.chats.memory_parts import Memory
from mnemoir.core.ids import MemoryId
from mnemoir.core.scope import Scope
from mnemoir.core.text import RecalledLine
from mnemoir.models.model_parts import Models
from mnemoir.ports.recalled import MOST_SAID, SAID, Recollection, Reference, Source, Standing, source_of
from mnemoir.settings import Settings
from mnemoir.storage.user_pool import in_thread
from mnemoir.wire.app_prompts import typed_text

_SHARE_OF_CONTEXT = 8  # the lines of former questions have an eighth of it at most


class _Now(NamedTuple):
    """A line as it reads now, and the name of its words."""

    line: RecalledLine
    wording: str = ""


_Lines = Mapping[tuple[Source, str], _Now]


def standing_lines(settings: Settings, models: Models, memory: Memory, conversations: Conversations) -> Standing:
    """How lines are found again in this server's own memory and conversations."""

    async def recollect(
        scope: Scope, references: Collection[Reference], found: Sequence[RecalledLine]
    ) -> Recollection:
        wanted = [one[:2] for one in references] + [one for line in found if (one := source_of(line))]
        ids = {source: list(dict.fromkeys(id for one, id in wanted if one == source)) for source, _ in wanted}
        of_memories = await _lines_of_memories(memory, scope, ids.get("memory", ()))
        now = of_memories | await _lines_of_messages(conversations, scope, ids.get("message", ()))
        return Recollection(lines=_lines_as_then(references, now), references=_references_to(found, now))

    async def most_tokens() -> int:
        most, context = settings.memory.kept_recall_tokens, await models.inquiry.context_tokens()
        return most if context is None else min(most, context // _SHARE_OF_CONTEXT)

    return Standing(recollect=recollect, most_tokens=most_tokens)


async def _lines_of_memories(memory: Memory, scope: Scope, ids: Sequence[str]) -> dict[tuple[Source, str], _Now]:
    """One statement, none without an id."""
    if not ids:
        return {}
    visible = await memory.facts.visible(scope.owner)
    found = await memory.store.current(scope.owner, visible, [MemoryId(one) for one in ids])
    return {
        ("memory", one.id): _Now(RecalledLine(text=one.text, id=one.id, origin=one.origin), wording)
        for one, wording in found
    }


async def _lines_of_messages(
    conversations: Conversations, scope: Scope, uids: Sequence[str]
) -> dict[tuple[Source, str], _Now]:
    """One statement, none without a uid."""
    if not uids:
        return {}
    async with conversations.of(scope) as own:
        found = await in_thread(own.log.messages_with_uids, uids)
    said = {uid: typed_text(one.message.text)[:MOST_SAID] for uid, one in found.items()}
    return {("message", uid): _Now(RecalledLine(text=f"{SAID}{text}", said_uid=uid)) for uid, text in said.items()}


def _lines_as_then(references: Collection[Reference], now: _Lines) -> Mapping[Reference, RecalledLine]:
    """The lines that are worded as they were, each with its day of then."""
    there = ((one, now.get((one.source, one.id))) for one in references)
    return {
        one: replace(present.line, day=one.day, fits=one.fits)
        for one, present in there
        if present is not None and present.wording == one.wording
    }


def _references_to(found: Sequence[RecalledLine], now: _Lines) -> Mapping[RecalledLine, Reference]:
    """References to the lines that read now as they were found."""
    references = dict[RecalledLine, Reference]()
    for line in found:
        source = source_of(line)
        present = None if source is None else now.get(source)
        if source and present and present.line.text_with_origin == line.text_with_origin:
            references[line] = Reference(*source, present.wording, line.day, line.fits)
    return references
