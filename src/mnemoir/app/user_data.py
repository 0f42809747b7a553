"""What is done with all that is stored of a user, of every kind: counted, kept for a time, given away, erased."""

from dataclasses import dataclass
from functools import partial

from mnemoir.access.opening import Access
from mnemoir.access.spent import Spent
from mnemoir.app.memory_parts import FactMemory
from mnemoir.app.workflows import open_kept_runs
from mnemoir.chats.conversations import Conversations
from mnemoir.chats.discussions import Discussions
from mnemoir.chats.kinds import Forgetting, conversation_kind, discussion_kind, job_kind, run_kind
from mnemoir.chats.people import Everybody
from mnemoir.memory.background import Background
from mnemoir.memory.facts.kind import fact_kind
from mnemoir.memory.facts.review.proposal_kind import proposal_kind
from mnemoir.memory.facts.write.retention import FactRetention
from mnemoir.ports.memory_kinds import MemoryKind
from mnemoir.ports.run_store import RunStore
from mnemoir.settings import Settings
from mnemoir.storage.sql.holds import Holds
from mnemoir.storage.sql.people import People
from mnemoir.storage.sql.tables import CONVERSATION_TABLES, FACT_TABLES, JOB_TABLES, PROPOSAL_TABLES
from mnemoir.storage.sqlite import SqliteEngine
from mnemoir.upkeep.adopting import Adoption
from mnemoir.upkeep.encryption import Encryption
from mnemoir.upkeep.retention import RetentionOf
from mnemoir.upkeep.subjects import Subjects


@dataclass(frozen=True, slots=True, kw_only=True)
class UserData:
    """Goes through the list of memory kinds."""

    kinds: list[MemoryKind]
    forgetting: Forgetting
    holds: Holds
    retention: RetentionOf
    subjects: Subjects
    adoption: Adoption


def make_user_data(
    settings: Settings,
    *,
    database: SqliteEngine,
    encryption: Encryption,
    access: Access,
    spent: Spent,
    memory: FactMemory,
    conversations: Conversations,
    discussions: Discussions,
    runs: RunStore,
    background: Background,
) -> UserData:
    """Build it over all that keeps anything of a user."""
    holds = Holds(database)
    everybody = Everybody(People(database), memory.store, conversations, runs, holds)
    retention = RetentionOf(settings, access.tenants, memory.project_settings)
    kinds = [
        job_kind(background, JOB_TABLES),
        run_kind(runs),
        _facts(memory, everybody, retention),
        proposal_kind(memory.facts.review, memory.store, memory.proposals, PROPOSAL_TABLES),
        discussion_kind(discussions, conversations),
        memory.personal_kind,
        conversation_kind(conversations, CONVERSATION_TABLES, embeds=settings.memory.vector_store.enabled),
    ]
    forgetting = Forgetting(conversations=conversations, kinds=kinds, holds=holds)
    subjects = Subjects(
        data_dir=settings.storage.data_dir,
        everybody=everybody,
        forgetting=forgetting,
        conversations=conversations,
        discussions=discussions,
        runs=runs,
        open_kept_runs=partial(open_kept_runs, settings),
        access=access,
        spent=spent,
        background=background,
        recall=memory.recall,
        kinds=kinds,
        encryption=encryption,
        backups_days=settings.retention.backups_days,
    )
    adoption = Adoption(
        everybody=everybody,
        conversations=conversations,
        background=background,
        recall=memory.recall,
        packs=memory.packs,
        holds=holds,
        why_not=_why_nothing_is_given(settings, encryption),
    )
    return UserData(
        kinds=kinds,
        forgetting=forgetting,
        holds=holds,
        retention=retention,
        subjects=subjects,
        adoption=adoption,
    )


def _facts(memory: FactMemory, everybody: Everybody, retention: RetentionOf) -> MemoryKind:
    expire = FactRetention(memory.store, everybody.owners, retention.of).expire
    return fact_kind(memory.facts, memory.store, memory.indexing, FACT_TABLES, expire)


def _why_nothing_is_given(settings: Settings, encryption: Encryption) -> str | None:
    """Why memories of one user cannot become those of another; None where they can."""
    if encryption.cells is not None:  # also where it was switched off: something may still be encrypted
        return "What is, or was, encrypted belongs to the key of its user and cannot be moved. Export and import it."
    if settings.storage.backend == "file":
        return "Memories in project files cannot be moved: their files name the user. Export and import them."
    return None
