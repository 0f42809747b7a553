"""Tools: typed functions that a model may call.

    @tool(dangerous=True)
    async def send_mail(to: str, text: str) -> str:
        "Send a mail."

The schema is the signature's. A plain function runs in a thread, so that it may block; an `async` one on the loop.
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
    """Something a model may call by name. It can be called like its function as well.

    `parameters` is the JSON schema of its arguments. Without a `signature` they are passed on as the model sent them,
    for functions that check them elsewhere. A `dangerous` one is confirmed by a person first. Of one with the policy
    "exclude", calls and results are part of the run and not of the stored conversation. No `timeout_s` is no limit;
    a plain function that runs out of time is not waited for, and goes on in its thread.
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
        """What the function itself returns."""
        return self.function(*args, **kwargs)

    @property
    def spec(self) -> ToolSpec:
        """The tool as a model is told of it."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as `execute` takes them. Raises InvalidRequest for wrong ones."""
        return dict(arguments) if self.signature is None else self.signature.read(arguments)

    async def execute(self, **arguments: Any) -> Any:
        """What the function returns for arguments that were read. Raises what it raises, and TimeoutError."""
        async with asyncio.timeout(self.timeout_s):
            if _is_async(self.function):
                return await self.function(**arguments)
            result = await asyncio.to_thread(_called, self.function, arguments)
            return await result if inspect.isawaitable(result) else result


class ToolSource(Protocol):
    """Tools that are kept elsewhere, such as those of MCP servers."""

    async def list_tools(self) -> Sequence[Tool]:
        """What it offers now; asked at the beginning of each run."""


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

    Its name and description are the function's own name and docstring where none are given. Raises SettingsError for
    a function whose arguments are not all named and typed.
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
    """A StopIteration cannot leave a thread for a coroutine: the await would never end."""
    try:
        return function(**arguments)
    except StopIteration as exc:
        raise RuntimeError("StopIteration") from exc


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
