"""Tools: typed functions that a model may call.

Types, defaults and limits are those of the signature (`Annotated[int, Field(ge=1)]` works); descriptions come from a
Field, or from the docstring's `Args:`.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from mnemoir.agent.llm import ToolSpec
from mnemoir.core.errors import InvalidRequest, SettingsError

_NO_KEYWORD = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
)
_SECTION = re.compile(r"^(?:Args|Arguments|Parameters|Returns|Yields|Raises|Examples?|Notes?):\s*$", re.MULTILINE)
_ARGUMENT = re.compile(r"^(?P<name>\w+)\s*(?:\([^)]*\))?:\s*(?P<text>.*)$")
MemoryPolicy = Literal["store", "exclude"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TIMEOUT_S = 120.0


class Signature:
    """The named arguments of a function. Raises SettingsError for a function that cannot be a tool."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._names = tuple(_parameters(function, name))
        try:
            self._model = _arguments_model(function, self._names)
            self.json_schema = self._model.model_json_schema(schema_generator=_Schema)
        except (PydanticUserError, NameError, TypeError) as exc:
            raise SettingsError(
                f"The tool {name!r} has an argument of a type that JSON cannot say; use plain types: {exc}"
            ) from exc
        self.json_schema.pop("title", None)

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, converted to the types of the signature; arguments that were not given stay out.

        Raises InvalidRequest that names every wrong argument.
        """
        try:
            read = self._model.model_validate(dict(arguments))
        except ValidationError as exc:
            raise InvalidRequest(_faults(exc)) from exc
        return {name: getattr(read, f"argument_{at}") for at, name in enumerate(self._names) if _is_given(read, at)}


def purpose(function: Callable[..., Any]) -> str:
    """The docstring's text before its sections, as one paragraph; "" without a docstring."""
    text = _SECTION.split(inspect.getdoc(_annotated_function(function)) or "", maxsplit=1)[0]
    return " ".join(text.split())


class _Schema(GenerateJsonSchema):
    """Schema generator without titles, and without warnings about defaults that JSON cannot express."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.ignored_warning_kinds = {"non-serializable-default", "skipped-choice"}

    def field_title_should_be_set(self, schema: Any) -> bool:  # the types are internal to pydantic
        return False


def _annotated_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that holds annotations and docstring: inside a partial, or the `__call__` of a callable object."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) or inspect.isclass(function) else type(function).__call__


def _parameters(function: Callable[..., Any], name: str) -> Iterator[str]:
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in _NO_KEYWORD:
            raise SettingsError(f"The tool {name!r} takes {parameter}; a tool's arguments are all passed by name.")
        if parameter.annotation is inspect.Parameter.empty:
            raise SettingsError(f"The tool {name!r} has no type annotation for {parameter.name!r}; annotate it.")
        yield parameter.name


def _arguments_model(function: Callable[..., Any], names: tuple[str, ...]) -> type[BaseModel]:
    """A pydantic model of the arguments. Its fields are numbered, because an argument may be named `json` or `_x`."""
    hints = get_type_hints(_annotated_function(function), include_extras=True)
    described = dict(_argument_descriptions(_annotated_function(function)))
    parameters = inspect.signature(function).parameters
    fields: dict[str, Any] = {
        f"argument_{at}": (
            hints.get(name, parameters[name].annotation),
            _field(parameters[name], described.get(name)),
        )
        for at, name in enumerate(names)
    }
    return create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)


def _field(parameter: inspect.Parameter, description: str | None) -> FieldInfo:
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    members: dict[str, Any] = {"description": description} if description else {}
    field: FieldInfo = Field(default, alias=parameter.name, **members)
    return field


def _argument_descriptions(function: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    """Name and description of the arguments in the docstring; continuation lines are joined to the first line."""
    name, texts = "", [""]
    for line in _arguments_section(inspect.getdoc(function) or ""):
        started = _ARGUMENT.match(line)
        if started:
            yield name, " ".join(texts)
            name, texts = started["name"], [started["text"]]
        else:
            texts.append(line.strip())
    yield name, " ".join(texts).strip()


def _arguments_section(text: str) -> list[str]:
    found = re.search(r"^(?:Args|Arguments|Parameters):\s*\n((?:[ \t]+.*(?:\n|$))+)", text, re.MULTILINE)
    return inspect.cleandoc("\n" + found[1]).splitlines() if found else []


def _is_given(read: BaseModel, at: int) -> bool:
    return f"argument_{at}" in read.model_fields_set


def _faults(exc: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in exc.errors(include_url=False))


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
            result = await asyncio.to_thread(_call_function, self.function, arguments)
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
        return lambda given: _tool_of(given, **members)
    return _tool_of(function)


def _tool_of(
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


def _call_function(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call the function; a StopIteration becomes a RuntimeError, because a future cannot hold it."""
    try:
        return function(**arguments)
    except StopIteration as exc:
        raise RuntimeError("StopIteration") from exc


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
