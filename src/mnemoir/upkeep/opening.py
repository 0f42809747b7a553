"""What cares for stored data: in the background, and for one user of every kind at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from mnemoir.access.opening import Access
from mnemoir.chats.clock_trust import ClockTrust
from mnemoir.chats.discussions import Discussions
from mnemoir.chats.forgetting import Forgetting
from mnemoir.chats.memory_parts import Memory
from mnemoir.chats.message_vectors import MessageVectors
from mnemoir.chats.opening import Talks
from mnemoir.chats.pruning import Pruning
from mnemoir.chats.stored_amounts import StoredAmounts
from mnemoir.core.owning import Own
from mnemoir.memory.background import Background
from mnemoir.memory.reembedding import Reembedding
from mnemoir.models.model_parts import Models
from mnemoir.ports.holdings import OpenHolding
from mnemoir.ports.jobs import JobQueue
from mnemoir.ports.run_store import RunStore
from mnemoir.settings import Settings
from mnemoir.storage.sql.adoptions import Adoptions
from mnemoir.storage.sql.holds import Holds
from mnemoir.storage.sql.tombstone_rows import TombstoneRows
from mnemoir.upkeep.adopting import Adoption
from mnemoir.upkeep.encryption import Encryption
from mnemoir.upkeep.giving_back import MemoryUpkeep
from mnemoir.upkeep.holdings import Stores, forgetting_in, open_holdings
from mnemoir.upkeep.retention import RetentionOf
from mnemoir.upkeep.subjects import Subjects

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """The background work, and what goes through the list of holdings."""

    encryption: Encryption
    jobs: JobQueue
    background: Background
    holdings: list[OpenHolding]
    forgetting: Forgetting
    holds: Holds
    retention: RetentionOf
    subjects: Subjects
    adoption: Adoption
    pruning: Pruning
    message_vectors: MessageVectors
    reembedding: Reembedding
    further_vectors: Sequence[Reembedding]  # one for each further space
    terms: Reembedding | None  # None for files, whose terms are made anew when they are read
    memory: MemoryUpkeep

    async def start(self) -> None:
        """Start the background work; encryption is started by itself, as it takes what it goes through."""
        await self.adoption.resume()
        if erased := await self.subjects.bring_up_to_date():
            _log.warning("erased people were in a database of before, and were erased again", scopes=erased)
        await self.background.start()
        self.message_vectors.start()
        for filling in (self.reembedding, *self.further_vectors, self.terms):
            if filling is not None:
                filling.start()
        self.pruning.start()
        self.memory.start()


def open_upkeep(
    settings: Settings,
    access: Access,
    models: Models,
    memory: Memory,
    talks: Talks,
    discussions: Discussions,
    runs: RunStore,
    encryption: Encryption,
    trust: ClockTrust,
    own: Own,
) -> Upkeep:
    """Open it over all that keeps anything of a user."""
    conversations, background = talks.conversations, talks.background
    stores = Stores(
        settings=settings,
        encryption=encryption,
        access=access,
        memory=memory,
        talks=talks,
        discussions=discussions,
        runs=runs,
        holds=Holds(memory.database),
        retention=RetentionOf(settings, access.tenants, memory.project_settings),
    )
    open_holdings(stores)
    talks.quotas.count_in(own(StoredAmounts(stores.holdings)))
    adoption = Adoption(
        everybody=stores.everybody,
        holdings=stores.holdings,
        begun=Adoptions(memory.database),
        background=background,
        holds=stores.holds,
        why_not=_reason_not_to_give(settings, encryption),
    )
    return Upkeep(
        encryption=encryption,
        jobs=talks.jobs,
        background=background,
        holdings=stores.holdings,
        forgetting=forgetting_in(stores),
        holds=stores.holds,
        retention=stores.retention,
        subjects=_open_subjects(stores, adoption),
        adoption=adoption,
        message_vectors=own(MessageVectors(conversations, background, talks.waiting, model=models.embedding.name)),
        reembedding=memory.reembedding(background, own),
        further_vectors=memory.further_vectors(background, own),
        terms=memory.terms(background, own),
        memory=own(MemoryUpkeep()),
        pruning=own(Pruning(stores.holdings, settings.memory.auto_prune_days, trust)),
    )


def _open_subjects(stores: Stores, adoption: Adoption) -> Subjects:
    return Subjects(
        data_dir=stores.settings.storage.data_dir,
        everybody=stores.everybody,
        holdings=stores.holdings,
        holds=stores.holds,
        adoption=adoption,
        encryption=stores.encryption,
        rows=TombstoneRows(stores.memory.database),
        backups_days=stores.settings.retention.backups_days,
    )


def _reason_not_to_give(settings: Settings, encryption: Encryption) -> str | None:
    """Why memories of one user cannot become those of another; None where they can."""
    if encryption.cells is not None:  # also where it was switched off: something may still be encrypted
        return "What is, or was, encrypted belongs to the key of its user and cannot be moved. Export and import it."
    if settings.storage.backend == "file":
        return "Memories in project files cannot be moved: their files name the user. Export and import them."
    return None
