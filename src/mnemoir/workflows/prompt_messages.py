"""The prompt sent to an endpoint: messages, or for a text protocol one message with the whole text."""

from collections.abc import Sequence
from dataclasses import replace

import orjson

from mnemoir.conversations.log.message_rows import to_model
from mnemoir.core.conversations import Message as Remembered
from mnemoir.core.messages import Message, ModelRequest, Part, TextPart, roles_of, text_message
from mnemoir.core.text import estimate_prompt_tokens
from mnemoir.workflows.config.endpoint import EndpointDefinition, PromptTemplate
from mnemoir.workflows.conversation import blank_question
from mnemoir.workflows.prompting.assembly import (
    NodeRole,
    chat_messages,
    flat_form,
    flat_prompt,
    formatted_turns,
    inject,
    injections_of,
)
from mnemoir.workflows.prompting.history import SYSTEM_ROLES, fit, last_for_text, places_history, with_history
from mnemoir.workflows.prompting.images import newest_images, with_images, without_images
from mnemoir.workflows.question import History, Question, Target
from mnemoir.workflows.step import Step


async def prompt_messages(
    step: Step, question: Question, target: Target, *, most_tokens: int, tools: ModelRequest
) -> Sequence[Message]:
    """The prompt, cut to fit the endpoint's context beside an answer of `most_tokens` tokens."""
    if question.history is None:
        return _messages(step, question, target, most_tokens)
    if target.template is None:
        return await _with_turns(step, question, question.history, target, most_tokens, tools)
    written = _question_with_prompt(step, question, target, target.template, most_tokens)
    return await _with_text(step, written, question.history, target, most_tokens, tools)


async def _with_turns(
    step: Step, question: Question, history: History, target: Target, most_tokens: int, tools: ModelRequest
) -> list[Message]:
    """The prompt with the history after the system message; the history is cut to the rest of the context."""
    beside = _messages(step, _question_with_history(question, ""), target, most_tokens)
    turns = await _turns(history, beside, target, most_tokens, tools)
    head = 1 if beside and beside[0].role == "system" else 0
    sent = [*beside[:head], *to_model(turns), *beside[head:]]
    return newest_images(sent, step.count(question.properties.most_images, 0, "maxImagesToSend"))


async def _with_text(
    step: Step, question: Question, history: History, target: Target, most_tokens: int, tools: ModelRequest
) -> Sequence[Message]:
    """The prompt with the history at its marks in the node's texts, else in front of the prompt."""
    beside = _messages(step, _question_with_history(question, ""), target, most_tokens)
    text = history.as_text(await _turns(history, beside, target, most_tokens, tools))
    return _messages(step, _question_with_history(question, text), target, most_tokens) if text else beside


async def _turns(
    history: History, beside: Sequence[Message], target: Target, most_tokens: int, tools: ModelRequest
) -> Sequence[Remembered]:
    sent = [*beside, text_message("system", orjson.dumps(tools.tools).decode())] if tools.tools else beside
    return await history.fitting(
        sent, context_tokens=target.endpoint.context_tokens or None, answer_tokens=most_tokens
    )


def _question_with_prompt(
    step: Step, question: Question, target: Target, template: PromptTemplate, most_tokens: int
) -> Question:
    """The question with a prompt: the current turn as text, if the node has none."""
    if question.prompt is not None:
        return question
    fitted = _fitting_messages(
        step, last_for_text(question.messages, len(question.messages)), target.endpoint, most_tokens
    )
    return replace(question, prompt=formatted_turns(fitted, template))


def _question_with_history(question: Question, history: str) -> Question:
    system, prompt = question.system, question.prompt
    if prompt is None or not history or places_history(system) or places_history(prompt):
        prompt = None if prompt is None else with_history(prompt, history)
    else:
        prompt = f"{history}\n{prompt}"
    return replace(question, system=with_history(system, history), prompt=prompt)


def _messages(step: Step, question: Question, target: Target, most_tokens: int) -> Sequence[Message]:
    last = _last(step, question)
    if target.template is None:
        sent = without_images(
            chat_messages(
                question.system,
                question.prompt,
                _beside_system(question),
                last,
                blank_question=lambda: blank_question(step.run.turn.chat),
            )
        )
        if question.prompt is None:
            sent = _fitting_messages(step, sent, target.endpoint, most_tokens)
        return inject(with_images(sent, question.images), injections_of(target.endpoint))
    newest = last_for_text(question.messages, last) if question.prompt is None else []
    form = flat_form(question.properties, role=_role(step), endpoint=target.endpoint, template=target.template)
    fitted = _fitting_messages(step, newest, target.endpoint, most_tokens, beside=question.system)
    text = flat_prompt(question.system, question.prompt, fitted, last, form)
    words: tuple[Part, ...] = (TextPart(text=text),) if text else ()
    return [Message(role="user", parts=(*words, *question.images))]


def _beside_system(question: Question) -> Sequence[Message]:
    """The conversation; without messages where it has only instructions, and the node's own text tells them."""
    if question.tells_instructions and SYSTEM_ROLES.issuperset(roles_of(question.messages)):
        return ()
    return question.messages


def _last(step: Step, question: Question) -> int:
    """The number of messages to send without a prompt; with a history, all of the current turn."""
    if question.history is not None:
        return len(question.messages)
    return step.count(question.properties.last_messages, 5, "lastMessagesToSendInsteadOfPrompt")


def _fitting_messages(
    step: Step, messages: Sequence[Message], endpoint: EndpointDefinition, most_tokens: int, beside: str = ""
) -> Sequence[Message]:
    """The messages cut to the endpoint's context, with a note in the trace on the number left out."""
    if not endpoint.context_tokens:
        return messages
    room = max(endpoint.context_tokens - most_tokens, endpoint.context_tokens // 2)
    fitting, dropped = fit(messages, room - (estimate_prompt_tokens(beside) if beside else 0))
    if dropped:
        step.note(
            f"{dropped} messages were left out, oldest first, to stay within "
            f"{endpoint.context_tokens} tokens (maxContextTokenSize)."
        )
    return fitting


def _role(step: Step) -> NodeRole:
    if not step.is_responder:
        return "other"
    return "silent responder" if step.run.is_silent else "responder"
