"""The checks of `doctor`. Each takes the settings, inspects one thing, changes nothing and returns one finding."""

import asyncio
import os
import shutil
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiohttp

from mnemoir.app import logs
from mnemoir.cli.connection import is_mnemoir
from mnemoir.cli.diagnosis.file_checks import (
    Check,
    Finding,
    check_conversations,
    check_discussions,
    check_keys,
    check_tree,
    joined_complaints,
)
from mnemoir.cli.diagnosis.issuer_checks import issuer_checks
from mnemoir.cli.diagnosis.proxy_checks import check_proxies
from mnemoir.core.errors import MnemoirError, ProviderError, SettingsError, StorageUnavailable
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.providers.http import new_session
from mnemoir.settings import Settings, load_settings
from mnemoir.storage.private_folders import is_open_to_others
from mnemoir.trees.served import with_tree_settings

MIB = 1024 * 1024
_LITTLE_SPACE = 200 * MIB


async def check_all(config: Path | None, given: Mapping[str, object]) -> Sequence[Finding]:
    """All findings, each after those it depends on. Wrong settings give one finding and end the checks.

    `given` are settings by key that override all others; None means not given.
    """
    try:
        settings = load_settings(config, given)
    except SettingsError as exc:
        to_do = "Correct them; see docs/settings.md."
        return [Finding(check="settings", state="fail", found=exc.message, to_do=to_do)]
    logs.set_up(settings.log.model_copy(update={"level": "warning"}))
    with suppress(SettingsError):  # errors of the config tree, which has its own check
        settings = with_tree_settings(settings)
    return [await check(settings) for check in _checks_of(settings)]


def _checks_of(settings: Settings) -> Sequence[Check]:
    workspace = [check_workspace] if settings.storage.backend == "file" else []
    tree = [check_tree] if settings.workflows.config_dir is not None else []
    stored = [
        check_directory,
        check_losses,
        *workspace,
        check_database,
        *([check_key_store] if settings.encryption.store_dsn is not None else []),
        *tree,
        check_discussions,
        check_conversations,
        check_keys,
    ]
    proxies = [] if settings.http.proxies.are_none else [check_proxies]
    return [check_settings, *stored, *issuer_checks(settings), check_model, check_embedder, *proxies, check_port]


async def check_settings(settings: Settings) -> Finding:
    """Check that the server would start with these settings."""
    from mnemoir.cli.serve import server_options
    from mnemoir.server.door.options import check_exposure

    try:
        check_exposure(server_options(settings))
    except SettingsError as exc:
        return Finding(check="settings", state="fail", found=exc.message, to_do="Set a key, or listen on 127.0.0.1.")
    if settings.warnings:
        found = " ".join(settings.warnings)
        return Finding(check="settings", state="warn", found=found, to_do="Correct the value.")
    return Finding(
        check="settings", state="ok", found=str(settings.source.file or "no file: defaults and environment")
    )


async def check_directory(settings: Settings) -> Finding:
    """Check that the data directory is writable and private to this user."""
    path = settings.storage.data_dir
    finding = _writable("data directory", path, "Make it writable, or name another with --data-dir.")
    if finding.state == "ok" and is_open_to_others(path):
        found, to_do = f"{path}: others may read it", f"chmod 700 {path}"
        return Finding(check="data directory", state="warn", found=found, to_do=to_do)
    return finding


async def check_losses(settings: Settings) -> Finding:
    """Check that no database is missing, empty or of another directory."""
    from mnemoir.upkeep.losses import losses_in

    try:
        lost = await asyncio.to_thread(losses_in, settings)
    except StorageUnavailable as exc:
        return Finding(check="identity", state="fail", found=exc.message, to_do="Look at the disk.")
    if lost:
        to_do = "Do what it says; see docs/storage.md."
        return Finding(check="identity", state="fail", found=joined_complaints([*lost.values()]), to_do=to_do)
    return Finding(check="identity", state="ok", found="every database that was made is there")


