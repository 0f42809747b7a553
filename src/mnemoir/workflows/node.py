"""The base classes of node types, their properties and their behaviour, and the registry of types.

A node type is a class listed under the entry point `mnemoir.nodes`, so that another package can add one. One object
is created per node of a workflow file and used by many concurrent runs, so it holds no state of a run.

    [project.entry-points."mnemoir.nodes"]
    weather = "some_package.weather:Weather"

The names of a type in files are the `kind` and `aliases` of its class; the name of the entry is only for lists.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, distribution, entry_points
from inspect import isclass
from typing import Any, ClassVar, Generic, TypeVar

import structlog
from pydantic import Field

from mnemoir.core.errors import SettingsError
from mnemoir.core.events import Event
from mnemoir.workflows.config.model import ConfigModel, Flag, Line
from mnemoir.workflows.run import Turn
from mnemoir.workflows.services import Services
from mnemoir.workflows.step import Step

_log = structlog.get_logger(__name__)
Count = int | str  # a number, or a text with {agentNInput} or a variable of the workflow
GROUP = "mnemoir.nodes"


class NodeProperties(ConfigModel):
    """The properties of every node."""

    title: Line = Field("", description="For people: lists, logs and traces show it.")
    agent_name: Line = Field("", alias="agentName", description="The same, in older files.")
    type: Line = Field("Standard", description="The node type, without regard to case.")
    returns_to_user: Flag = Field(False, alias="returnToUser", description="This node's output is the answer.")
    is_responder: Flag | None = Field(None, description="The same; wins over returnToUser where both are given.")
    jinja2: Flag = Field(False, description="The texts of this node are Jinja2 templates.")
    timeout_s: float | None = Field(
        None, alias="timeoutSeconds", gt=0, description="Seconds this node may take; else the server's setting. Ours."
    )
    before_close: Flag = Field(
        False, alias="beforeClose", description="Run between the last word and the end of the answer. Ours."
    )


class ModelProperties(NodeProperties):
    """The properties of nodes that ask a model."""

    endpoint: Line = Field("", alias="endpointName", description="A file in Endpoints/.")
    preset: Line = Field("", description="An endpoint with samplers, or a file in Presets/; empty sends none.")
    system_prompt: Line = Field("", alias="systemPrompt", description="The system prompt.")
    prompt: Line = Field("", description="The prompt; empty sends the last messages of the conversation.")
    last_messages: Count = Field(
        5, alias="lastMessagesToSendInsteadOfPrompt", description="How many of them, when there is no prompt."
    )
    max_tokens: Count = Field(400, alias="maxResponseSizeInTokens", description="Most tokens of the answer.")
    adds_user_turn: Flag = Field(
        False, alias="addUserTurnTemplate", description="Write the prompt as a user's turn (text protocols only)."
    )
    adds_open_assistant_turn: Flag = Field(
        False, alias="addOpenEndedAssistantTurnTemplate", description="Put the assistant's prefix first (text only)."
    )
    forces_generation_prompt: Flag = Field(
        False,
        alias="forceGenerationPromptIfEndpointAllows",
        description="End with the assistant's prefix if the endpoint allows it (text only).",
    )
    blocks_generation_prompt: Flag = Field(
        False, alias="blockGenerationPrompt", description="Never end with it (text only)."
    )
    adds_timestamps: Flag = Field(
        False, alias="addDiscussionIdTimestampsForLLM", description="Show the model when each message was sent."
    )
    relative_timestamps: Flag = Field(
        False, alias="useRelativeTimestamps", description="As a distance from now instead of a time."
    )
    group_chat_timestamps: Flag = Field(
        False, alias="useGroupChatTimestampLogic", description="Keep the answer's time with its speaker's name."
    )
    removes_beginnings: Flag = Field(
        False, alias="removeCustomTextFromResponseStart", description="Cut one of the texts below off the answer."
    )
    beginnings: Sequence[Line] | Line = Field(
        (), alias="responseStartTextToRemove", description="The first of them that fits is cut off."
    )
    allows_tools: Flag = Field(False, alias="allowTools", description="Pass the client's tools on to the model.")
    allows_structured_output: Flag = Field(
        False,
        alias="allowStructuredOutput",
        description="Hold the answer to the shape that the client asks for, where this node answers it. Ours.",
    )
    accepts_images: Flag = Field(
        False, alias="acceptImages", description="Pass the client's pictures on to the model."
    )
    most_images: Count = Field(0, alias="maxImagesToSend", description="The newest of them; 0 sends all.")
    context_tokens: Count = Field(4096, alias="maxContextTokenSize", description="No effect; the endpoint's counts.")


P = TypeVar("P", bound=NodeProperties)


class Node(ABC, Generic[P]):
    """A node of a workflow, created from its properties in the file.

    `filled` names the properties, by their keys in the file, with variables in their texts.
    """

    kind: ClassVar[str]
    aliases: ClassVar[Sequence[str]] = ()
    properties_type: ClassVar[type[NodeProperties]] = NodeProperties
    filled: ClassVar[Sequence[str]] = ()
    is_timed: ClassVar[bool] = True  # has the server's time limit; False when inner nodes or calls have limits

    def __init__(self, properties: P, services: Services) -> None:
        self.properties = properties
        self.services = services

    def applies(self, turn: Turn) -> bool:
        """True when the node has work in this turn; otherwise it is skipped, and left out of the trace."""
        return True

    @abstractmethod
    def run(self, step: Step) -> AsyncGenerator[Sequence[Event], None]:
        """Run the node and yield its events. The text of all Text events is the node's output.

        Raises MnemoirError for failures that a user can fix; it ends the run.
        """


class ValueNode(Node[P]):
    """A node without events of its own: its output is one value of any type."""

    async def run(self, step: Step) -> AsyncGenerator[Sequence[Event], None]:
        """Set the step's output; the engine sends it as the answer if the node is the responder."""
        step.output = await self.value(step)
        return
        yield  # makes this an async generator, as `run` must be

    @abstractmethod
    async def value(self, step: Step) -> object:
        """The output: usually a text; None, lists and objects are possible."""


