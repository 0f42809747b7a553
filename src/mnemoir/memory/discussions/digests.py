"""Digests (short hashes) that identify the messages of a conversation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from mnemoir.core.discussions import DIGEST_CHARACTERS
from mnemoir.core.messages import Message
from mnemoir.core.text import hashes


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    """`own` has one digest for each message, in order; `others` maps digests of its other forms to that one.

    A text with braces has other forms: other programs, and other releases of one, escape them in their own ways.
    """

    own: list[str]
    others: Mapping[str, str]


def digests_of(messages: Sequence[Message]) -> Digests:
    """The beginning of each message's hash; a microsecond or so for each message of ordinary length."""
    own, others = [], {}
    for message in messages:
        text = message.text
        if text and "{" not in text and "}" not in text and not text.isspace():
            own.append(sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARACTERS])
            continue
        first, *rest = (form[:DIGEST_CHARACTERS] for form in hashes(message))
        own.append(first)
        others.update(dict.fromkeys(rest, first))
    return Digests(own=own, others=others)
