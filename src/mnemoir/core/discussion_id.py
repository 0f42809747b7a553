"""Discussion ids: the tag that carries one in a conversation, and the directory name derived from it.

`[DiscussionId]tea-time[/DiscussionId]` anywhere in a conversation says which files belong to it. The author of a
message chooses the id, so it is untrusted text that becomes part of a path. An ordinary id is its own directory name,
under which other programs find it too. An id that a file system would change, hide or refuse gets an encoded name
with a first character that no unencoded name has. So does one that some file system would take for the id of another
discussion; `storage.spelled_folders` decides that.
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

_FORBIDDEN = re.compile(r"[\x00\ud800-\udfff]")  # characters that no text of a request may contain

_log = structlog.get_logger(__name__)


def discussion_of(messages: Sequence[Message]) -> str | None:
    """The first id tagged in the messages, of any role; None without a tag.

    Also None, with a warning in the log, for an id that looks like a path: the conversation then has no discussion.
    """
    found = next((id for message in messages for id in _ids_in(message)), "")
    if not found.strip():
        return None
    if not is_allowed(found) or any(c in "/\\:" for c in found):
        _log.warning("discussion id not allowed, no memory of the discussion is stored", cause="it looks like a path")
        return None
    return found


def is_allowed(id: str) -> bool:
    """True when an id may name a discussion.

    Ids that cannot stand in a URL are refused, because such a discussion could not be deleted.
    """
    return bool(id.strip()) and id not in (".", "..") and not _FORBIDDEN.search(id)


def may_hold_tags(text: str) -> bool:
    """Whether a text may have discussion tags; False for nearly all."""
    return _OPEN in text


def without_tags(message: Message) -> Message:
    """The message without its discussion tags, other text untouched; the same object when it has no tag."""
    parts = [_without_tags(part) for part in message.parts]
    changed = any(new is not old for new, old in zip(parts, message.parts, strict=True))
    return replace(message, parts=tuple(parts)) if changed else message


def directory_name(discussion: str) -> str:
    """The directory name of the discussion: its id, or an encoded name of 65 ASCII characters.

    Different ids always have different names.
    """
    return discussion if _keeps_its_name(discussion) else encoded_name(discussion)


def encoded_name(discussion: str) -> str:
    """A name that no id has as its own, and no other id as its encoded one."""
    return _ENCODED + hashlib.sha256(discussion.encode("utf-8", "surrogatepass")).hexdigest()


def is_encoded(name: str) -> bool:
    """Whether a name on disk is an encoded one, which does not show the name it stands for."""
    return name.startswith(_ENCODED)


def _keeps_its_name(name: str) -> bool:
    return (
        name not in ("", ".", "..")
        and name.isprintable()  # no controls, direction marks, lone surrogates or spaces other than the plain one
        and not any(c in "/\\:" for c in name)
        and not name.startswith(_ENCODED)
        and not name.endswith((".", " "))  # Windows drops these characters
        and not name.lower().endswith(_FILE_ENDINGS)  # a file of another discussion may have this name
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
    """Start and end index of each tag. A tag must close on the line it opens on.

    Written as a loop, because a regular expression would rescan the rest of the line for every unclosed opening mark.
    """
    start = text.find(_OPEN)
    while start >= 0:
        close = text.find(_CLOSE, start + len(_OPEN))
        if close < 0:
            return
        line = text.rfind("\n", start, close)
        if line < 0:
            yield start, close + len(_CLOSE)
        # the last line break before `close` also invalidates every earlier opening mark
        start = text.find(_OPEN, close + len(_CLOSE) if line < 0 else line)
