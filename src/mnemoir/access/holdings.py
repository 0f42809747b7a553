"""The holdings of who may call: keys, accounts and the log of what they did; and of what each has used."""

import asyncio
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from mnemoir.access.opening import Access
from mnemoir.access.spent import Spent
from mnemoir.core.users import User
from mnemoir.ports.holdings import Amounts, Archive, OpenHolding


def holding_of_access(access: Access) -> OpenHolding:
    """Keys stay as ended ones, and entries of the log without a name."""

    def account(user: User) -> dict[str, Any]:
        """Somebody who signs in, with their sessions and passkeys, without what they sign in with."""
        keys = [{**asdict(key), "credential": None, "public_key": None} for key in access.passkeys.of_user(user)]
        return {
            **asdict(user),
            "sessions": [*map(asdict, access.sessions.sessions_of_user(user.id))],
            "passkeys": keys,
        }

    def put(tenant: str, user: str, archive: Archive) -> None:
        if access.file.existing() is None:
            return
        keys = [{**asdict(key), "hash": None} for key in access.api_keys.of_user(tenant, user)]
        archive.put_lines("keys.jsonl", keys)
        archive.put_lines("accounts.jsonl", [*map(account, access.users.of_memory(tenant, user))])
        log, key = access.file.audit_log()
        digests = {"names": None, "subject": None, "chain": None}
        archive.put_lines("audit.jsonl", [{**asdict(entry), **digests} for entry in log.about(tenant, user, key)])

    async def erase_person(tenant: str, user: str) -> Amounts:
        await access.audit.write_gathered()  # it may name the person
        accounts = await asyncio.to_thread(access.users.erase, tenant, user)
        keys, entries = await asyncio.to_thread(access.api_keys.erase_user, tenant, user)
        return {"accounts": accounts, "keys": keys, "audit_entries": entries}

    async def export_person(tenant: str, user: str, archive: Archive) -> None:
        await asyncio.to_thread(put, tenant, user, archive)

    async def people() -> Iterable[tuple[str, str]]:
        return await asyncio.to_thread(lambda: {*access.api_keys.users(), *access.users.memory_users()})

    def drop_old() -> None:
        access.audit.prune()
        access.sessions.drop_ended()
        access.users.drop_ended_invitations()

    async def sweep() -> None:
        await asyncio.to_thread(drop_old)
        access.keyless_clients.drop_old()

    return OpenHolding(
        name="access",
        in_files=not access.file.is_remote,
        erase_person=erase_person,
        export_person=export_person,
        people=people,
        sweep=sweep,
    )


def holding_of_usage(spent: Spent) -> OpenHolding:
    """The tokens of models by user and day. Those of an erased person are counted as nobody's."""

    async def erase_person(tenant: str, user: str) -> Amounts:
        return {"usage": await spent.make_nobodys(tenant, user)}

    async def export_person(tenant: str, user: str, archive: Archive) -> None:
        used = (await spent.of(tenant, user)).items()
        lines = [{"day": day, "input_tokens": each.input, "output_tokens": each.output} for day, each in used]
        await archive.add_lines("usage.jsonl", lines)

    return OpenHolding(
        name="usage",
        erase_person=erase_person,
        export_person=export_person,
        people=spent.stored_users,
        sweep=spent.drop_old,
    )
