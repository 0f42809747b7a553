"""`mnemoir serve`: reads the settings, opens the parts, prints the start lines and serves until it is stopped."""

import gc
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemoir.cli.output import Config, Json, note, print_json, print_row
from mnemoir.cli.process import close_to_others, raise_file_limit
from mnemoir.cli.start_line import (
    Concurrency,
    ConcurrencyLevel,
    ConcurrencyTimeout,
    DiscussionDirectory,
    LockDirectory,
    PublicDirectory,
    ServeCommand,
    StartLine,
    folder,
)
from mnemoir.core import first_use

if TYPE_CHECKING:
    from mnemoir.app import Parts
    from mnemoir.server.door.options import ServerOptions
    from mnemoir.settings import Settings

_FEWEST_FILES = 128  # databases, the log, and a few connections
# container objects that may be new before Python looks for garbage among them; every few chats by default
_BETWEEN_COLLECTIONS = 5000
_MOST_TOLD = 20  # problems of a config tree that the start prints

ConfigDirectory = Annotated[Path | None, typer.Argument(help="The same as --config-dir.", show_default=False)]
UserName = Annotated[str | None, typer.Argument(help="The same as --user.", show_default=False)]
Host = Annotated[
    str | None,
    typer.Option("--host", "--listen", help="Address to listen on; 127.0.0.1 unless set. --listen alone: all."),
]
Port = Annotated[int | None, typer.Option(help="Port to listen on; else the user's, else 6060.", min=0, max=65535)]
DataDir = Annotated[Path | None, typer.Option(help="Directory that holds the memories.")]
ConfigDir = Annotated[
    Path | None,
    typer.Option("--config-dir", "--ConfigDirectory", help="Config tree: its Public or Configs folder."),
]
User = Annotated[
    list[str] | None,
    typer.Option("--user", "--User", help="User of the tree to serve; repeat it to serve several."),
]
LoggingDir = Annotated[
    str | None,
    typer.Option("--logging-dir", "--LoggingDirectory", help="Folder for a log file; <user> in it is the user."),
]
FileLogging = Annotated[bool, typer.Option("--file-logging", help="Log to a file in the tree's logs.")]
AllowUnauthenticated = Annotated[
    bool, typer.Option("--allow-unauthenticated", help="Listen beyond this machine without any key.")
]


def serve(
    config_directory: ConfigDirectory = None,
    user_name: UserName = None,
    host: Host = None,
    port: Port = None,
    data_dir: DataDir = None,
    config_dir: ConfigDir = None,
    user: User = None,
    logging_dir: LoggingDir = None,
    file_logging: FileLogging = False,
    config: Config = None,
    allow_unauthenticated: AllowUnauthenticated = False,
    public_directory: PublicDirectory = None,
    discussion_directory: DiscussionDirectory = None,
    lock_directory: LockDirectory = None,
    concurrency: Concurrency = None,
    concurrency_timeout: ConcurrencyTimeout = None,
    concurrency_level: ConcurrencyLevel = None,
    as_json: Json = False,
) -> None:
    """Serve until interrupted."""
    gc.disable()  # objects of the start stay alive, and collecting garbage among them takes a seventh of the start
    with first_use.hide("rich"):  # with which structlog draws tracebacks, and `logs` writes plain ones
        import structlog  # noqa: F401
    from mnemoir.settings import load_settings

    start_line = StartLine(
        public_directory=folder(public_directory),
        discussion_directory=folder(discussion_directory),
        lock_directory=folder(lock_directory),
        concurrency=concurrency,
        concurrency_timeout_s=concurrency_timeout,
        concurrency_level=concurrency_level,
    )
    named = config_dir or _directory_or_none(config_directory)
    overrides = {
        "server.host": host,
        "server.port": port,
        "server.allow_unauthenticated": allow_unauthenticated or None,
        "storage.data_dir": data_dir,
        "workflows.config_dir": named or start_line.public_directory,
        "workflows.users": [name for name in (user or [user_name or ""]) if name.strip()] or None,
        **start_line.settings(),
    }
    settings = load_settings(config, overrides)
    raise_file_limit(_FEWEST_FILES)

    from mnemoir.app import logs  # imported after the settings, so that a wrong one is reported at once
    from mnemoir.server import run
    from mnemoir.storage.private_folders import is_open_to_others
    from mnemoir.trees.served import with_tree_settings

    settings = with_tree_settings(settings, logging_dir=logging_dir, file_logging=file_logging)
    logs.set_up(settings.log, directory=settings.log.directory)
    for warning in (*settings.warnings, *start_line.without_effect(named)):
        note(f"Warning: {warning}")
    if is_open_to_others(settings.storage.data_dir):
        note(f"Warning: other users of this machine may read {settings.storage.data_dir}. Run `chmod 700` on it.")
    run(_serve(settings, as_json=as_json))


def _directory_or_none(directory: Path | None) -> Path | None:
    """The directory; None for a blank argument, which launch scripts pass."""
    return directory if directory is not None and str(directory).strip() else None


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(cls=ServeCommand)(serve)


