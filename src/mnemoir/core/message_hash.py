"""The hash that identifies a message in the files of a discussion.

SHA-256 over the message's text as a workflow sees it: with role names in front where the user's settings add them,
without discussion tags, untrimmed. The role is not hashed. WilmerAI hashes a text with its braces escaped, in one way
in 2025 and in another since, so a text with braces has three hashes, and readers must look for all of them.
"""

import hashlib
from collections.abc import Sequence

from mnemoir.core.messages import ImagePart, Message

_ESCAPES_2026 = str.maketrans({"{": "__WILMER_L_CURLY__", "}": "__WILMER_R_CURLY__"})
_ESCAPES_2025 = str.maketrans({"{": "|{{|", "}": "|}}|"})


def hashes(message: Message) -> Sequence[str]:
    """The hashes of a message, in lower-case hex: one for a text without braces, else three. The first is stored."""
    content = _content(message)
    if "{" not in content and "}" not in content:
        return (_sha256(content),)
    escaped = content.translate(_ESCAPES_2026), content, content.translate(_ESCAPES_2025)
    return tuple(_sha256(form) for form in escaped)


def _content(message: Message) -> str:
    """The text to hash; for a message without text its pictures, independent of their order."""
    if message.text.strip():
        return message.text
    return message.text + "".join(sorted(part.url for part in message.parts if isinstance(part, ImagePart)))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
