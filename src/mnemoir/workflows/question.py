"""What a node wants to know, and the endpoint it asks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mnemoir.core.conversation_messages import Message as Remembered
from mnemoir.core.errors import SettingsError
from mnemoir.core.messages import ImagePart, Message
from mnemoir.ports.model_servers import COMPLETION_KINDS, ModelServerKind
from mnemoir.workflows.config.api_type import KINDS, ApiType
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.config.template import PromptTemplate
from mnemoir.workflows.node import ModelProperties
from mnemoir.workflows.prompting.images import images_of
from mnemoir.workflows.step import Step
from mnemoir.workflows.text.variables import Variables


class History(Protocol):
    """What a model is shown of earlier turns."""

    async def fitting(
        self, beside: Sequence[Message], *, context_tokens: int | None, answer_tokens: int
    ) -> Sequence[Remembered]:
        """The newest turns that fit into a context beside what else is sent and the answer, oldest message first."""

    def as_text(self, turns: Sequence[Remembered]) -> str:
        """The turns as a model that completes a text gets them. Raises SettingsError where nothing says how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a node wants to know, from which endpoint.

    The texts are filled. A `prompt` of None sends the last messages of the conversation; `images` go along with the
    last user message. With a `history`, `messages` are those of the current turn alone and all of them are sent, and
    the texts may hold hidden marks for it. With `for_client` the reply is the client's answer, not a step towards it.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An endpoint with all that belongs to it; a template only for text protocols."""

    name: str
    endpoint: EndpointDefinition
    api_type: ApiType
    kind: ModelServerKind
    template: PromptTemplate | None


def question_of(step: Step, properties: ModelProperties, *, for_client: bool = False) -> Question:
    """What a node of these properties asks, its texts filled by the rules of its endpoint.

    See `Question` for `for_client`.
    """
    name = step.early(properties.endpoint)
    target = target_of(step, name)
    made: list[Variables] = []  # the same for both texts, and often neither names any

    def variables() -> Variables:
        if not made:
            made.append(step.variables(target.template))
        return made[0]

    return Question(
        endpoint=name,
        preset=step.early(properties.preset),
        system=step.filled_prompt("systemPrompt", properties.system_prompt, variables) or "",
        prompt=step.filled_prompt("prompt", properties.prompt, variables),
        properties=properties,
        messages=step.messages,
        images=accepted_images(step, properties, step.messages),
        for_client=for_client,
    )


def target_of(step: Step, name: str) -> Target:
    """The endpoint of that name. Raises SettingsError when it or what it names is missing or wrong."""
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
    """The pictures of these messages that the node passes on: none unless it says so."""
    if not properties.accepts_images:
        return ()
    return images_of(messages, step.count(properties.most_images, 0, "maxImagesToSend"))
