"""Who has data here: every user, and the projects in which one person has any."""

from collections.abc import Sequence

from mnemoir.core.scope import DEFAULT_TENANT, Scope
from mnemoir.ports.holdings import OpenHolding
from mnemoir.storage.sql.holds import Holds
from mnemoir.storage.sql.people import People


class Everybody:
    """Looks at the rows of the database and through the list of holdings. Raises StorageUnavailable."""

    def __init__(self, rows: People, holdings: Sequence[OpenHolding], holds: Holds) -> None:
        self.rows = rows
        self._holdings = holdings
        self._holds = holds

    async def owners(self) -> Sequence[Scope]:
        """Every user who is not on hold."""
        held = {(hold.tenant, hold.user) for hold in await self._holds.all()}
        return [scope for scope in await self.all() if (scope.tenant, scope.user) not in held]

    async def all(self) -> Sequence[Scope]:
        """Every user of whom anything is stored that tells whose it is."""
        found = dict.fromkeys(await self.rows.all())
        tenants = {DEFAULT_TENANT, *(scope.tenant for scope in found)}
        for holding in self._holdings:
            if holding.owners is not None:
                found |= dict.fromkeys(await holding.owners(tenants))
        return list(found)

    async def projects_of(self, tenant: str, user: str) -> Sequence[str]:
        """The projects in which a user has, or had, anything, by name."""
        of_tenant = [scope for scope in await self.all() if scope.tenant == tenant]
        found, known = (
            {scope.project for scope in of_tenant if scope.user == user},
            {one.project for one in of_tenant},
        )
        for holding in self._holdings:
            if holding.projects_of is not None:
                found |= {*await holding.projects_of(tenant, user, known)}
        return sorted(found)

    async def names(self, tenant: str, *, but: str) -> set[str]:
        """The users of a tenant of whom anything is, or was, stored, as far as that tells who they are.

        `but` names a holding that is not asked for people.
        """
        found = {scope.user for scope in await self.all() if scope.tenant == tenant}
        for holding in self._holdings:
            if holding.people is not None and holding.name != but:
                found |= {user for of_tenant, user in await holding.people() if of_tenant == tenant}
        return found

    async def knows(self, tenant: str, user: str, *, but: str) -> bool:
        """Whether anything is, or was, stored of a user in any holding; `but` as with `names`."""
        return user in await self.names(tenant, but=but) or bool(await self.projects_of(tenant, user))
