"""Who may call the server: keys, people and tokens of issuers, and the log of what they did."""

from dataclasses import dataclass
from pathlib import Path

import aiohttp

from mnemoir.app.api_keys import ApiKeys
from mnemoir.app.audit import Audit
from mnemoir.app.issuers.documents import Documents
from mnemoir.app.issuers.sign_ins import SignIns
from mnemoir.app.issuers.tokens import Tokens
from mnemoir.app.keyless_clients import KeylessClients
from mnemoir.app.sign_in.passkeys import Passkeys
from mnemoir.app.sign_in.passwords import Passwords
from mnemoir.app.sign_in.sessions import Sessions
from mnemoir.app.sign_in.users import Users
from mnemoir.app.workflows import Own
from mnemoir.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Every way to be known here."""

    api_keys: ApiKeys
    users: Users
    sessions: Sessions
    passkeys: Passkeys
    passwords: Passwords
    keyless_clients: KeylessClients
    audit: Audit
    tokens: Tokens
    sign_ins: SignIns

    def start(self) -> None:
        """Start the upkeep of the log, and ask issuers for their keys."""
        self.audit.start()
        self.tokens.start()


def open_access(settings: Settings, careful: aiohttp.ClientSession, cache: Path, own: Own) -> Access:
    """Open all of it; issuers are asked with the `careful` session, and `cache` is the folder of what can be lost."""
    api_keys: ApiKeys = own(ApiKeys(settings))
    audit: Audit = own(Audit(settings, api_keys))
    documents = Documents(careful)
    return Access(
        api_keys=api_keys,
        users=Users(api_keys),
        sessions=Sessions(settings, api_keys),
        passkeys=Passkeys(api_keys),
        passwords=own(Passwords()),
        keyless_clients=own(KeylessClients(cache / "clients.json")),
        audit=audit,
        tokens=own(Tokens(settings.auth.jwt, documents, api_keys, audit)),
        sign_ins=own(SignIns(settings.auth.oidc, documents, api_keys)),
    )
