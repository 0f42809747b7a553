"""Assembly of prompts: messages for a chat protocol, one flat text for a completion protocol."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from mnemoir.core.messages import Message, text_message
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.config.template import PromptTemplate
from mnemoir.workflows.prompting import templates
from mnemoir.workflows.prompting.history import last_for_text, window_for_chat
from mnemoir.workflows.prompting.injections import Injections, inject_flat, injections_of

# role of a node in its workflow; a silent responder gives the output of a workflow that does not answer the client
NodeRole = Literal["responder", "silent responder", "other"]


class TurnProperties(Protocol):
    """The properties of a node for flat prompts, a part of ModelProperties."""

    @property
    def adds_user_turn(self) -> bool: ...
    @property
    def adds_open_assistant_turn(self) -> bool: ...
    @property
    def forces_generation_prompt(self) -> bool: ...
    @property
    def blocks_generation_prompt(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatForm:
    """The form of a flat prompt: template, turns around the texts, and injected texts."""

    template: PromptTemplate
    adds_user_turn: bool = False
    adds_open_assistant_turn: bool = False
    ends_with_generation_prompt: bool = False
    injections: Injections = field(default_factory=Injections)


def flat_form(
    properties: TurnProperties, *, role: NodeRole, endpoint: EndpointDefinition, template: PromptTemplate
) -> FlatForm:
    """The form of one node's prompt for one endpoint."""
    return FlatForm(
        template=template,
        adds_user_turn=properties.adds_user_turn,
        adds_open_assistant_turn=properties.adds_open_assistant_turn,
        ends_with_generation_prompt=generation_prompt(properties, role=role, endpoint=endpoint),
        injections=injections_of(endpoint),
    )


def generation_prompt(properties: TurnProperties, *, role: NodeRole, endpoint: EndpointDefinition) -> bool:
    """True when a flat prompt ends with the assistant's prefix; never if the endpoint does not allow it."""
    if properties.blocks_generation_prompt or not endpoint.adds_generation_prompt:
        return False
    if role == "silent responder":
        return True
    return properties.forces_generation_prompt or properties.adds_user_turn


def chat_messages(
    system: str, prompt: str | None, conversation: Sequence[Message], last_messages: int
) -> list[Message]:
    """The messages of a chat prompt, without the texts that an endpoint injects.

    A `prompt` of None sends the last messages of the conversation; an empty one is an empty message of the user.
    """
    sent = [text_message("system", system)] if system else []
    if prompt is not None:
        return [*sent, text_message("user", prompt)]
    return sent + [_as_sent(message) for message in window_for_chat(conversation, last_messages)]


def flat_prompt(
    system: str, prompt: str | None, conversation: Sequence[Message], last_messages: int, form: FlatForm
) -> str:
    """The whole text of a flat prompt, with the texts that an endpoint injects.

    A `prompt` of None sends the last messages. White space at both ends is removed, also that of a generation prompt;
    an open assistant's turn stands in front of the prompt. Existing configurations depend on both.
    """
    body = prompt
    if body is None:
        body = templates.formatted(last_for_text(conversation, last_messages), form.template)
    if form.adds_user_turn:
        body = templates.turn("user", body, form.template)
    if form.adds_open_assistant_turn:
        body = templates.assistant_opening(form.template) + body
    if form.ends_with_generation_prompt:
        body += templates.generation_prompt(form.template)
    return inject_flat(templates.turn("system", system, form.template), body, form.injections)


def _as_sent(message: Message) -> Message:
    return replace(message, role="system") if message.role == "systemMes" else message
