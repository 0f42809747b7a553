"""Passkeys of people who sign in, and the challenges they answer, in the file of tenants and keys."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from mnemoir.core.clock import to_text
from mnemoir.core.users import Passkey
from mnemoir.storage.sql.access.api_keys import Note, time_in, time_or_none
from mnemoir.storage.sql.access.users import NewPasskey, put_passkey
from mnemoir.storage.sql.engine import FileEngine, Sql, queries

_QUERIES = queries("access/passkeys")


class SqlPasskeys:
    """`file` is the caller's. Blocking and thread-safe; raises StorageUnavailable."""

    def __init__(self, file: FileEngine) -> None:
        self._file = file

    def ask(
        self, challenge_id: str, challenge: bytes, purpose: str, *, now: datetime, until: datetime, most: int
    ) -> None:
        """Store a challenge. Of too many the ones that end first are removed."""

        def put_challenge(sql: Sql) -> None:
            sql.run(_QUERIES["ask"], id=challenge_id, challenge=challenge, purpose=purpose, expires_at=to_text(until))
            sql.run(_QUERIES["drop_old_challenges"], now=to_text(now), most=most)

        self._file.write(put_challenge)

    def take_challenge(self, challenge_id: str, purpose: str, now: datetime) -> bytes | None:
        """Delete the challenge and return it if it was open for this purpose; else None."""

        def drop_and_return(sql: Sql) -> bytes | None:
            row = sql.row(_QUERIES["challenge"], id=challenge_id, purpose=purpose, now=to_text(now))
            sql.run(_QUERIES["drop_challenge"], id=challenge_id)
            return None if row is None else row[0]

        return self._file.write(drop_and_return)

    def of_credential(self, credential: bytes) -> Passkey | None:
        """The passkey with that id of its authenticator; None for none."""
        row = self._file.read(lambda sql: sql.row(_QUERIES["by_credential"], credential=credential))
        return None if row is None else _passkey_of(row)

    def of_user(self, user_id: str) -> list[Passkey]:
        """The passkeys of a user, oldest first."""
        return [_passkey_of(row) for row in self._file.read(lambda sql: sql.rows(_QUERIES["of_user"], user=user_id))]

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


def _passkey_of(row: Sequence[Any]) -> Passkey:
    id, user, credential, public_key, sign_count, label, created, used = row
    return Passkey(
        id=id,
        user=user,
        credential=credential,
        public_key=public_key,
        sign_count=sign_count,
        label=label,
        created_at=time_in(created),
        last_used_at=time_or_none(used),
    )