async def check_workspace(settings: Settings) -> Finding:
    """Check that the workspace is writable and its project files are readable."""
    path = settings.storage.workspace_root
    finding = _writable("workspace", path, "Make it writable, or name another as WORKSPACE_ROOT.")
    damaged = _damaged_projects(path) if finding.state == "ok" else ""
    if damaged:
        to_do = "Repair the file, or put a backup in its place; see docs/storage.md."
        return Finding(check="workspace", state="fail", found=f"{path}: {damaged}", to_do=to_do)
    return finding


async def check_database(settings: Settings) -> Finding:
    """Check the schema and the integrity of the database."""
    from mnemoir.core.data_directory import DATABASE_FILE
    from mnemoir.storage.databases import ON_A_WARNING, databases

    database, path = databases(settings.storage.dsn), settings.storage.data_dir / DATABASE_FILE
    if settings.storage.dsn is None and not path.exists():
        return Finding(check="database", state="ok", found="none yet; the first start makes it")
    try:
        problems = database.problems(path)
    except StorageUnavailable as exc:
        to_do = "Export with the program that made it, or choose another directory with --data-dir."
        if settings.storage.dsn is not None:
            to_do = "Start the database, or correct storage.postgres.dsn."
        return Finding(check="database", state="fail", found=exc.message, to_do=to_do)
    except SettingsError as exc:
        return Finding(check="database", state="fail", found=exc.message, to_do="Install it.")
    if settings.storage.dsn is not None and problems:
        return Finding(check="database", state="warn", found=problems, to_do=ON_A_WARNING)
    if settings.storage.dsn is not None:
        return Finding(check="database", state="ok", found="the PostgreSQL database answers")
    if problems:
        to_do = "Stop the server, keep a copy of the file, and restore a backup; see docs/storage.md."
        return Finding(check="database", state="fail", found=f"{path}: {problems}", to_do=to_do)
    return Finding(check="database", state="ok", found=f"{path}, {path.stat().st_size // 1024} KiB, whole")


async def check_key_store(settings: Settings) -> Finding:
    """Check that the database of the wrapped keys answers, and is no part of what a copy of the data holds."""
    from mnemoir.storage.databases import are_in_one_cluster, key_store

    chosen, data = settings.encryption, settings.storage.dsn
    try:
        key_store(Path(), chosen.store_dsn).exists()
        is_beside = data is not None and chosen.store_dsn is not None and are_in_one_cluster(data, chosen.store_dsn)
    except (StorageUnavailable, SettingsError) as exc:
        to_do = "Start the database, or correct encryption.store."
        return Finding(check="key store", state="fail", found=exc.message, to_do=to_do)
    if is_beside:
        found = "it lies in the cluster of the memories, so a copy of its files holds the keys beside what they open"
        to_do = "Move it to a database of another cluster, or to a file; see docs/encryption.md."
        return Finding(check="key store", state="warn", found=found, to_do=to_do)
    return Finding(check="key store", state="ok", found="the PostgreSQL database answers")


async def check_model(settings: Settings) -> Finding:
    """Check that a model is chosen and its server answers."""
    from mnemoir.models.model_in_use import chat_url
    from mnemoir.models.reaching import plain_url, reach_model
    from mnemoir.models.roles import ChatRole
    from mnemoir.models.saved_models import saved_models_of

    async with _sessions(settings) as (session, careful):
        try:
            async with saved_models_of(settings) as kept:
                chosen = await ChatRole(settings, session, careful, kept).open()
        except (SettingsError, StorageUnavailable) as exc:
            to_do = "Do what it says; see docs/models.md."
            return Finding(check="model", state="fail", found=exc.message, to_do=to_do)
        reached = await reach_model(chosen)
    url, llm = chat_url(chosen), chosen.settings.llm
    place = "" if url is None else f" at {plain_url(url)}"
    if chosen.model.provider == "offline" and llm.provider == "auto" and llm.api_key is None:
        place = f", as no Ollama with a model answers at {plain_url(llm.ollama_url)}"
    told_of = f": {reached.found}" if reached.found else ""
    found = f"{chosen.model.name} ({chosen.model.provider}){place}{told_of}"
    return Finding(check="model", state=reached.state, found=found, to_do=reached.to_do)


