"""Opens all running parts from the settings in one place, and closes them in the reverse order."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from time import monotonic

from mnemoir.access.opening import Access, open_access
from mnemoir.app.workflows import make_workflows
from mnemoir.chats.chat_memory import points_here
from mnemoir.chats.clock_trust import ClockTrust
from mnemoir.chats.memory_parts import Memory, open_memory
from mnemoir.chats.opening import Chats, open_chats, open_talks
from mnemoir.chats.past_file import import_past_file, refuse_other_file
from mnemoir.chats.quotas import Quotas
from mnemoir.core.clock import utc_now
from mnemoir.core.data_directory import CACHE, CONVERSATIONS, DATABASE_FILE, OWN_DISCUSSIONS
from mnemoir.core.owning import Owned
from mnemoir.models.model_parts import Models, open_models
from mnemoir.models.saved_models import open_saved_models
from mnemoir.ports.llm import ChatModel
from mnemoir.providers.http import new_session
from mnemoir.settings import Settings
from mnemoir.storage.databases import DirectoryIdentity, databases
from mnemoir.storage.private_folders import close_folders
from mnemoir.storage.sql.ageing import SqlStamps
from mnemoir.trees.opening import Trees, open_runs, open_trees
from mnemoir.trees.served import open_tree
from mnemoir.upkeep.encryption import Encryption
from mnemoir.upkeep.opening import Upkeep, open_upkeep


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """When the parts were opened, what people are told of it, and what closes them."""

    at: datetime = field(default_factory=utc_now)
    clock: float = field(default_factory=monotonic)  # the same on the clock of `time.monotonic`
    notes: tuple[str, ...] = ()
    closing: AsyncExitStack


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts that HTTP, MCP and the command line use, by room.

    Call `start` before serving, `aclose` at the end.
    """

    settings: Settings
    access: Access
    models: Models
    memory: Memory
    chats: Chats
    trees: Trees
    upkeep: Upkeep
    opened: Opening

    async def start(self) -> None:
        """Start the background work, over folders that are closed to others."""
        await asyncio.to_thread(close_folders, _own_folders(self.settings))
        await self.upkeep.start()
        self.access.start()
        self.upkeep.encryption.start(self.memory.database, self.memory.packs, self.chats.conversations)

    async def aclose(self) -> None:
        """Close all parts, last opened first."""
        await self.opened.closing.aclose()

    @property
    def model(self) -> ChatModel:
        """The language model of now."""
        return self.models.in_use.now()

    @property
    def serves_its_own_memory(self) -> bool:
        """True when the memory URL is that of this server."""
        return points_here(self.settings)


def _own_folders(settings: Settings) -> list[Path]:
    """The folders in the data directory that only Mnemoir fills."""
    return [settings.storage.data_dir / name for name in (CONVERSATIONS, OWN_DISCUSSIONS, CACHE)]


async def open_parts(settings: Settings) -> Parts:
    """Open all parts. Raises SettingsError, StorageUnavailable; parts opened before a failure are closed again."""
    async with AsyncExitStack() as opened:

        def own(part: Owned) -> Owned:
            opened.push_async_callback(part.aclose)
            return part

        await asyncio.to_thread(refuse_other_file, settings)
        served = open_tree(settings)
        session = await opened.enter_async_context(new_session(settings.http.proxies))
        careful = await opened.enter_async_context(new_session(settings.http.proxies, is_careful=True))
        opener = databases(settings.storage.dsn)
        encryption = own(Encryption(settings, opener))
        cells = encryption.cells
        identity = DirectoryIdentity(settings.storage.data_dir, settings.memory.conversations_folder)
        database = own(opener.open_main(settings.storage.data_dir / DATABASE_FILE, cells, identity))
        await encryption.refuse_lost_store(database)
        access = await open_access(settings, careful, opener, database, identity, own)
        kept = own(await asyncio.to_thread(open_saved_models, settings, opener, identity, access.file))
        models = await open_models(settings, served, session, careful, kept, own)
        settings = models.settings
        trust = ClockTrust(SqlStamps(database))
        quotas = Quotas(settings, access.spent, access.tenants.limits_of)
        memory = open_memory(settings, models, access, quotas, database, cells, trust, own)
        talks = open_talks(settings, models, memory, quotas, session, identity, cells, own)
        runs = own(open_runs(settings, opener, cells))
        workflows, discussions, trials = make_workflows(
            settings, served, models, talks, runs, access.spent, session, own
        )
        trees = open_trees(settings, served, workflows, trials, runs)
        upkeep = open_upkeep(settings, access, models, memory, talks, discussions, runs, encryption, trust, own)
        await upkeep.adoption.hide_cut_adoptions()
        chats = open_chats(settings, models, memory, talks, trees, discussions, upkeep.holdings, own)
        past = await import_past_file(
            settings, chats.conversations, chats.imports, trust.stamps, memory.personal_data
        )
        return Parts(
            settings=settings,
            access=access,
            models=models,
            memory=memory,
            chats=chats,
            trees=trees,
            upkeep=upkeep,
            opened=Opening(notes=(str(past),) if past else (), closing=opened.pop_all()),
        )
