"""Sign-ins with an identity provider that are under way, in the file of tenants and keys."""

from dataclasses import dataclass, field
from datetime import datetime

from mnemoir.core.clock import to_text
from mnemoir.storage.sql.access.tokens import NOT_EXPIRED, Tokens
from mnemoir.storage.sql.engine import FileEngine, Sql, queries

_QUERIES = queries("access/sign_ins")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """A sign-in under way with the provider of that id in the settings.

    `redirect_uri` is where the provider sends the browser back to, with the `code`, and `leads_to` the page that the
    person comes to in the end. `invitation` is the hash of the token of one that is to be used.
    """

    state: str
    provider: str
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    redirect_uri: str
    leads_to: str
    expires_at: datetime
    invitation: bytes | None = field(default=None, repr=False)
    code: str | None = field(default=None, repr=False)


SIGN_INS = Tokens("sign_ins", SignIn, is_open=f"state = :state AND {NOT_EXPIRED}")


class SqlSignIns:
    """`file` is the caller's. Blocking and thread-safe; raises StorageUnavailable. `hash` is that of a cookie."""

    def __init__(self, file: FileEngine) -> None:
        self._file = file

    def begin(self, sign_in: SignIn, hash: bytes, *, now: datetime, most: int) -> None:
        """Store a sign-in. Of too many the ones that end first are removed."""

        def put_sign_in(sql: Sql) -> None:
            SIGN_INS.put(sql, sign_in, hash)
            SIGN_INS.drop_ended(sql, now, most=most)

        self._file.write(put_sign_in)

    def open(self, state: str, hash: bytes, now: datetime) -> SignIn | None:
        """The sign-in of that state and browser; None for none."""
        return self._file.read(lambda sql: SIGN_INS.open(sql, hash=hash, state=state, now=to_text(now)))

    def answer(self, state: str, hash: bytes, code: str, now: datetime) -> bool:
        """Note the code with which the browser came back; False when it has come back before, and for none."""

        def put_code(sql: Sql) -> bool:
            return bool(sql.run(_QUERIES["answer"], state=state, hash=hash, code=code, now=to_text(now)))

        return self._file.write(put_code)

    def take(self, state: str, hash: bytes, now: datetime) -> SignIn | None:
        """The sign-in of that state and browser, which counts no more; None for none."""
        return self._file.write(lambda sql: SIGN_INS.take(sql, hash=hash, state=state, now=to_text(now)))
