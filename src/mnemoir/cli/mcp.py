"""`mnemoir mcp`: offers memory as MCP tools to an agent, over standard input and output."""

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from mnemoir.cli.output import Config, Project, Url, User, print_json
from mnemoir.cli.session import Session, run
from mnemoir.core.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Any

    from mcp.server import MCPServer


def mcp(
    user: User = "user",
    project: Project = None,
    url: Url = None,
    config: Config = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the tools as JSON, and end.")] = False,
) -> None:
    """Offer a server's memory as MCP tools: find, list, add, change and delete memories, search conversations."""
    session = Session(config=config, url=url, project=project)
    if as_json:
        print_json({"tools": run(_tool_descriptions(session, user))})
        return
    run(_serve(session, user))


async def _serve(session: Session, user: str) -> None:
    async with _tools(session, user) as tools:
        await tools.run_stdio_async()


async def _tool_descriptions(session: Session, user: str) -> "list[Any]":
    async with _tools(session, user) as tools:
        return [tool.model_dump(mode="json", exclude_none=True, by_alias=True) for tool in await tools.list_tools()]


@asynccontextmanager
async def _tools(session: Session, user: str) -> "AsyncIterator[MCPServer]":
    """The tools over a server that may start later.

    The data directory is never opened here, because the agent's process would own it for its whole life.
    """
    try:
        from mnemoir.mcp import tool_server
    except ModuleNotFoundError as exc:
        raise SettingsError("MCP is not installed. Run: pip install 'mnemoir[mcp]'") from exc
    from mnemoir.cli.connection import connect_on_demand
    from mnemoir.settings import load_settings

    settings = load_settings(session.config, {})
    page = (session.url or settings.server.page_url).rstrip("/")
    async with connect_on_demand(settings, url=session.url, caller="mcp") as server:
        yield tool_server(server, user=user, project=session.project, page=page)
