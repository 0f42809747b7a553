"""Entries of the audit log, and the chain that makes a removed or changed one show."""

import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

CHAIN_BEGIN = bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One row of the log. It holds no words of memories, messages or secrets.

    `actor` is the id of a key, "command line", or "anybody" on a server without keys. `target` names what the act was
    about. `result` is `begun` before an act that goes through several files, and then a row with `of`, the number of
    that one, has its result: a status of HTTP, or `done`. `count` is how often the same happened within seconds.
    """

    number: int = 0
    at: str
    tenant: str
    actor: str
    action: str
    target: str = ""
    result: str
    request_id: str = ""
    address: str = ""
    of: int | None = None
    count: int = 1
    chain: bytes = b""


def chained(entry: AuditEntry, number: int, before: bytes, key: bytes) -> AuditEntry:
    """The entry as it is appended behind the row whose chain is `before`."""
    numbered = replace(entry, number=number, chain=b"")
    return replace(numbered, chain=_chain(numbered, before, key))


def first_break(entries: Iterable[AuditEntry], number: int, before: bytes, key: bytes) -> str:
    """Where entries do not continue the chain of the row with this number; "" where all do."""
    for entry in entries:
        if entry.number != number + 1:
            return f"entries {number + 1} to {entry.number - 1} are missing"
        if not hmac.compare_digest(entry.chain, _chain(replace(entry, chain=b""), before, key)):
            return f"entry {entry.number} was changed, or the one before it"
        number, before = entry.number, entry.chain
    return ""


def _chain(entry: AuditEntry, before: bytes, key: bytes) -> bytes:
    said = [
        entry.number,
        entry.at,
        entry.tenant,
        entry.actor,
        entry.action,
        entry.target,
        entry.result,
        entry.request_id,
        entry.address,
        entry.of,
        entry.count,
    ]
    return hmac.digest(key, before + json.dumps(said, ensure_ascii=False).encode("utf-8", "surrogatepass"), "sha256")