async def check_embedder(settings: Settings) -> Finding:
    """Check that the embedding model can embed a text, and the multilingual one if it is on."""
    from mnemoir.models.choice import choose_multilingual
    from mnemoir.models.roles import EmbeddingRole
    from mnemoir.models.saved_models import saved_models_of

    try:
        async with _sessions(settings) as (session, careful), saved_models_of(settings) as kept:
            opened = await EmbeddingRole(settings, session, careful, kept).open()
            settings = opened.settings
            found = await _embed_once(opened.model)
    except (
        ProviderError,
        SettingsError,
        StorageUnavailable,
        ImportError,
    ) as exc:  # ImportError: an extra that is not installed
        to_do = "Correct the embedding settings; until then, search matches words only."
        return Finding(check="embedder", state="fail", found=f"{settings.embedding.provider}: {exc}", to_do=to_do)
    multilingual = choose_multilingual(settings)
    if multilingual is not None:
        try:
            found = f"{found}; {await _embed_once(multilingual)}"
        except ProviderError as exc:
            to_do = "Install Mnemoir again; until then only English is searched by meaning."
            return Finding(check="embedder", state="warn", found=f"{found}; {exc}", to_do=to_do)
    return Finding(check="embedder", state="ok", found=found)


async def _embed_once(embedding: EmbeddingModel) -> str:
    try:
        await embedding.embed([Passage(text="Is anybody there?")])
        return f"{embedding.name}, {embedding.dimension} dimensions"
    finally:
        await embedding.aclose()


async def check_port(settings: Settings) -> Finding:
    """Check that the port is free or a Mnemoir server uses it."""
    server = settings.server
    async with new_session() as session:
        try:
            if await is_mnemoir(server.url, session):
                return Finding(check="port", state="ok", found=f"a Mnemoir is running at {server.url}")
        except MnemoirError as exc:
            return Finding(check="port", state="fail", found=exc.message, to_do="Choose another with --port.")
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((server.host, server.port))
        except OSError as exc:
            found = f"{server.host}:{server.port}: {exc.strerror}"
            return Finding(check="port", state="fail", found=found, to_do="Choose another with --port.")
    return Finding(check="port", state="ok", found=f"{server.host}:{server.port} is free")


@asynccontextmanager
async def _sessions(settings: Settings) -> AsyncIterator[tuple[aiohttp.ClientSession, aiohttp.ClientSession]]:
    """The sessions for addresses of the settings, and for those that were typed in."""
    proxies = settings.http.proxies
    async with new_session(proxies) as session, new_session(proxies, is_careful=True) as careful:
        yield session, careful


def _writable(check: str, path: Path, to_do: str) -> Finding:
    """The finding about a directory: it exists or can be created, and has free space."""
    place = next(candidate for candidate in (path, *path.parents) if candidate.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        return Finding(check=check, state="fail", found=f"{place} cannot be written", to_do=to_do)
    free = shutil.disk_usage(place).free
    found = f"{path}{'' if place == path else ', will be made'}, {free // MIB} MiB free"
    if free < _LITTLE_SPACE:
        return Finding(check=check, state="warn", found=found, to_do="Free some space.")
    return Finding(check=check, state="ok", found=found)


def _damaged_projects(root: Path) -> str:
    """The reasons why project files cannot be read; "" when all can."""
    from mnemoir.storage.files.project_file import ProjectFile
    from mnemoir.storage.files.workspace import projects

    complaints = []
    try:
        for project in projects(root):
            try:
                ProjectFile(root, project).read()
            except StorageUnavailable as exc:
                complaints.append(exc.message)
    except StorageUnavailable as exc:
        return exc.message
    return joined_complaints(complaints)
