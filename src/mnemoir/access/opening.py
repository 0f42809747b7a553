"""Who may call the server: tenants, keys, people and tokens of issuers, and the log of what they did and used."""

import asyncio
from dataclasses import dataclass

import aiohttp
import structlog

from mnemoir.access.access_file import AccessFile
from mnemoir.access.api_keys import ApiKeys
from mnemoir.access.audit import Audit
from mnemoir.access.issuers.documents import Documents
from mnemoir.access.issuers.sign_ins import SignIns
from mnemoir.access.issuers.tokens import Tokens
from mnemoir.access.keyless_clients import KeylessClients
from mnemoir.access.shared_counts import SharedCounts
from mnemoir.access.sign_in.devices import Devices
from mnemoir.access.sign_in.passkeys import Passkeys
from mnemoir.access.sign_in.passwords import Passwords
from mnemoir.access.sign_in.sessions import Sessions
from mnemoir.access.sign_in.users import Users
from mnemoir.access.spent import Spent
from mnemoir.access.tenants import Tenants
from mnemoir.core.data_directory import CACHE
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.owning import Own
from mnemoir.settings import Settings
from mnemoir.storage.databases import Database, DirectoryIdentity
from mnemoir.storage.sql.engine import Engine
from mnemoir.storage.sql.usage import SqlUsage

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Every way to be known here."""

    file: AccessFile
    api_keys: ApiKeys
    tenants: Tenants
    users: Users
    sessions: Sessions
    devices: Devices
    passkeys: Passkeys
    passwords: Passwords
    keyless_clients: KeylessClients
    audit: Audit
    tokens: Tokens
    sign_ins: SignIns
    spent: Spent
    shared_counts: SharedCounts | None  # None for a server that counts requests alone

    def start(self) -> None:
        """Start the upkeep of the log, and ask issuers for their keys."""
        self.audit.start()
        self.tokens.start()


async def open_access(
    settings: Settings,
    careful: aiohttp.ClientSession,
    databases: Database,
    database: Engine,
    identity: DirectoryIdentity,
    own: Own,
) -> Access:
    """Open all of it; issuers are asked with the `careful` session. Raises SettingsError and StorageUnavailable.

    `databases` opens keys and people, of the directory of that `identity`; `database` has what was used.
    """
    file = own(await asyncio.to_thread(AccessFile, settings, identity=identity, opener=databases))
    try:
        await asyncio.to_thread(file.check_pepper)
    except StorageUnavailable as exc:
        _log.warning(exc.message)
    audit = own(Audit(settings, file))
    tenants, users = await asyncio.to_thread(lambda: (Tenants(file), Users(file)))
    documents = Documents(careful)
    spent = own(Spent(SqlUsage(database)))
    await spent.load()
    return Access(
        file=file,
        api_keys=ApiKeys(file),
        tenants=tenants,
        users=users,
        sessions=Sessions(settings, file),
        devices=Devices(file),
        passkeys=Passkeys(file),
        passwords=own(Passwords()),
        keyless_clients=own(KeylessClients(settings.storage.data_dir / CACHE / "clients.json")),
        audit=audit,
        tokens=own(Tokens(settings.auth.jwt, documents, tenants, audit)),
        sign_ins=own(SignIns(settings.auth.oidc, documents, file)),
        spent=spent,
        shared_counts=own(SharedCounts(settings.redis)) if settings.redis.url is not None else None,
    )
