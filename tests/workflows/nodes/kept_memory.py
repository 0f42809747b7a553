"""A discussion of which something is kept already, in real files, for nodes that read it."""

from collections.abc import Sequence
from pathlib import Path

from mnemoir.core.discussions import BlockChanges, ChunkSource, ChunkSummary, Discussion, NewRecord, RollingSummary
from mnemoir.core.message_hash import hashes
from mnemoir.core.messages import text_message
from mnemoir.ports.embedding import Passage
from tests.workflows.nodes.node_kit import Bench


def begun(bench: Bench, id: str = "d1") -> Discussion:
    """The discussion of the bench from now on."""
    bench.discussion = id
    assert bench.place is not None
    return bench.place


def source_of(text: str) -> ChunkSource:
    """A chunk of one message."""
    digest = hashes(text_message("user", text))[0]
    return ChunkSource(hash=digest, digests=[digest[:16]], messages=())


async def summarised(bench: Bench, *texts: str) -> list[ChunkSummary]:
    """Chunk summaries of these texts, in this order."""
    discussion, ledger = begun(bench), bench.discussions.ledger
    return [await ledger.append(discussion, text, source_of(f"said of {text}")) for text in texts]


async def rolled(bench: Bench, text: str, newest: ChunkSummary) -> None:
    """A rolling summary that reaches up to `newest`."""
    summary = RollingSummary(text=text, hash=newest.hash, number=newest.number)
    await bench.discussions.summaries.save(begun(bench), summary)


async def outdated(bench: Bench, *chunks: ChunkSummary) -> None:
    """Those chunks are of text that is gone."""
    await bench.discussions.ledger.change(begun(bench), BlockChanges(stale=frozenset(chunk.id for chunk in chunks)))


async def recorded(bench: Bench, *summaries: str, title: str = "") -> None:
    """A chunk and a record for each of the texts."""
    for text in summaries:
        metadata = {"title": title, "summary": text, "entities": [], "key_phrases": []}
        [entry] = await bench.discussions.indexing.entries([Passage(text=text)])
        record = NewRecord(metadata=metadata, entry=entry)
        await bench.discussions.records.append(begun(bench), [record], source_of(f"said of {text}"))


def files_below(folder: Path) -> dict[str, bytes]:
    """What every file holds, by its path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def damage(discussion: Discussion, ends: Sequence[str]) -> None:
    """Nothing of the files with these endings can be understood any more."""
    for path in discussion.root.iterdir():
        if path.name.endswith(tuple(ends)):
            path.write_bytes(b"\x00 no file of ours \xff\n" * 40)
