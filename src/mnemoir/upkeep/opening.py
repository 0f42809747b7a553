"""What cares for stored data: in the background, and for one user of every kind at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from mnemoir.access.opening import Access
from mnemoir.chats.discussions import Discussions
from mnemoir.chats.kinds import Forgetting, conversation_kind, discussion_kind, job_kind, run_kind
from mnemoir.chats.memory_parts import Memory
from mnemoir.chats.message_vectors import MessageVectors
from mnemoir.chats.opening import Talks
from mnemoir.chats.people import Everybody
from mnemoir.chats.pruning import Pruning
from mnemoir.core.owning import Own
from mnemoir.memory.background import Background
from mnemoir.memory.facts.kind import fact_kind
from mnemoir.memory.facts.review.proposal_kind import proposal_kind
from mnemoir.memory.facts.write.retention import FactRetention
from mnemoir.memory.reembedding import Reembedding
from mnemoir.models.model_parts import Models
from mnemoir.ports.jobs import JobQueue
from mnemoir.ports.memory_kinds import MemoryKind
from mnemoir.ports.run_store import RunStore
from mnemoir.settings import Settings
from mnemoir.storage.sql.holds import Holds
from mnemoir.storage.sql.people import People
from mnemoir.storage.sql.tables import CONVERSATION_TABLES, FACT_TABLES, JOB_TABLES, PROPOSAL_TABLES
from mnemoir.trees.opening import open_kept_runs
from mnemoir.upkeep.adopting import Adoption
from mnemoir.upkeep.encryption import Encryption
from mnemoir.upkeep.retention import RetentionOf
from mnemoir.upkeep.subjects import Subjects


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """The background work, and what goes through the list of memory kinds."""

    encryption: Encryption
    jobs: JobQueue
    background: Background
    kinds: list[MemoryKind]
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

    async def start(self) -> None:
        """Start the background work; encryption is started by itself, as it takes what it goes through."""
        await self.background.start()
        self.message_vectors.start()
        for filling in (self.reembedding, *self.further_vectors, self.terms):
            if filling is not None:
                filling.start()
        self.pruning.start()


def open_upkeep(
    settings: Settings,
    access: Access,
    models: Models,
    memory: Memory,
    talks: Talks,
    discussions: Discussions,
    runs: RunStore,
    encryption: Encryption,
    own: Own,
) -> Upkeep:
    """Open it over all that keeps anything of a user."""
    conversations, background, holds = talks.conversations, talks.background, Holds(memory.database)
    everybody = Everybody(People(memory.database), memory.store, conversations, runs, holds)
    retention = RetentionOf(settings, access.tenants, memory.project_settings)
    kinds = _kinds(settings, memory, talks, discussions, runs, everybody, retention)
    forgetting = Forgetting(conversations=conversations, kinds=kinds, holds=holds)
    return Upkeep(
        encryption=encryption,
        jobs=talks.jobs,
        background=background,
        kinds=kinds,
        forgetting=forgetting,
        holds=holds,
        retention=retention,
        subjects=Subjects(
            data_dir=settings.storage.data_dir,
            everybody=everybody,
            forgetting=forgetting,
            conversations=conversations,
            discussions=discussions,
            runs=runs,
            open_kept_runs=partial(open_kept_runs, settings),
            access=access,
            background=background,
            recall=memory.recall,
            kinds=kinds,
            encryption=encryption,
            backups_days=settings.retention.backups_days,
        ),
        adoption=Adoption(
            everybody=everybody,
            conversations=conversations,
            background=background,
            recall=memory.recall,
            packs=memory.packs,
            holds=holds,
            why_not=_why_nothing_is_given(settings, encryption),
        ),
        message_vectors=own(MessageVectors(conversations, background, talks.waiting, model=models.embedding.name)),
        reembedding=memory.reembedding(background, own),
        further_vectors=memory.further_vectors(background, own),
        terms=memory.terms(background, own),
        pruning=own(Pruning(kinds, conversations.root, settings.memory.auto_prune_days)),
    )


def _kinds(
    settings: Settings,
    memory: Memory,
    talks: Talks,
    discussions: Discussions,
    runs: RunStore,
    everybody: Everybody,
    retention: RetentionOf,
) -> list[MemoryKind]:
    """Every kind of memory, in the order in which a user is forgotten: conversations last."""
    expire = FactRetention(memory.store, everybody.owners, retention.of).expire
    embeds = settings.memory.vector_store.enabled
    return [
        job_kind(talks.background, JOB_TABLES),
        run_kind(runs),
        fact_kind(memory.facts, memory.store, memory.indexing, FACT_TABLES, expire),
        proposal_kind(memory.facts.review, memory.store, memory.proposals, PROPOSAL_TABLES),
        discussion_kind(discussions, talks.conversations),
        memory.personal_kind,
        conversation_kind(talks.conversations, CONVERSATION_TABLES, embeds=embeds),
    ]


def _why_nothing_is_given(settings: Settings, encryption: Encryption) -> str | None:
    """Why memories of one user cannot become those of another; None where they can."""
    if encryption.cells is not None:  # also where it was switched off: something may still be encrypted
        return "What is, or was, encrypted belongs to the key of its user and cannot be moved. Export and import it."
    if settings.storage.backend == "file":
        return "Memories in project files cannot be moved: their files name the user. Export and import them."
    return None
