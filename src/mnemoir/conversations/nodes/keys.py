"""The object keys of node memory: `node_memory/{app}/{conversation}/{node}.json`.

Ids come from applications and clients, so each is encoded as one part of the key that cannot leave its folder. Two
different ids never have the same encoding.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, unquote

from mnemoir.core.errors import InvalidRequest

NODE_MEMORY_PREFIX = "node_memory/"
_ENDING = ".json"
_CORRUPT = _ENDING + ".corrupt-"
_KEPT = re.compile(r"[A-Za-z0-9._-]{1,128}")
_LONGEST = 128
_DIGEST_MARK = "%-"  # never begins an encoded id, where two hexadecimal digits follow a percent sign


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeKey:
    """The parts of a key. An id that was too long is None: the key holds only its digest."""

    app_id: str | None
    conversation_id: str | None
    is_corrupt_copy: bool


def node_key(app_id: str, conversation_id: str, node_id: str) -> str:
    """The key of one node's memory. Raises InvalidRequest for an empty id."""
    return conversation_prefix(app_id, conversation_id) + _step(node_id, "node id") + _ENDING


def conversation_prefix(app_id: str, conversation_id: str) -> str:
    """The common prefix of the keys of a conversation's nodes in one application."""
    return f"{NODE_MEMORY_PREFIX}{_step(app_id, 'app id')}/{conversation_step(conversation_id)}/"


def conversation_step(conversation_id: str) -> str:
    """The encoded id of a conversation in keys."""
    return _step(conversation_id, "conversation id")


def corrupt_copy_key(key: str, at: datetime) -> str:
    """The key for a copy of an unreadable object's bytes; `at` is in UTC."""
    return f"{key}.corrupt-{at:%Y%m%dT%H%M%S.%fZ}"


def read_node_key(key: str) -> NodeKey | None:
    """The parts of a key; None for a key that is not of node memory."""
    steps = key.removeprefix(NODE_MEMORY_PREFIX).split("/")
    is_copy = _CORRUPT in key
    if not key.startswith(NODE_MEMORY_PREFIX) or len(steps) != 3 or not (is_copy or key.endswith(_ENDING)):
        return None
    return NodeKey(app_id=name_of_step(steps[0]), conversation_id=name_of_step(steps[1]), is_corrupt_copy=is_copy)


def name_of_step(step: str) -> str | None:
    """The id of an encoded part; None when the id was too long and only its digest is stored."""
    return None if step.startswith(_DIGEST_MARK) else unquote(step, errors="surrogatepass")


def _step(id: str, what: str) -> str:
    if not id:
        raise InvalidRequest(f"Node memory needs a {what}, and this one is empty.", field=what.replace(" ", "_"))
    if _KEPT.fullmatch(id) and id not in (".", ".."):
        return id
    encoded = quote(id, safe="", errors="surrogatepass").replace("~", "%7E")
    if id in (".", ".."):
        encoded = encoded.replace(".", "%2E")
    if len(encoded) <= _LONGEST and encoded != id:
        return encoded
    return _DIGEST_MARK + hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()
