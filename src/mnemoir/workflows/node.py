"""The base classes of node types: their properties and their behaviour.

A node type is a class listed under the entry point `mnemoir.nodes`, so that another package can add one. One object
is created per node of a workflow file and used by many concurrent runs, so it holds no state of a run.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from typing import ClassVar, Generic, TypeVar

from pydantic import Field

from mnemoir.core.events import Event
from mnemoir.workflows.config.model import ConfigModel, Flag, Line
from mnemoir.workflows.run import Turn
from mnemoir.workflows.services import Services
from mnemoir.workflows.step import Step

Count = int | str  # a number, or a text with {agentNInput} or a variable of the workflow


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
