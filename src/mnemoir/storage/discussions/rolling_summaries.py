"""The rolling summary of a discussion: `<name>_summary.jsonl`, one line, or the array of WilmerAI where there is one.

The summary is the last entry of either. Other members and entries are kept. A save reads the file again and replaces
it as a whole; the lock of the folder serialises saves.
"""

import asyncio

from mnemoir.core.discussions import Discussion, RollingSummary
from mnemoir.ports.discussions import RollingSummaries
from mnemoir.storage.discussions.ledger_entries import is_summary, naming
from mnemoir.storage.discussions.ledger_lines import Entry
from mnemoir.storage.discussions.places import PlacedFile, file_at, file_of, new_file_of, places
from mnemoir.storage.file_lock import hold_folder_lock
from mnemoir.storage.files.workspace import existing


class FileRollingSummaries:
    """Reading creates nothing; a file that cannot be parsed is never overwritten."""

    async def load(self, discussion: Discussion) -> RollingSummary | None:
        """See the port."""
        return await asyncio.to_thread(_load, discussion)

    async def save(self, discussion: Discussion, summary: RollingSummary) -> None:
        """See the port."""
        await asyncio.to_thread(_save, discussion, summary)

    async def remove(self, discussion: Discussion) -> None:
        """See the port; files at several places are all deleted."""
        await asyncio.to_thread(_remove, discussion)


def _load(discussion: Discussion) -> RollingSummary | None:
    file = file_of(discussion, "summary")
    entries = file.ledger_text().entries if file else ()
    return _summary(entries[-1].value) if entries and is_summary(entries[-1].value) else None


def _save(discussion: Discussion, summary: RollingSummary) -> None:
    file = file_of(discussion, "summary") or new_file_of(discussion, "summary")
    with file.open_folder("written", create=True) as folder, hold_folder_lock(existing(folder)):
        file.change(lambda content: _changed_content(file, content, discussion, summary))


def _changed_content(file: PlacedFile, content: bytes, discussion: Discussion, summary: RollingSummary) -> bytes:
    text = file.understand(content)
    with file.content_errors():
        entries = _with(list(text.entries), discussion, summary)
    return file.content_of(entries, as_array=text.is_array)


def _remove(discussion: Discussion) -> None:
    for place in places(discussion.file_name, "summary", discussion.client):
        file_at(discussion.root, place).remove()


def _with(entries: list[Entry], discussion: Discussion, summary: RollingSummary) -> list[Entry]:
    last = entries.pop() if entries and is_summary(entries[-1].value) else Entry({})
    members = {"text_block": summary.text, "hash": summary.hash, "updated_at": summary.updated_at}
    known = {"number": summary.number, "made_by": summary.made_by or None}
    told = {name: value for name, value in known.items() if value is not None}
    return [*entries, last.with_members(without=list(known), **members, **told, **naming(discussion))]


def _summary(value: dict[str, object]) -> RollingSummary:
    hash, number, updated_at = value.get("hash"), value.get("number"), value.get("updated_at")
    made_by = value.get("made_by")
    return RollingSummary(
        text=str(value["text_block"]),
        hash=hash if isinstance(hash, str) else "",
        number=number if isinstance(number, int) and not isinstance(number, bool) else None,
        updated_at=updated_at if isinstance(updated_at, str) else "",
        made_by=made_by if isinstance(made_by, str) else "",
    )


_: type[RollingSummaries] = FileRollingSummaries  # checked, never run
