"""The holdings of a server: each is opened here, over the stores, by the function that is marked with it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from mnemoir.access.holdings import holding_of_access, holding_of_usage
from mnemoir.access.opening import Access
from mnemoir.chats.discussions import Discussions
from mnemoir.chats.forgetting import Forgetting
from mnemoir.chats.holdings import (
    holding_of_conversations,
    holding_of_discussions,
    holding_of_jobs,
    holding_of_locks,
    holding_of_runs,
)
from mnemoir.chats.imports import holding_of_imports
from mnemoir.chats.memory_parts import Memory
from mnemoir.chats.opening import Talks
from mnemoir.chats.people import Everybody
from mnemoir.core.errors import SettingsError
from mnemoir.memory.facts.holding import holding_of_facts
from mnemoir.memory.facts.review.proposal_holding import holding_of_proposals
from mnemoir.memory.facts.write.retention import FactRetention
from mnemoir.ports.holdings import OpenHolding
from mnemoir.ports.run_store import RunStore
from mnemoir.settings import Settings
from mnemoir.storage.holdings import (
    ACCESS,
    CONVERSATIONS_OF_USERS,
    DISCUSSIONS,
    FACTS,
    IMPORTS,
    JOBS,
    LOCKS,
    PERSONAL_DATA,
    PROPOSALS,
    RUNS,
    USAGE,
    Holding,
    holdings,
)
from mnemoir.storage.sql.holds import Holds
from mnemoir.storage.sql.imports import SqlImports
from mnemoir.storage.sql.people import People
from mnemoir.storage.sql.receipts import drop_old_receipts
from mnemoir.trees.opening import open_kept_runs
from mnemoir.upkeep.encryption import Encryption
from mnemoir.upkeep.retention import RetentionOf


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """What holdings are opened over. `holdings` are those that were opened before, and in the end all."""

    settings: Settings
    encryption: Encryption
    access: Access
    memory: Memory
    talks: Talks
    discussions: Discussions
    runs: RunStore
    holds: Holds
    retention: RetentionOf
    holdings: list[OpenHolding] = field(default_factory=list)

    @property
    def everybody(self) -> Everybody:
        """Who has anything in the holdings."""
        return Everybody(People(self.memory.database), self.holdings, self.holds)


def forgetting_in(stores: Stores) -> Forgetting:
    """Forgetting in all holdings."""
    return Forgetting(conversations=stores.talks.conversations, holdings=stores.holdings, holds=stores.holds)


Opens = Callable[[Stores], OpenHolding]
_OPENING: dict[str, Opens] = {}


def opens(holding: Holding) -> Callable[[Opens], Opens]:
    """Mark the function that opens a holding. Raises SettingsError for a second one."""

    def mark(function: Opens) -> Opens:
        if holding.name in _OPENING:
            raise SettingsError(f"The holding {holding.name!r} is opened in two places. Leave one of them out.")
        _OPENING[holding.name] = function
        return function

    return mark


def open_holdings(stores: Stores) -> None:
    """Open all. Raises SettingsError for one that is opened under another name, or is not registered."""
    names = [holding.name for holding in holdings()]
    for name in _OPENING.keys() - {*names}:
        raise SettingsError(f"The holding {name!r} is opened and not registered. Register it.")
    for name in names:
        if name in _OPENING:
            opened = _OPENING[name](stores)
            if opened.name != name:
                raise SettingsError(f"The holding {name!r} is opened as {opened.name!r}. Give both the same name.")
            stores.holdings.append(opened)


opens(JOBS)(lambda stores: holding_of_jobs(stores.talks.background))
opens(IMPORTS)(lambda stores: holding_of_imports(SqlImports(stores.memory.database)))
opens(DISCUSSIONS)(lambda stores: holding_of_discussions(stores.discussions, stores.talks.conversations))
opens(LOCKS)(lambda stores: holding_of_locks(stores.discussions.locks))
opens(PERSONAL_DATA)(lambda stores: stores.memory.personal_holding)
opens(ACCESS)(lambda stores: holding_of_access(stores.access))
opens(USAGE)(lambda stores: holding_of_usage(stores.access.spent))


@opens(RUNS)
def _runs(stores: Stores) -> OpenHolding:
    open_kept = partial(open_kept_runs, stores.settings, stores.encryption.databases)
    return replace(holding_of_runs(stores.runs, open_kept), in_files=stores.settings.storage.dsn is None)


@opens(FACTS)
def _facts(stores: Stores) -> OpenHolding:
    memory = stores.memory
    expire = FactRetention(memory.store, stores.everybody.owners, stores.retention.of).expire
    facts = holding_of_facts(memory.facts, memory.store, memory.indexing, memory.recall, memory.packs, expire)
    in_files = stores.settings.storage.backend == "file"
    return replace(facts, in_files=in_files, sweep=partial(drop_old_receipts, memory.database))


@opens(PROPOSALS)
def _proposals(stores: Stores) -> OpenHolding:
    return holding_of_proposals(stores.memory.facts.review, stores.memory.store, stores.memory.proposals)


@opens(CONVERSATIONS_OF_USERS)
def _conversations(stores: Stores) -> OpenHolding:
    return holding_of_conversations(
        stores.talks.conversations,
        forgetting_in(stores),
        stores.memory.store.owners,
        stores.encryption.is_unreadable,
        embeds=stores.settings.memory.vector_store.enabled,
    )
