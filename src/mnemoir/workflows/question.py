"""A node's question to a model, and the endpoint to ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mnemoir.core.conversations import Message as Remembered
from mnemoir.core.errors import SettingsError
from mnemoir.core.messages import ImagePart, Message
from mnemoir.ports.llm import COMPLETION_KINDS, ModelServerKind
from mnemoir.workflows.config.endpoint import KINDS, ApiType, EndpointDefinition, PromptTemplate
from mnemoir.workflows.node import ModelProperties
from mnemoir.workflows.prompting.images import images_of
from mnemoir.workflows.step import Step
from mnemoir.workflows.text.variables import INSTRUCTIONS, Variables


class History(Protocol):
    """The earlier turns that a model is shown."""

    async def fitting(
        self, beside: Sequence[Message], *, context_tokens: int | None, answer_tokens: int
    ) -> Sequence[Remembered]:
        """The newest turns that fit into the context beside other messages and the answer, oldest message first."""

    def as_text(self, turns: Sequence[Remembered]) -> str:
        """The turns as text for text completion. Raises SettingsError if the node has no role prefixes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A node's question to an endpoint. Variables in its texts are filled in.

    A `prompt` of None sends the last messages of the conversation; `images` are sent with the last user message. With
    a `history`, `messages` are those of the current turn only, all of them are sent, and the texts may contain hidden
    marks for the history. With `for_client` the reply is the client's answer, not an intermediate result.
    `tells_instructions`: the system text has the client's system messages in it.
    """

    endpoint: str
    preset: str
    system: str
    prompt: str | None
    properties: ModelProperties
    messages: Sequence[Message]
    images: Sequence[ImagePart] = ()
    history: History | None = None
    for_client: bool = False
    tells_instructions: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An endpoint with its API type, its protocol, and for text protocols its template."""

    name: str
    endpoint: EndpointDefinition
    api_type: ApiType
    kind: ModelServerKind
    template: PromptTemplate | None


def question_of(step: Step, properties: ModelProperties, *, for_client: bool = False) -> Question:
    """The question of a node with these properties, its texts filled by the rules of its endpoint.

    See `Question` for `for_client`.
    """
    name = step.early(properties.endpoint)
    target = target_of(step, name)
    made: list[Variables] = []  # shared by both texts, and often not needed by either

    def variables() -> Variables:
        if not made:
            made.append(step.variables(target.template))
        return made[0]

    system = step.filled_prompt("systemPrompt", properties.system_prompt, variables) or ""
    tells_instructions = _tells_instructions(step, made)  # before the prompt is filled, which shares the variables
    return Question(
        endpoint=name,
        preset=step.early(properties.preset),
        system=system,
        prompt=step.filled_prompt("prompt", properties.prompt, variables),
        properties=properties,
        messages=step.messages,
        images=accepted_images(step, properties, step.messages),
        for_client=for_client,
        tells_instructions=tells_instructions,
    )


def _tells_instructions(step: Step, made: Sequence[Variables]) -> bool:
    """Whether the client's system messages are in the node's system text, which was filled in, perhaps by `made`."""
    filling = step.fillings.get("systemPrompt")
    is_named = filling is not None and any(place.name in INSTRUCTIONS for place in filling.places)
    return is_named or any(variables.has_read(INSTRUCTIONS) for variables in made)


def target_of(step: Step, name: str) -> Target:
    """The endpoint of that name. Raises SettingsError if it or a file it names is missing or wrong."""
    user = step.user
    endpoint = user.endpoint(name)
    api_type = user.api_type(endpoint.api_type)
    kind = api_type.kind
    if kind is None:
        raise SettingsError(
            f"API type {endpoint.api_type} has the unknown type {api_type.type!r}. Use one of: {', '.join(KINDS)}."
        )
    template = user.template_of(endpoint) if kind in COMPLETION_KINDS else None
    return Target(name=name, endpoint=endpoint, api_type=api_type, kind=kind, template=template)


def accepted_images(step: Step, properties: ModelProperties, messages: Sequence[Message]) -> Sequence[ImagePart]:
    """The pictures of these messages that the node passes on: none unless its properties allow pictures."""
    if not properties.accepts_images:
        return ()
    return images_of(messages, step.count(properties.most_images, 0, "maxImagesToSend"))
