"""Opens every holding, and what goes through all of them: counting, keeping for a time, adoption, export, erasure."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from mnemoir.access.holdings import access_holding, usage_holding
from mnemoir.access.opening import Access
from mnemoir.access.spent import Spent
from mnemoir.app.workflows import open_kept_runs
from mnemoir.chats.conversations import Conversations
from mnemoir.chats.discussions import Discussions
from mnemoir.chats.forgetting import Forgetting
from mnemoir.chats.holdings import conversation_holding, discussion_holding, job_holding, run_holding
from mnemoir.chats.memory_parts import FactMemory
from mnemoir.chats.people import Everybody
from mnemoir.core.errors import SettingsError
from mnemoir.memory.background import Background
from mnemoir.memory.facts.holding import fact_holding
from mnemoir.memory.facts.review.proposal_holding import proposal_holding
from mnemoir.memory.facts.write.retention import FactRetention
from mnemoir.ports.holdings import OpenHolding
from mnemoir.ports.run_store import RunStore
from mnemoir.settings import Settings
from mnemoir.storage.holdings import (
    ACCESS,
    CONVERSATIONS_OF_USERS,
    DISCUSSIONS,
    FACTS,
    JOBS,
    PERSONAL_DATA,
    PROPOSALS,
    RUNS,
    USAGE,
    Holding,
    holdings,
)
from mnemoir.storage.sql.adoptions import Adoptions
from mnemoir.storage.sql.holds import Holds
from mnemoir.storage.sql.people import People
from mnemoir.storage.sqlite import SqliteEngine
from mnemoir.upkeep.adopting import Adoption
from mnemoir.upkeep.encryption import Encryption
from mnemoir.upkeep.retention import RetentionOf
from mnemoir.upkeep.subjects import Subjects


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """What holdings are opened over. `holdings` are those that were opened before, and in the end all."""

    settings: Settings
    database: SqliteEngine
    encryption: Encryption
    access: Access
    spent: Spent
    memory: FactMemory
    conversations: Conversations
    discussions: Discussions
    runs: RunStore
    background: Background
    holds: Holds
    retention: RetentionOf
    holdings: list[OpenHolding] = field(default_factory=list)

    @property
    def everybody(self) -> Everybody:
        """Who has anything in the holdings."""
        return Everybody(People(self.database), self.holdings, self.holds)

    @property
    def forgetting(self) -> Forgetting:
        """Forgetting in all holdings."""
        return Forgetting(conversations=self.conversations, holdings=self.holdings, holds=self.holds)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserData:
    """The open holdings, in the order in which a person is erased, and what goes through them."""

    holdings: list[OpenHolding]
    forgetting: Forgetting
    holds: Holds
    retention: RetentionOf
    subjects: Subjects
    adoption: Adoption


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


def make_user_data(stores: Stores) -> UserData:
    """Open all holdings. Raises SettingsError for one that is opened under another name, or is not declared."""
    declared = [holding.name for holding in holdings()]
    for name in _OPENING.keys() - {*declared}:
        raise SettingsError(f"The holding {name!r} is opened and not registered. Register it.")
    for name in declared:
        if name in _OPENING:
            opened = _OPENING[name](stores)
            if opened.name != name:
                raise SettingsError(f"The holding {name!r} is opened as {opened.name!r}. Give both the same name.")
            stores.holdings.append(opened)
    settings = stores.settings
    return UserData(
        holdings=stores.holdings,
        forgetting=stores.forgetting,
        holds=stores.holds,
        retention=stores.retention,
        subjects=Subjects(
            data_dir=settings.storage.data_dir,
            everybody=stores.everybody,
            holdings=stores.holdings,
            holds=stores.holds,
            encryption=stores.encryption,
            backups_days=settings.retention.backups_days,
        ),
        adoption=Adoption(
            everybody=stores.everybody,
            holdings=stores.holdings,
            begun=Adoptions(stores.database),
            background=stores.background,
            holds=stores.holds,
            why_not=_why_nothing_is_given(settings, stores.encryption),
        ),
    )


opens(JOBS)(lambda stores: job_holding(stores.background))
opens(RUNS)(lambda stores: run_holding(stores.runs, partial(open_kept_runs, stores.settings)))
opens(DISCUSSIONS)(lambda stores: discussion_holding(stores.discussions, stores.conversations))
opens(PERSONAL_DATA)(lambda stores: stores.memory.personal_holding)
opens(ACCESS)(lambda stores: access_holding(stores.access))
opens(USAGE)(lambda stores: usage_holding(stores.spent))


@opens(FACTS)
def _facts(stores: Stores) -> OpenHolding:
    memory = stores.memory
    expire = FactRetention(memory.store, stores.everybody.owners, stores.retention.of).expire
    return fact_holding(memory.facts, memory.store, memory.indexing, memory.recall, memory.packs, expire)


@opens(PROPOSALS)
def _proposals(stores: Stores) -> OpenHolding:
    return proposal_holding(stores.memory.facts.review, stores.memory.store, stores.memory.proposals)


@opens(CONVERSATIONS_OF_USERS)
def _conversations(stores: Stores) -> OpenHolding:
    return conversation_holding(
        stores.conversations,
        stores.forgetting,
        stores.memory.store.owners,
        stores.encryption.is_unreadable,
        embeds=stores.settings.memory.vector_store.enabled,
    )


def _why_nothing_is_given(settings: Settings, encryption: Encryption) -> str | None:
    """Why memories of one user cannot become those of another; None where they can."""
    if encryption.cells is not None:  # also where it was switched off: something may still be encrypted
        return "What is, or was, encrypted belongs to the key of its user and cannot be moved. Export and import it."
    if settings.storage.backend == "file":
        return "Memories in project files cannot be moved: their files name the user. Export and import them."
    return None
