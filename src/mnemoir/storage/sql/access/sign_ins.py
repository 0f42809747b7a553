"""Sign-ins with an identity provider that are under way, in the file of tenants and keys."""

from dataclasses import dataclass, field
from datetime import datetime

from mnemoir.core.clock import to_text
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
    invitation: bytes | None = field(default=None, repr=False)
    code: str | None = field(default=None, repr=False)


class SqlSignIns:
    """`file` is the caller's. Blocking and thread-safe; raises StorageUnavailable. `hash` is that of a cookie."""

    def __init__(self, file: FileEngine) -> None:
        self._file = file

    def begin(self, sign_in: SignIn, hash: bytes, *, now: datetime, until: datetime, most: int) -> None:
        """Store a sign-in. Of too many the ones that end first are removed."""

        def put_sign_in(sql: Sql) -> None:
            sql.run(
                _QUERIES["begin"],
                state=sign_in.state,
                hash=hash,
                provider=sign_in.provider,
                nonce=sign_in.nonce,
                verifier=sign_in.verifier,
                redirect_uri=sign_in.redirect_uri,
                leads_to=sign_in.leads_to,
                invitation=sign_in.invitation,
                expires_at=to_text(until),
            )
            sql.run(_QUERIES["drop_old"], now=to_text(now), most=most)

        self._file.write(put_sign_in)

    def open(self, state: str, hash: bytes, now: datetime) -> SignIn | None:
        """The sign-in of that state and browser; None for none."""
        return self._file.read(lambda sql: _open(sql, state, hash, now))

    def answer(self, state: str, hash: bytes, code: str, now: datetime) -> bool:
        """Note the code with which the browser came back; False when it has come back before, and for none."""

        def put_code(sql: Sql) -> bool:
            return bool(sql.run(_QUERIES["answer"], state=state, hash=hash, code=code, now=to_text(now)))

        return self._file.write(put_code)

    def take(self, state: str, hash: bytes, now: datetime) -> SignIn | None:
        """The sign-in of that state and browser, which counts no more; None for none."""

        def drop_and_return(sql: Sql) -> SignIn | None:
            found = _open(sql, state, hash, now)
            sql.run(_QUERIES["drop"], state=state, hash=hash)
            return found

        return self._file.write(drop_and_return)


def _open(sql: Sql, state: str, hash: bytes, now: datetime) -> SignIn | None:
    row = sql.row(_QUERIES["open"], state=state, hash=hash, now=to_text(now))
    if row is None:
        return None
    state, provider, nonce, verifier, redirect_uri, leads_to, invitation, code = row
    return SignIn(
        state=state,
        provider=provider,
        nonce=nonce,
        verifier=verifier,
        redirect_uri=redirect_uri,
        leads_to=leads_to,
        invitation=invitation,
        code=code,
    )
