"""A discussion with stored memories in real files, for nodes that read them."""

from collections.abc import Sequence
from pathlib import Path

from mnemoir.core.discussions import BlockChanges, ChunkSource, ChunkSummary, Discussion, NewRecord, RollingSummary
from mnemoir.core.messages import text_message
from mnemoir.core.text import hashes
from mnemoir.ports.embedding import Passage
from tests.workflows.nodes.node_kit import Bench


def begun(bench: Bench, id: str = "d1") -> Discussion:
    """Set and return the discussion of the bench."""
    bench.discussion = id
    assert bench.place is not None
    return bench.place


def source_of(text: str) -> ChunkSource:
    """A chunk of one message."""
    digest = hashes(text_message("user", text))[0]
    return ChunkSource(hash=digest, digests=[digest[:16]], messages=())


async def summarised(bench: Bench, *texts: str) -> list[ChunkSummary]:
    """Store chunk summaries with these texts, in this order."""
    discussion, ledger = begun(bench), bench.discussions.ledger
    return [await ledger.append(discussion, text, source_of(f"said of {text}")) for text in texts]


async def rolled(bench: Bench, text: str, newest: ChunkSummary) -> None:
    """Store a rolling summary that includes all chunk summaries up to `newest`."""
    summary = RollingSummary(text=text, hash=newest.hash, number=newest.number)
    await bench.discussions.summaries.save(begun(bench), summary)


async def outdated(bench: Bench, *chunks: ChunkSummary) -> None:
    """Mark these chunks as stale."""
    await bench.discussions.ledger.change(begun(bench), BlockChanges(stale=frozenset(chunk.id for chunk in chunks)))


async def recorded(bench: Bench, *summaries: str, title: str = "") -> None:
    """Store a chunk and a record for each of the texts."""
    for text in summaries:
        metadata = {"title": title, "summary": text, "entities": [], "key_phrases": []}
        [entry] = await bench.discussions.indexing.entries([Passage(text=text)])
        record = NewRecord(metadata=metadata, entry=entry)
        await bench.discussions.records.append(begun(bench), [record], source_of(f"said of {text}"))


def files_below(folder: Path) -> dict[str, bytes]:
    """The contents of all files, by path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def damage(discussion: Discussion, ends: Sequence[str]) -> None:
    """Overwrite the files with these endings by bytes that cannot be parsed."""
    for path in discussion.root.iterdir():
        if path.name.endswith(tuple(ends)):
            path.write_bytes(b"\x00 no file of ours \xff\n" * 40)
