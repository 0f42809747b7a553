"""The source of a rebuild: messages stored with the old memories or given by the caller, and the forgotten chunks.

Only hashes are left of a forgotten chunk. They are copied into the new memories before any are made, so that new
chunks end where the forgotten one begins, and no memory is made of its messages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mnemoir.core.discussions import Block, BlockChanges, BlockKey, ChunkSource, Discussion, SourceMessage
from mnemoir.core.errors import InvalidRequest
from mnemoir.core.messages import Message, Role, text_message
from mnemoir.memory.discussions.alignment import align
from mnemoir.memory.discussions.parts import Digests, DiscussionMemory, digests_of
from mnemoir.ports.discussions import ChunkStore

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptWords:
    """A conversation to make memories of, and the forgotten blocks in it, which are left out.

    In messages from the old memories, blank messages stand for forgotten ones. `known` are the stored digests by
    message index: they cannot be computed for forgotten messages and pictures, which have no text left.
    """

    messages: Sequence[Message]
    forgotten: Sequence[Block] = ()
    known: Mapping[int, str] = field(default_factory=dict)

    def digests(self, messages: Sequence[Message]) -> Digests:
        """The digests of `messages`, which must be those of this value, without system messages."""
        found = digests_of(messages)
        return replace(found, own=[self.known.get(at, digest) for at, digest in enumerate(found.own)])


async def words_from_messages(store: ChunkStore, discussion: Discussion, messages: Sequence[Message]) -> KeptWords:
    """The words of a given conversation. Forgotten chunks without digests are located in it by their hash."""
    blocks = await store.blocks(discussion)
    forgotten = [block for block in blocks if block.is_forgotten]
    if not all(block.digests for block in forgotten):
        said = [message for message in messages if message.role != "system"]
        placed = align(blocks, digests_of(said)).changes.placed
        forgotten = [replace(block, digests=block.digests or placed.get(block.key, ())) for block in forgotten]
    return KeptWords(messages=messages, forgotten=forgotten)


async def words_from_store(store: ChunkStore, discussion: Discussion) -> KeptWords:
    """The words stored with the memories, in order. Raises InvalidRequest if any are missing."""
    blocks = await store.blocks(discussion)
    kept = await store.sources(discussion)
    live = [block for block in blocks if not block.is_stale]
    missing = sum(not (block.digests if block.is_forgotten else kept.get(block.key)) for block in live)
    if missing or all(block.is_forgotten for block in live):
        raise InvalidRequest(
            f"{missing} of the {len(live)} chunks remembered of discussion {discussion.id!r} have no words stored, "
            "as another program made them. Give the conversation's messages."
            if missing
            else f"Nothing is remembered of discussion {discussion.id!r} yet. Give the conversation's messages.",
            code="no_words_kept",
        )
    messages: list[Message] = []
    known: dict[int, str] = {}
    for block in live:
        known.update(enumerate(block.digests, start=len(messages)))
        if block.is_forgotten:
            messages += [text_message("user", "")] * len(block.digests)
        else:
            messages += [_message(said) for said in kept[block.key]]
    return KeptWords(messages=messages, forgotten=[block for block in blocks if block.is_forgotten], known=known)


async def keep_places(
    memory: DiscussionMemory, made: Discussion, forgotten: Sequence[Block], *, of_records: bool
) -> None:
    """Copy the forgotten blocks with known digests into the new memories `made`.

    If `made`, from an interrupted rebuild, has other forgotten blocks, it is deleted first, because it may contain
    memories of text that is forgotten now.
    """
    placed = [block for block in forgotten if block.digests]
    store: ChunkStore = memory.records if of_records else memory.ledger
    there = [_place(block) for block in await store.blocks(made) if block.is_forgotten]
    if there == [_place(block) for block in placed]:
        return
    await memory.files.remove(made)
    for block in placed:
        source = ChunkSource(hash=block.hash, digests=block.digests, messages=())
        key = await _put(memory, made, source, of_records=of_records)
        await store.forget(made, key)
        if block.is_stale:
            await store.change(made, BlockChanges(stale=frozenset([key])))


def _message(said: SourceMessage) -> Message:
    return replace(text_message(_ROLES.get(said.role, "user"), said.text), uid=said.uid)


def _place(block: Block) -> tuple[str, Sequence[str]]:
    return block.hash, tuple(block.digests)


async def _put(memory: DiscussionMemory, made: Discussion, source: ChunkSource, *, of_records: bool) -> BlockKey:
    if of_records:
        return await memory.records.append(made, (), source)
    return (await memory.ledger.append(made, "", source)).id
