"""Links to attachments, which stored messages hold in place of a file's bytes.

`mnemoir:attachments/{session}/{sha256}.{ending}` refers to the object `attachments/{session}/{sha256}.{ending}`,
with the session encoded as in the keys of node memory. A file is named after its digest, so the same file sent again
has the same link, and messages can be compared without reading files.
"""

import hashlib
import re
from base64 import b64decode
from binascii import Error as Base64Error
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from mnemoir.conversations.nodes.keys import NODE_MEMORY_PREFIX, conversation_prefix
from mnemoir.core.conversations import MediaPart
from mnemoir.core.errors import InvalidRequest

SCHEME = "mnemoir:"
ATTACHMENTS = "attachments"
_LINK = re.compile(rf"{SCHEME}{ATTACHMENTS}/([A-Za-z0-9._%-]{{1,128}})/([0-9a-f]{{64}})\.([a-z0-9]{{1,8}})")
_DATA = "data:"
_BASE64 = ";base64"
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentLink:
    """The parts of a link. `session` is the encoded id."""

    session: str
    digest: str  # SHA-256 of the bytes, hexadecimal
    ending: str

    @property
    def key(self) -> str:
        """The key of the object with the bytes."""
        return f"{ATTACHMENTS}/{self.session}/{self.digest}.{self.ending}"

    @property
    def url(self) -> str:
        """The link as text, for the message."""
        return SCHEME + self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBytes:
    """The bytes of a file as sent; `mime_type` is the sender's, "" when it is missing or invalid."""

    content: bytes
    mime_type: str


def attachments_prefix(session_id: str) -> str:
    """The common prefix of the keys of a session's attachments. Raises InvalidRequest for an empty id."""
    return conversation_prefix(ATTACHMENTS, session_id).removeprefix(NODE_MEMORY_PREFIX)


def session_step(session_id: str) -> str:
    """The encoded session id of links and keys."""
    return attachments_prefix(session_id).split("/")[1]


def links_of(session_id: str) -> str:
    """The common prefix of all links to files of the session."""
    return f"{SCHEME}{attachments_prefix(session_id)}"


def read_link(url: str) -> AttachmentLink | None:
    """The parts of a link; None for any other URL."""
    found = _LINK.fullmatch(url)
    if found is None or found[1] in (".", ".."):
        return None
    return AttachmentLink(session=found[1], digest=found[2], ending=found[3])


def bytes_of(part: MediaPart) -> FileBytes | None:
    """The inline bytes of a part; None for a part that only refers to a file.

    Raises InvalidRequest for invalid base64.
    """
    if part.url[: len(_DATA)].lower() == _DATA:
        return _data_url(part.url)
    if part.url or not part.base64_data:
        return None
    return FileBytes(content=_bytes_of_base64(part.base64_data), mime_type=_media_type(part.mime_type))


def media_digest(part: MediaPart) -> str:
    """The identity of a file: the SHA-256 of its bytes, or its URL when the bytes are elsewhere.

    A stored file equals the file that was sent. For invalid base64 it is the digest of the text.
    """
    if (link := read_link(part.url)) is not None:
        return link.digest
    try:
        found = bytes_of(part)
    except InvalidRequest:
        return digest_of(_utf8(part.data))
    return part.url if found is None else digest_of(found.content)


def digest_of(content: bytes) -> str:
    """The SHA-256 of the bytes, hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _data_url(url: str) -> FileBytes:
    head, comma, data = url.partition(",")
    if not comma:
        raise InvalidRequest(
            "An attachment is a data: URL without a comma, and so without data. Send it whole.", field="messages"
        )
    described = head[len(_DATA) :]
    is_base64 = described.lower().endswith(_BASE64)
    content = _bytes_of_base64(data) if is_base64 else unquote_to_bytes(_utf8(data))
    return FileBytes(content=content, mime_type=_media_type(described.partition(";")[0]))


def _bytes_of_base64(data: str) -> bytes:
    try:
        return b64decode(data, validate=True)
    except (Base64Error, ValueError) as exc:
        raise InvalidRequest(f"An attachment is not proper base64: {exc}.", field="messages") from exc


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _media_type(declared: str) -> str:
    lowered = declared.strip().lower()
    return lowered if _MEDIA_TYPE.fullmatch(lowered) else ""
