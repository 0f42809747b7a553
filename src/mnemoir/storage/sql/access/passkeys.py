"""Passkeys of people who sign in, and the challenges they answer, in the file of tenants and keys."""

from dataclasses import dataclass, field
from datetime import datetime

from mnemoir.core.clock import to_text
from mnemoir.core.users import Passkey
from mnemoir.storage.sql.access.api_keys import Note
from mnemoir.storage.sql.access.tokens import NOT_EXPIRED, Tokens
from mnemoir.storage.sql.access.users import NewPasskey, put_passkey
from mnemoir.storage.sql.access.values import Columns
from mnemoir.storage.sql.engine import FileEngine, Sql, queries

_QUERIES = queries("access/passkeys")
_PASSKEYS = Columns(Passkey)


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """What an authenticator is to sign; `purpose` says for what it counts, once."""

    challenge: bytes = field(repr=False)
    purpose: str
    expires_at: datetime


CHALLENGES = Tokens("challenges", Challenge, is_open=NOT_EXPIRED)


class SqlPasskeys:
    """`file` is the caller's. Blocking and thread-safe; raises StorageUnavailable."""

    def __init__(self, file: FileEngine) -> None:
        self._file = file

    def ask(self, challenge: Challenge, hash: bytes, *, now: datetime, most: int) -> None:
        """Store a challenge, under the hash of its id. Of too many the ones that end first are removed."""

        def put_challenge(sql: Sql) -> None:
            CHALLENGES.put(sql, challenge, hash)
            CHALLENGES.drop_ended(sql, now, most=most)

        self._file.write(put_challenge)

    def take_challenge(self, hash: bytes, now: datetime) -> Challenge | None:
        """Delete the challenge and return it if it was open; else None."""
        return self._file.write(lambda sql: CHALLENGES.take(sql, hash=hash, now=to_text(now)))

    def of_credential(self, credential: bytes) -> Passkey | None:
        """The passkey with that id of its authenticator; None for none."""
        row = self._file.read(lambda sql: sql.row(_QUERIES["by_credential"], credential=credential))
        return None if row is None else _PASSKEYS.value(row)

    def of_user(self, user_id: str) -> list[Passkey]:
        """The passkeys of a user, oldest first."""
        return [
            _PASSKEYS.value(row) for row in self._file.read(lambda sql: sql.rows(_QUERIES["of_user"], user=user_id))
        ]

    def add(self, user_id: str, new: NewPasskey, at: datetime, note: Note) -> None:
        """Store a passkey. Raises Conflict for one that is known."""

        def put_and_note(sql: Sql) -> None:
            put_passkey(sql, user_id, new, at)
            note(sql)

        self._file.write(put_and_note)

    def note_use(self, passkey: Passkey, sign_count: int, at: datetime) -> bool:
        """Note a use, with the count of signatures after it; False when another use overtook it."""
        now, former = to_text(at), passkey.sign_count
        return bool(
            self._file.write(
                lambda sql: sql.run(_QUERIES["used"], id=passkey.id, former=former, sign_count=sign_count, now=now)
            )
        )

    def remove(self, passkey_id: str, user_id: str, note: Note) -> bool:
        """Remove a passkey of a user; False for none."""

        def remove_and_note(sql: Sql) -> bool:
            if not sql.run(_QUERIES["remove"], id=passkey_id, user=user_id):
                return False
            note(sql)
            return True

        return self._file.write(remove_and_note)