async def _serve(settings: "Settings", *, as_json: bool) -> None:
    """Run the server. The address is bound before anything is opened, because that fails most often."""
    from mnemoir.app import open_parts
    from mnemoir.server import check_exposure, create_app
    from mnemoir.server import serve as serve_app
    from mnemoir.server.run import bind

    if not settings.server.debug_process:
        close_to_others()
    options = server_options(settings)
    options = replace(options, has_stored_keys=_has_keys(settings))
    check_exposure(options)
    with bind(options.host, options.port) as listener:
        parts = await open_parts(settings)
        try:
            app = create_app(parts, options)
            listener.listen()  # from here on clients wait instead of being refused
            print_facts(facts_of(parts, listener.getsockname()[1]), as_json=as_json)
            for line in parts.opened.notes:
                note(line)
            _tell_problems(settings)
            await parts.start()
            # objects made so far stay alive: freezing them saves repeated collections, a fifth of a chat's time
            gc.freeze()
            gc.set_threshold(_BETWEEN_COLLECTIONS)
            gc.enable()
            sys.dont_write_bytecode = True  # on a full disk Python cuts the file, and no later start could read it
            await serve_app(app, options, listener=listener)
        finally:
            await parts.aclose()


def _has_keys(settings: "Settings") -> bool:
    """Whether keys were made for the data directory, or issuers say who calls; makes nothing there."""
    from mnemoir.access.access_file import AccessFile
    from mnemoir.access.api_keys import ApiKeys

    if settings.auth.has_issuers:
        return True
    with closing(AccessFile(settings)) as file:
        return ApiKeys(file).are_required(is_local=False)


def _tell_problems(settings: "Settings") -> None:
    """Print the problems of the config tree; the rest of the tree is served nevertheless."""
    from mnemoir.trees.served import problems_of

    problems = problems_of(settings)
    for problem in problems[:_MOST_TOLD]:
        note(f"{problem.level.capitalize()}: {problem.file} {problem.path}: {problem.cause} {problem.fix}")
    if len(problems) > _MOST_TOLD:
        more = len(problems) - _MOST_TOLD
        note(f"{more} more; `mnemoir check --config-dir {settings.workflows.config_dir}` lists all.")


def server_options(settings: "Settings") -> "ServerOptions":
    """The options of the server room from the settings; the admin key is one of the API keys too."""
    from mnemoir.server.door.options import MIB, ServerOptions

    server, memory = settings.server, settings.memory
    keys = [*server.api_keys, *([server.admin_api_key] if server.admin_api_key else [])]
    return ServerOptions(
        host=server.host,
        port=server.port,
        public_url=server.public_url,
        root_path=server.root_path,
        api_keys=[key.get_secret_value() for key in keys],
        admin_api_key=server.admin_api_key.get_secret_value() if server.admin_api_key else None,
        allow_unauthenticated=server.allow_unauthenticated,
        allowed_hosts=server.allowed_hosts,
        cors_origins=server.cors_origins,
        session_headers=server.session_headers,
        session_fields=server.session_fields,
        max_body_bytes=server.max_body_mib * MIB,
        trusted_proxies=server.trusted_proxies,
        rate_limits=settings.limits.sizes,
        most_connections=server.most_connections,
        most_active_chats=server.most_active_chats,
        request_deadline_s=server.request_deadline_s,
        heartbeat_s=server.heartbeat_s,
        resume_s=server.resume_s,
        metrics=server.metrics,
        docs=server.docs,
        default_project=memory.default_project,
        decay_days=memory.decay_days,
        search_limit=memory.search_limit,
        review=memory.review,
    )


def facts_of(parts: "Parts", port: int) -> Mapping[str, str]:
    """The facts printed at the start, by name: addresses, folders, model, and a command to try."""
    settings = parts.settings
    server = settings.server.model_copy(update={"port": port})
    url = server.url
    model, said = (
        "mnemoir",
        '"memoryEnabled": true, "messages": [{"role": "user", "content": "I am allergic to nuts."}]',
    )
    tree = {}
    if parts.trees.workflows.serves_tree:
        users = parts.trees.workflows.users
        tree = {"workflows": f"{settings.workflows.config_dir} for {', '.join(users)}"}
        model = next(iter(parts.trees.workflows.model_names()), users[0])
        said = '"messages": [{"role": "user", "content": "Hello."}]'
    keys = settings.server.api_keys or settings.server.admin_api_key
    key = " -H 'Authorization: Bearer YOUR_KEY'" if keys else ""
    return {
        "url": url,
        "ui": f"{server.page_url}/",
        "data": str(settings.storage.data_dir),
        **tree,
        "model": f"{parts.model.name} ({parts.model.provider})",
        "embedder": parts.models.embedding.name,
        "try": f'curl {url}/v1/chat/completions{key} -d \'{{"model": "{model}", {said}}}\'',
    }


def print_facts(facts: Mapping[str, str], *, as_json: bool) -> None:
    """Print the start lines of the server, or one JSON object."""
    if as_json:
        print_json(facts)
        return
    print_row(f"Mnemoir serves on {facts['url']}")
    for name, value in facts.items():
        if name != "url":
            print_row(f"{name:<9}", value)