Types = Mapping[str, type[Node[Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult:
    """Node types by their names in lower case, and the faults of entries that could not be loaded."""

    types: Types
    problems: Sequence[str]


@cache
def installed_nodes() -> LoadResult:
    """The node types of all installed packages."""
    return load(entry_points(group=GROUP))


@cache
def node_types() -> Types:
    """All usable node types. The others are logged once and do not stop the server."""
    return _FoundTypes(distribution("mnemoir").entry_points.select(group=GROUP))


class _FoundTypes(Mapping[str, type[Node[Any]]]):
    """All types. One of Mnemoir is imported when its name is looked up, since no other package can take that name.

    What other packages have is looked for when a name is none of these, and when all are asked for.
    """

    def __init__(self, own: Iterable[EntryPoint]) -> None:
        self._entries = {entry.name.lower(): entry for entry in own}
        self._found: dict[str, type[Node[Any]]] = {}

    def __getitem__(self, name: str) -> type[Node[Any]]:
        found = self._found.get(name)
        if found is None:
            entry = self._entries.get(name)
            found = None if entry is None else _class_of(entry)
            if found is None or found.kind.lower() != name:  # an alias, an unknown name, or an entry of another name
                found = _logged_types()[name]
            self._found[name] = found
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_logged_types())

    def __len__(self) -> int:
        return len(_logged_types())


@cache
def _logged_types() -> Types:
    for problem in installed_nodes().problems:
        _log.warning("node type left out", cause=problem)
    return installed_nodes().types


def load(entries: Iterable[EntryPoint]) -> LoadResult:
    """Load the classes. A name used twice goes to Mnemoir's class, else to the one whose entry sorts first."""
    types: dict[str, type[Node[Any]]] = {}
    problems: list[str] = []
    for entry in sorted(set(entries), key=lambda entry: (not _is_own(entry), entry.name, entry.value)):
        try:
            _add(types, _class_of(entry))
        except SettingsError as exc:
            problems.append(f"entry {entry.name} = {entry.value} in {GROUP}: {exc.message}")
    return LoadResult(types=types, problems=problems)


def _add(types: dict[str, type[Node[Any]]], found: type[Node[Any]]) -> None:
    """Add the class under all of its names; none of them on a conflict, which raises SettingsError."""
    names = [name.lower() for name in (found.kind, *found.aliases)]
    for name in names:
        if types.get(name, found) is not found:
            raise SettingsError(f"{name} is already the name of {types[name].__qualname__}; choose another.")
    types.update(dict.fromkeys(names, found))


def _is_own(entry: EntryPoint) -> bool:
    return entry.value.startswith("mnemoir.")


def _class_of(entry: EntryPoint) -> type[Node[Any]]:
    try:
        found = entry.load()
    except Exception as exc:  # the import of another package may raise anything
        raise SettingsError(f"it cannot be imported: {type(exc).__name__}: {exc}") from exc
    if not isclass(found) or not issubclass(found, Node) or not isinstance(getattr(found, "kind", None), str):
        raise SettingsError("it must be a subclass of mnemoir.workflows.node.Node with a `kind`.")
    return found
