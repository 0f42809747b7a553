"""The tenants of a data directory: who shares nothing with the others, with quotas and retention of their own."""

from collections.abc import Mapping, Sequence

from mnemoir.access.access_file import AccessFile, LookedUp
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.retention import Retention, checked_retention
from mnemoir.core.scope import DEFAULT_TENANT, tenant_name
from mnemoir.core.usage import Limits, checked_limits
from mnemoir.storage.sql.access.api_keys import SqlApiKeys, Tenant

_ALL = "all"


class Tenants:
    """Thread-safe and blocking; every method may raise StorageUnavailable."""

    def __init__(self, file: AccessFile, clock: Clock = utc_now) -> None:
        self._file = file
        self._clock = clock
        self._limits = LookedUp(file, self._read_limits)
        self._suspended = LookedUp(file, self._read_suspended)  # by one name for all tenants
        self._asked_for = {DEFAULT_TENANT}  # the limits of these
        file.warm(self._look_up)

    def all_tenants(self) -> Sequence[Tenant]:
        """All tenants that keys were made for, or that were added, by name."""
        stored = self._existing_rows()
        return [] if stored is None else stored.tenants()

    def names(self) -> Sequence[str]:
        """The names of all tenants."""
        return [tenant.name for tenant in self.all_tenants()]

    def is_suspended(self, tenant: str) -> bool:
        """Whether nobody of that tenant is let in. Costs a look at the file, and more only after it changed."""
        return tenant in self._suspended[_ALL]

    def limits_of(self, tenant: str) -> Limits:
        """The quotas that a tenant has of its own. Costs as little."""
        if not self._file.was_there:  # without a file not even a look: each chat asks
            return {}
        limits = self._limits[tenant]
        self._asked_for.add(tenant)
        return limits

    def retention_of(self, tenant: str) -> Retention:
        """For how many days a tenant keeps things, as far as it says."""
        stored = self._existing_rows()
        return {} if stored is None else stored.retention(tenant)

    def put(
        self,
        name: str,
        *,
        suspended: bool | None = None,
        limits: Mapping[str, object] | None = None,
        retention: Mapping[str, object] | None = None,
    ) -> None:
        """Add a tenant, or change one. Raises InvalidRequest.

        While it is `suspended` its keys are refused. `limits` are its own quotas from now on, and `retention` its own
        days, none for {}. None leaves each as it is.
        """
        own = None if limits is None else checked_limits(limits)
        kept = None if retention is None else checked_retention(retention)
        note = self._file.note("tenants.suspend" if suspended else "tenants.put", name, name)
        SqlApiKeys(self._file.open_or_create()).put_tenant(
            tenant_name(name), self._clock(), suspended=suspended, limits=own, retention=kept, note=note
        )

    def _look_up(self) -> None:
        self.is_suspended(DEFAULT_TENANT)
        for tenant in tuple(self._asked_for):
            self.limits_of(tenant)

    def _existing_rows(self) -> SqlApiKeys | None:
        file = self._file.existing()
        return None if file is None else SqlApiKeys(file)

    def _read_limits(self, tenant: str) -> Limits:
        stored = self._existing_rows()
        return {} if stored is None else stored.limits("tenant", tenant)

    def _read_suspended(self, _: str) -> frozenset[str]:
        stored = self._existing_rows()
        return frozenset() if stored is None else stored.suspended_tenants()
