"""Assembly of prompts: messages for a chat protocol, one flat text for a completion protocol.

A turn is formatted as text by the template a model was trained with. Role markers in prompts to this server have
the same meaning for a server of the same kind behind it, so they are removed from every formatted text.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from mnemoir.core.messages import ImagePart, Message, PlainMessages, Role, TextPart, roles_of, text_message
from mnemoir.workflows.config.endpoint import EndpointDefinition, PromptTemplate
from mnemoir.workflows.prompting.history import last_for_text, window_for_chat

_MARKER = re.compile(r"\[Beg_(?:Sys|User|Assistant|SysMes)\]")
# role of a node in its workflow; a silent responder gives the output of a workflow that does not answer the client
NodeRole = Literal["responder", "silent responder", "other"]


def formatted_turns(messages: Sequence[Message], template: PromptTemplate) -> str:
    """All turns in a row without separators; a last turn of the assistant is left open."""
    turns = [turn(message.role, message.text, template) for message in messages[:-1]]
    return "".join(turns) + "".join(_last_turn(message, template) for message in messages[-1:])


def turn(role: Role, text: str, template: PromptTemplate) -> str:
    """One closed turn: prefix, text and suffix of its role."""
    prefix, suffix = template.around(role)
    return without_markers(f"{prefix}{text}{suffix}")


def assistant_opening(template: PromptTemplate) -> str:
    """The beginning of a turn of the assistant."""
    return without_markers(template.assistant_prefix)


def assistant_start(template: PromptTemplate) -> str:
    """The end of a prompt that makes the model answer next."""
    return without_markers(template.assistant_prefix + template.end_token)


def without_markers(text: str) -> str:
    """The text without `[Beg_Sys]`, `[Beg_User]`, `[Beg_Assistant]` and `[Beg_SysMes]`."""
    return _MARKER.sub("", text) if "[Beg_" in text else text


def _last_turn(message: Message, template: PromptTemplate) -> str:
    if message.role != "assistant":
        return turn(message.role, message.text, template)
    return without_markers(template.assistant_prefix + message.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Injections:
    """The injected texts; an empty one is left out.

    `ensures_assistant` puts the beginning of the answer into an assistant message of its own, if the last message is
    not one.
    """

    system: str = ""
    prompt: str = ""
    completion: str = ""
    ensures_assistant: bool = False

    @property
    def have_texts(self) -> bool:
        """True when any text is injected."""
        return bool(self.system or self.prompt or self.completion)


def injections_of(endpoint: EndpointDefinition) -> Injections:
    """The texts of the endpoint with their flags set."""
    return Injections(
        system=endpoint.system_text if endpoint.adds_to_system else "",
        prompt=endpoint.prompt_text if endpoint.adds_to_prompt else "",
        completion=endpoint.completion_text if endpoint.adds_to_completion else "",
        ensures_assistant=endpoint.ensures_assistant,
    )


def inject(messages: Sequence[Message], injections: Injections) -> Sequence[Message]:
    """The messages with the texts injected, and without an empty assistant message at their end."""
    if isinstance(messages, PlainMessages) and not injections.have_texts:
        return messages
    result = list(messages)
    if injections.system:
        _add_to_system(result, injections.system)
    if injections.prompt:
        _add_to_last_user(result, injections.prompt)
    if injections.completion:
        _add_to_end(result, injections)
    if result and _is_empty_answer(result[-1]):
        del result[-1]
    return result


def inject_flat(system: str, prompt: str, injections: Injections) -> str:
    """The flat prompt of both parts with the texts injected; stripped before the answer's beginning is added."""
    text = injections.system + system + injections.prompt + prompt
    return text.strip() + injections.completion


def _add_to_system(messages: list[Message], text: str) -> None:
    for index, message in enumerate(messages):
        if message.role == "system":
            messages[index] = _with_text(message, text + message.text)
            return
    messages.insert(0, text_message("system", text))


def _add_to_last_user(messages: list[Message], text: str) -> None:
    for index in reversed(range(len(messages))):
        if messages[index].role == "user":
            messages[index] = _with_text(messages[index], text + messages[index].text)
            return
    messages.append(text_message("user", text))


def _add_to_end(messages: list[Message], injections: Injections) -> None:
    needs_own = injections.ensures_assistant and messages and messages[-1].role != "assistant"
    if not messages or needs_own:
        messages.append(text_message("assistant", injections.completion))
    else:
        messages[-1] = _with_text(messages[-1], messages[-1].text + injections.completion)


def _with_text(message: Message, text: str) -> Message:
    pictures = [part for part in message.parts if isinstance(part, ImagePart)]
    return replace(message, parts=(TextPart(text=text), *pictures))


def _is_empty_answer(message: Message) -> bool:
    says_something = message.text or message.tool_calls or any(isinstance(part, ImagePart) for part in message.parts)
    return message.role == "assistant" and not says_something


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
    system: str,
    prompt: str | None,
    conversation: Sequence[Message],
    last_messages: int,
    *,
    blank_question: Callable[[], Message | None] = lambda: None,
) -> Sequence[Message]:
    """The messages of a chat prompt, without the texts that an endpoint injects.

    A `prompt` of None sends the last messages of the conversation; an empty one is an empty message of the user.
    Where nobody speaks in these, the user's blank message that `blank_question` may give follows them.
    """
    sent = [text_message("system", system)] if system else []
    if prompt is not None:
        return [*sent, text_message("user", prompt)]
    window = window_for_chat(conversation, last_messages)
    if not {"user", "assistant"}.intersection(roles_of(window)) and (blank := blank_question()):
        window = [*window, blank]
    if isinstance(window, PlainMessages):
        return window.behind("system", system) if system else window
    return [*sent, *(_with_system_role(message) for message in _with_blank_answers(window))]


def flat_prompt(
    system: str, prompt: str | None, conversation: Sequence[Message], last_messages: int, form: FlatForm
) -> str:
    """The whole text of a flat prompt, with the texts that an endpoint injects.

    A `prompt` of None sends the last messages. White space at both ends is removed, also that of a generation prompt;
    an open assistant's turn stands in front of the prompt. Existing configurations depend on both.
    """
    body = prompt
    if body is None:
        body = formatted_turns(last_for_text(conversation, last_messages), form.template)
    if form.adds_user_turn:
        body = turn("user", body, form.template)
    if form.adds_open_assistant_turn:
        body = assistant_opening(form.template) + body
    if form.ends_with_generation_prompt:
        body += assistant_start(form.template)
    return inject_flat(turn("system", system, form.template), body, form.injections)


def _with_blank_answers(window: Sequence[Message]) -> Iterator[Message]:
    """The window with the blank answers that stood between two messages of the user."""
    for before, message in zip((None, *window), window, strict=False):
        is_between = before is not None and before.role == message.role == "user"
        if is_between and any(blank.role == "assistant" for blank in message.blanks):
            yield text_message("assistant", "")
        yield message


def _with_system_role(message: Message) -> Message:
    return replace(message, role="system") if message.role == "systemMes" else message
