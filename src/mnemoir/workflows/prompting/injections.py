"""Texts that an endpoint injects into every prompt: before the system prompt, the user's turn and the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnemoir.core.messages import ImagePart, Message, TextPart, text_message
from mnemoir.workflows.config.endpoint import EndpointDefinition


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


def injections_of(endpoint: EndpointDefinition) -> Injections:
    """The texts of the endpoint with their flags set."""
    return Injections(
        system=endpoint.system_text if endpoint.adds_to_system else "",
        prompt=endpoint.prompt_text if endpoint.adds_to_prompt else "",
        completion=endpoint.completion_text if endpoint.adds_to_completion else "",
        ensures_assistant=endpoint.ensures_assistant,
    )


def inject(messages: Sequence[Message], injections: Injections) -> list[Message]:
    """The messages with the texts injected, and without an empty assistant message at their end."""
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
