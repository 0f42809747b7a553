"""What is sent to an endpoint for a question: messages, or for a text protocol one message that is the whole prompt."""

from collections.abc import Sequence
from dataclasses import replace

import orjson

from mnemoir.conversations.model_messages import to_model
from mnemoir.core.messages import Message, ModelRequest, Part, TextPart, text_message
from mnemoir.core.tokens import estimate_prompt_tokens
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.prompting.assembly import NodeRole, chat_messages, flat_form, flat_prompt
from mnemoir.workflows.prompting.budget import fit
from mnemoir.workflows.prompting.history import last_for_text
from mnemoir.workflows.prompting.history_marks import places_history, with_history
from mnemoir.workflows.prompting.images import newest_images, with_images, without_images
from mnemoir.workflows.prompting.injections import inject, injections_of
from mnemoir.workflows.prompting.templates import formatted
from mnemoir.workflows.question import History, Question, Target
from mnemoir.workflows.step import Step


async def prompt_messages(
    step: Step, question: Question, target: Target, *, most_tokens: int, tools: ModelRequest
) -> list[Message]:
    """The prompt, cut to the endpoint's context; `most_tokens` is the limit of the answer.

    The history is put in last: it gets what the rest of the prompt, the tools and the answer leave of the context.
    """
    if question.history is None:
        return _messages(step, question, target, most_tokens)
    beside = _messages(step, _with_history(question, ""), target, most_tokens)
    turns = await question.history.fitting(
        [*beside, *_as_counted(tools)],
        context_tokens=target.endpoint.context_tokens or None,
        answer_tokens=most_tokens,
    )
    if target.template is None:
        head = 1 if beside and beside[0].role == "system" else 0
        sent = [*beside[:head], *to_model(turns), *beside[head:]]
        return newest_images(sent, step.count(question.properties.most_images, 0, "maxImagesToSend"))
    text = question.history.as_text(turns)
    return _messages(step, _with_history(question, text), target, most_tokens) if text else beside


def _messages(step: Step, question: Question, target: Target, most_tokens: int) -> list[Message]:
    last = _last(step, question)
    if target.template is None:
        sent = without_images(chat_messages(question.system, question.prompt, question.messages, last))
        if question.prompt is None:
            sent = _fitted(step, sent, target.endpoint, most_tokens)
        return inject(with_images(sent, question.images), injections_of(target.endpoint))
    newest = last_for_text(question.messages, last) if question.prompt is None else []
    form = flat_form(question.properties, role=_role(step), endpoint=target.endpoint, template=target.template)
    fitted = _fitted(step, newest, target.endpoint, most_tokens, beside=question.system)
    text = flat_prompt(question.system, question.prompt, fitted, last, form)
    words: tuple[Part, ...] = (TextPart(text=text),) if text else ()
    return [Message(role="user", parts=(*words, *question.images))]
