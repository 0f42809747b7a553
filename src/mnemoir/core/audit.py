"""Entries of the audit log, and the chain that makes a removed or changed one show."""

import hmac
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from mnemoir.core.users import PERSON_KEY

CHAIN_BEGIN = bytes(32)
ERASURE = "subjects.erase"  # the action that erases a person, from the log too


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One row of the log. It holds no words of memories, messages or secrets.

    `actor` is the id of a key, `user:<id>` for a person who signed in, "command line", or "anybody" on a server
    without keys. `target` names what the act was
    about, `user` whose data, "" for nobody's. `result` is `begun` before an act that goes through several files, and
    then a row with `of`, the number of that one, has its result: a status of HTTP, or `done`. `count` is how often
    the same happened within some time.

    The chain is over `names`, a keyed digest of `target`, `user` and `address`, which therefore can be erased. They
    are checked against it until then. `subject` is a keyed digest of tenant and user, by which an erasure finds its
    entries; None for an entry about nobody's data.
    """

    number: int = 0
    at: str
    tenant: str
    actor: str
    action: str
    target: str = ""
    user: str = ""
    result: str
    request_id: str = ""
    address: str = ""
    of: int | None = None
    count: int = 1
    names: bytes = b""
    subject: bytes | None = None
    chain: bytes = b""

    @property
    def about(self) -> str:
        """Whose data it is about; the beginning of a digest in place of an erased name."""
        is_erased = self.subject is not None and not self.user
        return f"erased:{self.subject.hex()[:12]}" if is_erased and self.subject is not None else self.user

    @property
    def people(self) -> set[str]:
        """What may be the ids of people who sign in: of who acted, and of whom the act was about."""
        found = {self.target.split(" ", 1)[0]} if self.target else set[str]()
        if self.actor.startswith(PERSON_KEY):
            found.add(self.actor.removeprefix(PERSON_KEY))
        return found

    def without_names(self) -> "AuditEntry":
        """The entry without its names. Its chain stays valid, because it covers only their digest."""
        return replace(self, target="", user="", address="")


def with_chain(entry: AuditEntry, number: int, before: bytes, key: bytes) -> AuditEntry:
    """The entry with number, digests of its names and the chain that follows `before`, that of the last row."""
    subject = subject_of(entry.tenant, entry.user, key) if entry.user else None
    numbered = replace(entry, number=number, names=_names_of(entry, key), subject=subject, chain=b"")
    return replace(numbered, chain=_chain(numbered, before, key))


def subject_of(tenant: str, user: str, key: bytes) -> bytes:
    """The digest by which a user's entries are found once the name is erased."""
    return _digest(["user", tenant, user], key)


def removal_digest(number: int, chain: bytes, key: bytes) -> bytes:
    """The digest by which it is known that the entries up to this one, with this chain, were removed by age."""
    return _digest(["removed", number, chain.hex()], key)


def first_break(
    entries: Iterable[AuditEntry], number: int, before: bytes, key: bytes, erased: Collection[bytes] = ()
) -> str:
    """Where entries do not continue the chain of the row with this number; "" where all do.

    Only entries about the `erased` subjects may lack their names.
    """
    for entry in entries:
        if entry.number != number + 1:
            return f"entries {number + 1} to {entry.number - 1} are missing"
        if not hmac.compare_digest(entry.chain, _chain(replace(entry, chain=b""), before, key)):
            return f"entry {entry.number} was changed, or the one before it"
        if not hmac.compare_digest(entry.names, _names_of(entry, key)):
            if entry != entry.without_names():
                return f"the names in entry {entry.number} were changed"
            if entry.subject not in erased:
                return f"entry {entry.number} lacks its names, and nobody that it is about was erased"
        number, before = entry.number, entry.chain
    return ""


def _names_of(entry: AuditEntry, key: bytes) -> bytes:
    return _digest(["names", entry.target, entry.user, entry.address], key)


def _chain(entry: AuditEntry, before: bytes, key: bytes) -> bytes:
    said = [
        entry.number,
        entry.at,
        entry.tenant,
        entry.actor,
        entry.action,
        entry.names.hex(),
        entry.result,
        entry.request_id,
        None if entry.subject is None else entry.subject.hex(),
        entry.of,
        entry.count,
    ]
    return _digest(said, key, before)


def _digest(said: list[Any], key: bytes, before: bytes = b"") -> bytes:
    return hmac.digest(key, before + json.dumps(said, ensure_ascii=False).encode("utf-8", "surrogatepass"), "sha256")
