"""Tools: typed functions that a model may call.

    @tool(dangerous=True)
    async def send_mail(to: str, text: str) -> str:
        "Send a mail."

The schema comes from the signature. A plain function runs in a thread, so that it may block; an `async` one runs in
the event loop.
"""

import asyncio
import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, overload

from mnemoir.agent.llm import ToolSpec
from mnemoir.agent.signatures import Signature, purpose
from mnemoir.core.errors import SettingsError

MemoryPolicy = Literal["store", "exclude"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that a model may call by name. Python code can call the tool like its function.

    `parameters` is the JSON Schema of its arguments. Without a `signature` the arguments are passed on unchecked, for
    functions that check them elsewhere. A person confirms a `dangerous` tool before it runs. With the policy
    "exclude", calls and results are part of the run but not of the stored conversation. `timeout_s` None means no
    limit; a plain function over its limit is abandoned and goes on in its thread.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]  # a JSON Schema is open by nature
    function: Callable[..., Any]
    signature: Signature | None = None
    dangerous: bool = False
    memory_policy: MemoryPolicy = "store"
    timeout_s: float | None = _TIMEOUT_S

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise SettingsError(f"A tool cannot be named {self.name!r:.80}; use 1 to 64 of A-Z a-z 0-9 _ and -.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself."""
        return self.function(*args, **kwargs)

    @property
    def spec(self) -> ToolSpec:
        """The tool in the JSON form that a model gets."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, checked and converted for `execute`. Raises InvalidRequest for wrong ones."""
        return dict(arguments) if self.signature is None else self.signature.read(arguments)

    async def execute(self, **arguments: Any) -> Any:
        """The function's result for arguments from `read`. Raises what the function raises, and TimeoutError."""
        async with asyncio.timeout(self.timeout_s):
            if _is_async(self.function):
                return await self.function(**arguments)
            result = await asyncio.to_thread(_called, self.function, arguments)
            return await result if inspect.isawaitable(result) else result


class ToolSource(Protocol):
    """A source of further tools, such as MCP servers."""

    async def list_tools(self) -> Sequence[Tool]:
        """The tools that are available now. Called at the start of each run."""


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    dangerous: bool = False,
    memory_policy: MemoryPolicy = "store",
    timeout_s: float | None = _TIMEOUT_S,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None, /, **members: Any
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a function a tool, as `@tool` or `@tool(dangerous=True)`.

    Without `name` and `description` the function's name and docstring are used. Raises SettingsError for a function
    whose arguments are not all named and typed.
    """
    if function is None:
        return lambda given: _made(given, **members)
    return _made(function)


def _made(
    function: Callable[..., Any], *, name: str | None = None, description: str | None = None, **members: Any
) -> Tool:
    called = str(name or getattr(function, "__name__", type(function).__name__))
    signature = Signature(function, called)
    return Tool(
        name=called,
        description=purpose(function) if description is None else description,
        parameters=signature.json_schema,
        function=function,
        signature=signature,
        **members,
    )


def _called(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call the function; a StopIteration becomes a RuntimeError, because a future cannot hold it."""
    try:
        return function(**arguments)
    except StopIteration as exc:
        raise RuntimeError("StopIteration") from exc


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
