"""A tool server that answers in plain sentences, also for an empty result and for a wrong argument.

The library answers a wrong argument with its validator's report, and an empty list with no text at all. Each thing
that is offered names the route that it asks, and is listed for whoever may ask that.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import structlog
from mcp.server import MCPServer
from mcp.server.connection import Connection
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError, UnexpectedToolError
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import DispatchContext
from mcp.shared.exceptions import MCPError
from mcp.shared.transport_context import TransportContext
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    JSONRPCRequest,
    Prompt,
    Resource,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from mnemoir import __version__
from mnemoir.core.errors import MnemoirError, places_of
from mnemoir.mcp.owner import Owner, Route

_log = structlog.get_logger(__name__)
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
FAULT = "The server failed to answer; its log says why."
_LONGEST_SHOWN = 64  # characters of a name that is none
_PROBLEMS = {
    "missing": "is missing",
    "string_type": "must be a text",
    "string_too_short": "must not be empty",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large",
    "unexpected_keyword_argument": "is not known here",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "value_error": "{error}",
}


class PlainServer(MCPServer[Any]):  # Any: its lifespan yields no value
    """The MCP server. `nothing` holds a sentence for each tool whose answer may be an empty list.

    `owner` is whose memories a request is about.
    """

    def __init__(
        self, owner_of: Callable[[], Owner], name: str, *, instructions: str, nothing: Mapping[str, str]
    ) -> None:
        super().__init__(
            name,
            title=name.title(),
            instructions=instructions,
            version=__version__,
            log_level="ERROR",
            subscriptions=False,
        )
        # its own layers report to OpenTelemetry, and seal what a tool asks back: no tool does
        self.middleware.clear()
        self._owner_of = owner_of
        self._nothing = nothing
        self._routes: dict[str, Route] = {}  # by names of tools and prompts, and addresses of resources

    @property
    def owner(self) -> Owner:
        """Whose memories this request is about."""
        return self._owner_of()

    def offer(self, route: Route, annotations: ToolAnnotations) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Offer a function as a tool, which asks the route."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self._routes[function.__name__] = route
            return self.tool(annotations=annotations)(function)

        return register

    def offer_resource(
        self, route: Route, uri: str, *, name: str, title: str
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Offer a function as a resource of plain text, which asks the route."""
        self._routes[uri] = route
        return self.resource(uri, name=name, title=title, mime_type="text/plain")

    def offer_prompt(self, route: Route) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Offer a function as a prompt, which asks the route."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self._routes[function.__name__] = route
            return self.prompt()(function)

        return register

    async def list_tools(self) -> list[Tool]:
        """The tools that the caller may call."""
        return [tool for tool in await super().list_tools() if self._is_for_caller(tool.name)]

    async def list_resources(self) -> list[Resource]:
        """The resources that the caller may read."""
        return [resource for resource in await super().list_resources() if self._is_for_caller(str(resource.uri))]

    async def list_prompts(self) -> list[Prompt]:
        """The prompts that the caller may get."""
        return [prompt for prompt in await super().list_prompts() if self._is_for_caller(prompt.name)]

    def _is_for_caller(self, name: str) -> bool:
        return self.owner.may(self._routes[name])

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """The tool's result. Raises ToolError with a sentence for the model."""
        if name not in self._routes:
            raise ToolError(f"There is no tool {name[:_LONGEST_SHOWN]!r} here. List the tools to see them.")
        try:
            result = await super().call_tool(name, arguments, context)
        except ToolError as exc:
            raise _in_plain_words(exc, await self._arguments_of(name)) from exc
        if isinstance(result, CallToolResult) and not result.content and name in self._nothing:
            result.content = [TextContent(type="text", text=self._nothing[name])]
        return result

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """The prompt with what it asks for. Raises MCPError with a sentence."""
        known = {prompt.name: prompt for prompt in await super().list_prompts()}
        if name not in known:
            told = f"There is no prompt {name[:_LONGEST_SHOWN]!r} here. List the prompts to see them."
            raise MCPError(code=INVALID_PARAMS, message=told)
        for argument in known[name].arguments or ():
            if argument.required and argument.name not in (arguments or {}):
                raise MCPError(code=INVALID_PARAMS, message=f"The argument `{argument.name}` is missing.")
        try:
            return await super().get_prompt(name, arguments, context)
        except MCPError:
            raise
        except Exception as exc:
            raise _prompt_error(exc) from exc

    async def answer(
        self, exchange: DispatchContext[TransportContext], connection: Connection, request: JSONRPCRequest
    ) -> dict[str, Any]:
        """The result of one request that came by itself. Raises MCPError and ValidationError."""
        return await serve_one(
            self._lowlevel_server, exchange, request.method, request.params, connection=connection, lifespan_state={}
        )

    async def _arguments_of(self, name: str) -> str:
        found = [tool for tool in await super().list_tools() if tool.name == name]
        return ", ".join(f"`{argument}`" for tool in found for argument in tool.input_schema["properties"])


def resource_error(exc: MnemoirError) -> ResourceError:
    """The error of a resource, with our message."""
    return ResourceError(exc.message)


def problem_of(error: ErrorDetails) -> str:
    """What is wrong with a value, behind its name."""
    problem = _PROBLEMS.get(error["type"], "has a value that is not taken here")
    return problem.format(**error.get("ctx", {}))


def _in_plain_words(exc: ToolError, arguments: str) -> ToolError:
    """The error with our own message or a sentence per wrong argument; a fault tells its place to the log alone."""
    if isinstance(exc.__cause__, MnemoirError):
        return ToolError(exc.__cause__.message)
    if isinstance(exc.__cause__, ValidationError):
        problems = " ".join(map(_problem, exc.__cause__.errors(include_url=False)))
        return ToolError(f"{problems} Call the tool again; its arguments are {arguments}.")
    if isinstance(exc, UnexpectedToolError):
        _note_fault(exc.__cause__ or exc)
        return ToolError(FAULT)
    return exc


def _prompt_error(exc: Exception) -> MCPError:
    for cause in _causes_of(exc):
        if isinstance(cause, MnemoirError):
            return MCPError(code=INTERNAL_ERROR, message=cause.message)
        if isinstance(cause, ValidationError):
            return MCPError(code=INVALID_PARAMS, message=" ".join(map(_problem, cause.errors(include_url=False))))
    _note_fault(exc)
    return MCPError(code=INTERNAL_ERROR, message=FAULT)


def _causes_of(exc: BaseException | None) -> Iterator[BaseException]:
    while exc is not None:
        yield exc
        exc = exc.__cause__


def _note_fault(exc: BaseException) -> None:
    _log.error("tool failed", kind=type(exc).__name__, where=places_of(exc))


def _problem(error: ErrorDetails) -> str:
    return f"The argument `{'.'.join(map(str, error['loc']))}` {problem_of(error)}."
