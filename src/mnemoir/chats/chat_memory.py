"""The memory of chats: the memory API that they ask, which is this server's own or another's, and its limits."""

from dataclasses import replace
from urllib.parse import urlsplit

import aiohttp

from mnemoir.chats.remembering import Turns
from mnemoir.core.scope import Scope
from mnemoir.memory.facts import Facts
from mnemoir.ports.memory_service import ChatTurn, MemoryService, RecallLimits
from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import ProjectSettingsStore
from mnemoir.ports.recalled import Standing
from mnemoir.privacy.handling import PersonalData
from mnemoir.privacy.policy import PersonalDataRefused
from mnemoir.providers.memory_service import HttpMemoryService
from mnemoir.settings import Settings
from mnemoir.workflows.run import Caller
from mnemoir.workflows.services import ChatMemory

_NO_OWN_LIMIT = 100  # the meaning of a project's searchLimit of 0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def points_here(settings: Settings) -> bool:
    """True when the memory URL names this server's own address and path, as the default does."""
    if "memory.management_url" not in settings.source.given:
        return True
    url = urlsplit(settings.memory.management_url)
    server = settings.server
    return (
        url.hostname in (*_LOOPBACK, server.host)
        and (url.port or 80) == server.port
        and url.path.rstrip("/") == f"{server.root_path}/api/memories"
    )


def open_memory_service(settings: Settings, session: aiohttp.ClientSession) -> HttpMemoryService:
    """The client of the memory API that the settings name; nothing is asked yet."""
    return HttpMemoryService(
        settings.memory.management_url,
        session,
        service_key=_service_key(settings),
        search_timeout_s=settings.memory.search_timeout_s,
    )


def _service_key(settings: Settings) -> str | None:
    key = settings.memory.management_key
    return None if key is None else key.get_secret_value()


def chat_memory(
    settings: Settings,
    service: MemoryService,
    turns: Turns,
    projects: ProjectSettingsStore,
    facts: Facts,
    personal_data: PersonalData,
    standing: Standing,
) -> ChatMemory:
    """What chats recall and keep, within the limits of their project; `standing` is of this server's own memory."""
    is_here = points_here(settings)

    async def allowance(scope: Scope) -> RecallLimits | None:
        own = await projects.load(Project(tenant=scope.tenant, project=scope.project))
        if own.memory_enabled is False:
            return None
        count = settings.memory.search_limit if own.search_limit is None else own.search_limit
        return RecallLimits(
            count=count or _NO_OWN_LIMIT,
            tokens=settings.memory.recall_tokens,
            fact_tokens=settings.memory.recall_fact_tokens,
        )

    async def foreseen(scope: Scope, text: str, zone: str | None) -> list[str]:
        return await facts.foreseen(scope, text, zone) if is_here else []

    async def keep(caller: Caller, turn: ChatTurn) -> str:
        try:
            scope = caller.recorded_scope
            text, answer = await personal_data.texts(scope, [turn.user_text, turn.answer], "facts")
        except PersonalDataRefused:  # only the answer can hold any: the question was looked at before
            return ""
        return await turns.keep(caller, replace(turn, user_text=text, answer=answer))

    return ChatMemory(
        service=service,
        allowance=allowance,
        waiting=turns.waiting,
        keep=keep,
        foreseen=foreseen,
        learn_from=settings.memory.learn_from,
        standing=standing if is_here else None,
    )
