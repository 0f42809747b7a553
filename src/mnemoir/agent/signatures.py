"""The JSON Schema of a function's arguments, from its signature, and the check of arguments that a model sends.

Types, defaults and limits are those of the signature (`Annotated[int, Field(ge=1)]` works); descriptions come from a
Field, or from the docstring's `Args:`.
"""

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from mnemoir.core.errors import InvalidRequest, SettingsError

_NO_KEYWORD = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
)
_SECTION = re.compile(r"^(?:Args|Arguments|Parameters|Returns|Yields|Raises|Examples?|Notes?):\s*$", re.MULTILINE)
_ARGUMENT = re.compile(r"^(?P<name>\w+)\s*(?:\([^)]*\))?:\s*(?P<text>.*)$")


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
        return {name: getattr(read, f"argument_{at}") for at, name in enumerate(self._names) if _given(read, at)}


def purpose(function: Callable[..., Any]) -> str:
    """The docstring's text before its sections, as one paragraph; "" without a docstring."""
    text = _SECTION.split(inspect.getdoc(_annotated(function)) or "", maxsplit=1)[0]
    return " ".join(text.split())


class _Schema(GenerateJsonSchema):
    """Schema generator without titles, and without warnings about defaults that JSON cannot express."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.ignored_warning_kinds = {"non-serializable-default", "skipped-choice"}

    def field_title_should_be_set(self, schema: Any) -> bool:  # the types are internal to pydantic
        return False


def _annotated(function: Callable[..., Any]) -> Callable[..., Any]:
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
    hints = get_type_hints(_annotated(function), include_extras=True)
    described = dict(_described(_annotated(function)))
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


def _described(function: Callable[..., Any]) -> Iterator[tuple[str, str]]:
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


def _given(read: BaseModel, at: int) -> bool:
    return f"argument_{at}" in read.model_fields_set


def _faults(exc: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in exc.errors(include_url=False))
