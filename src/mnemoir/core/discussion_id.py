"""Discussions: the tag in a conversation that names one, and the name its files get.

`[DiscussionId]tea-time[/DiscussionId]` anywhere in a conversation says which files belong to it. Whoever writes a
message chooses the id, so it is foreign text on its way into a path. An id that other programs find under its own
name keeps that name. One that a file system would change, hide or refuse gets an encoded name, which begins with a
character no kept name begins with. Ids that differ by case or by Unicode form keep different names; where the file
system itself does not tell those apart, they are the same discussion.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import structlog

from mnemoir.core.messages import Message, Part, TextPart

_OPEN = "[DiscussionId]"
_CLOSE = "[/DiscussionId]"
_ENCODED = "%"
_MOST_BYTES = 100  # leaves room for the endings of file names below the 255 bytes of most file systems
_FILE_ENDINGS = (".json", ".jsonl", ".db", ".db-wal", ".db-shm", ".db-journal", ".lock", ".tmp")
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])( *\..*)?", re.IGNORECASE)

_UNSPEAKABLE = re.compile(r"[\x00\ud800-\udfff]")  # what no text of a request may hold

_log = structlog.get_logger(__name__)


def discussion_of(messages: Sequence[Message]) -> str | None:
    """The first id tagged in the messages, of whatever role; None without one.

    None as well, with a warning, for an id that looks like a path: nothing is then kept for the conversation.
    """
    found = next((id for message in messages for id in _ids_in(message)), "")
    if not found.strip():
        return None
    if not is_allowed(found) or any(c in "/\\:" for c in found):
        _log.warning(
            "discussion id is not allowed, so nothing is kept of the discussion", cause="it looks like a path"
        )
        return None
    return found


def is_allowed(id: str) -> bool:
    """Whether an id may name a discussion, from wherever it comes: one that no URL can name could not be deleted."""
    return bool(id.strip()) and id not in (".", "..") and not _UNSPEAKABLE.search(id)


def without_tags(message: Message) -> Message:
    """The message with every tag cut out and nothing else trimmed; the same object when it has none."""
    parts = [_without_tags(part) for part in message.parts]
    changed = any(new is not old for new, old in zip(parts, message.parts, strict=True))
    return replace(message, parts=tuple(parts)) if changed else message


def directory_name(discussion: str) -> str:
    """The one step of a path that stands for the discussion: its id, or an encoded name of 65 ASCII characters.

    Two ids never have one name.
    """
    if _keeps_its_name(discussion):
        return discussion
    return _ENCODED + hashlib.sha256(discussion.encode("utf-8", "surrogatepass")).hexdigest()


def _keeps_its_name(name: str) -> bool:
    return (
        name not in ("", ".", "..")
        and name.isprintable()  # no control, no mark of direction, no lone surrogate, no space but the plain one
        and not any(c in "/\\:" for c in name)
        and not name.startswith(_ENCODED)
        and not name.endswith((".", " "))  # Windows drops them
        and not name.lower().endswith(_FILE_ENDINGS)  # where a file of another discussion may belong
        and not _DEVICE.fullmatch(name)
        and len(name.encode()) <= _MOST_BYTES
    )


def _ids_in(message: Message) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, TextPart):
            for start, end in _tags(part.text):
                yield part.text[start + len(_OPEN) : end - len(_CLOSE)]


def _without_tags(part: Part) -> Part:
    if not isinstance(part, TextPart) or _OPEN not in part.text:
        return part
    kept, at = [], 0
    for start, end in _tags(part.text):
        kept.append(part.text[at:start])
        at = end
    return TextPart(text="".join(kept) + part.text[at:]) if at else part


def _tags(text: str) -> Iterator[tuple[int, int]]:
    """Where tags begin and end; one does not reach beyond its line.

    By hand, because a pattern would look through the rest of the line again for every opening mark that stays open.
    """
    start = text.find(_OPEN)
    while start >= 0:
        close = text.find(_CLOSE, start + len(_OPEN))
        if close < 0:
            return
        line = text.rfind("\n", start, close)
        if line < 0:
            yield start, close + len(_CLOSE)
        # every opening mark before the last line break ahead of `close` is broken by it as well
        start = text.find(_OPEN, close + len(_CLOSE) if line < 0 else line)
