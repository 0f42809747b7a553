"""Comparison of texts by a normal form, hashes of texts and messages, and estimates of tokens without a tokenizer.

The estimates are too high rather than too low for most models.

The hash that identifies a message in the files of a discussion is SHA-256 over the message's text as a workflow
sees it: with role names in front where the user's settings add them, without discussion tags, untrimmed. The role
is not hashed. WilmerAI hashes a text with its braces escaped, in one way in 2025 and in another since, so a text
with braces has three hashes, and readers must look for all of them.
"""

import hashlib
import math
import re
import unicodedata
from collections.abc import Callable, Sequence

from mnemoir.core.messages import ImagePart, Message

_SPACES = re.compile(r"\s+")
_EDGES = " .!?;,:\"'`“”‘’…"
_ESCAPES_2026 = str.maketrans({"{": "__WILMER_L_CURLY__", "}": "__WILMER_R_CURLY__"})
_ESCAPES_2025 = str.maketrans({"{": "|{{|", "}": "|}}|"})


def normalise(text: str) -> str:
    """The normal form of a text: without differences of case, width, spacing and closing punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACES.sub(" ", folded).strip(_EDGES)


def holds(words: str) -> Callable[[str], bool]:
    """A test that is True for texts containing every word of `words`, ignoring case and width."""
    wanted = _folded(words).split()

    def is_in(text: str) -> bool:
        folded = _folded(text)
        return all(word in folded for word in wanted)

    return is_in


def content_hash(text: str) -> bytes:
    """A hash of 16 bytes, equal for texts with the same normal form."""
    return digest(normalise(text))


def digest(text: str) -> bytes:
    """A hash of 16 bytes, equal for equal texts."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def estimate_tokens(text: str) -> int:
    """About one token per four characters of ASCII and one per other character; 0 for an empty text."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_count / 4) + len(text) - ascii_count


def estimate_prompt_tokens(text: str) -> int:
    """The larger of two estimates, 1.35 tokens a word or 1 for 3.5 characters, plus 10 %; 0 for an empty text.

    Source: WilmerAI, whose configurations state limits and chunk sizes in this measure.
    """
    return int(max(len(text.split()) * 1.35, len(text) / 3.5) * 1.10)


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
