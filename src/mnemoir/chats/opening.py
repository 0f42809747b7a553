"""Conversations, what is learned from them and what runs beside them: opened before workflows, and after them."""

from dataclasses import dataclass, replace

import aiohttp

from mnemoir.chats import remembering
from mnemoir.chats.chat_memory import chat_memory, open_memory_service, points_here
from mnemoir.chats.conversation_parts import open_conversations, recording_options
from mnemoir.chats.conversations import Conversations
from mnemoir.chats.discussions import Discussions
from mnemoir.chats.imports import Imports
from mnemoir.chats.memory_parts import Memory, eraser, multilingual_of
from mnemoir.chats.message_vectors import WaitingFolders
from mnemoir.chats.past_learning import PastLearning
from mnemoir.chats.past_undoing import PastUndoing
from mnemoir.chats.quotas import Quotas
from mnemoir.chats.recording import Recorder
from mnemoir.chats.remembering import Turns
from mnemoir.chats.standing import standing_lines
from mnemoir.chats.stock import Stock
from mnemoir.chats.titles import Titles, choose_namer
from mnemoir.core.owning import Own
from mnemoir.memory.background import Background
from mnemoir.models.latencies import MemoryTimes, TimedMemory
from mnemoir.models.model_parts import Models
from mnemoir.ports.holdings import OpenHolding
from mnemoir.providers.memory_service import HttpMemoryService
from mnemoir.settings import Settings
from mnemoir.storage.databases import DirectoryIdentity
from mnemoir.storage.sealing.cells import Cells
from mnemoir.storage.sql import SqlJobQueue
from mnemoir.storage.sql.ageing import SqlStamps
from mnemoir.storage.sql.forgetting import ERASE
from mnemoir.storage.sql.imports import SqlImports
from mnemoir.trees.opening import Trees
from mnemoir.workflows.services import ChatMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Talks:
    """What workflows use of chats: stored conversations, and the memory that is asked and taught."""

    conversations: Conversations
    waiting: WaitingFolders
    quotas: Quotas
    jobs: SqlJobQueue
    background: Background
    turns: Turns
    memory: ChatMemory
    memory_service: HttpMemoryService
    times: MemoryTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class Chats:
    """Chats and what is stored of them. Searches in `memory`, which chats ask, are not counted among theirs."""

    conversations: Conversations
    recorder: Recorder
    titles: Titles
    discussions: Discussions
    quotas: Quotas
    stock: Stock
    memory: ChatMemory
    memory_service: HttpMemoryService
    times: MemoryTimes
    imports: Imports


def open_talks(
    settings: Settings,
    models: Models,
    memory: Memory,
    quotas: Quotas,
    session: aiohttp.ClientSession,
    identity: DirectoryIdentity,
    cells: Cells | None,
    own: Own,
) -> Talks:
    """Open what workflows use; `cells` encrypt conversations. Raises SettingsError and StorageUnavailable."""
    service, times = open_memory_service(settings, session), MemoryTimes()
    timed = TimedMemory(service, times, writes=not points_here(settings))
    jobs, waiting = SqlJobQueue(memory.database), WaitingFolders()
    multilingual = multilingual_of(settings, models.spaces)
    conversations = own(
        open_conversations(settings, models, multilingual, memory.database, waiting, quotas.ask, identity, cells)
    )
    handlers = {remembering.KIND: remembering.rememberer(timed), ERASE: eraser(memory.database)}
    background = own(Background(jobs, handlers))
    turns = Turns(background, conversations)
    return Talks(
        conversations=conversations,
        waiting=waiting,
        quotas=quotas,
        jobs=jobs,
        background=background,
        turns=turns,
        memory=chat_memory(
            settings,
            timed,
            turns,
            memory.project_settings,
            memory.facts,
            memory.personal_data,
            standing_lines(settings, models, memory, conversations),
        ),
        memory_service=service,
        times=times,
    )


def open_chats(
    settings: Settings,
    models: Models,
    memory: Memory,
    talks: Talks,
    trees: Trees,
    discussions: Discussions,
    holdings: list[OpenHolding],
    own: Own,
) -> Chats:
    """Open what records chats that workflows answer. Raises SettingsError for an endpoint of titles not there."""
    conversations, quotas = talks.conversations, talks.quotas
    namer = choose_namer(settings, models.in_use, trees.served, trees.trials, quotas)
    titles = own(Titles(conversations, namer, quotas))
    options = recording_options(settings)
    return Chats(
        conversations=conversations,
        recorder=own(
            Recorder(conversations, trees.workflows, talks.turns, trees.runs, options, titles, memory.personal_data)
        ),
        titles=titles,
        discussions=discussions,
        quotas=quotas,
        stock=own(Stock(settings, holdings, conversations.damaged_files, SqlStamps(memory.database))),
        memory=replace(talks.memory, service=talks.memory_service),
        memory_service=talks.memory_service,
        times=talks.times,
        imports=open_imports(settings, memory, talks, own),
    )


def open_imports(settings: Settings, memory: Memory, talks: Talks, own: Own) -> Imports:
    """Open what was brought in from other programs, and what learns from it."""
    rows = SqlImports(memory.database)
    learning = own(
        PastLearning(
            rows,
            talks.conversations,
            talks.background,
            talks.quotas,
            memory.facts,
            memory.project_settings,
            is_here=points_here(settings),
        )
    )
    undoing = PastUndoing(rows, talks.conversations, talks.background, memory.facts, memory.store, memory.proposals)
    return Imports(rows, talks.conversations, learning, undoing)
