"""Asking a model of the config tree: a node's texts become a request, and the answer is cleaned on its way.

An endpoint may name a backup, which is asked when it fails before its first word; after that no other answer is
spliced in.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cache, partial

from mnemoir.core.errors import ProviderError, SettingsError
from mnemoir.core.events import Event, Finished, ModelEvent, Reply, Text, Thinking, Usage, as_events
from mnemoir.core.messages import ImagePart, Message, ModelRequest, Part, TextPart
from mnemoir.core.tokens import estimate_prompt_tokens
from mnemoir.ports.back_ends import COMPLETION_KINDS, BackEnd, BackEndKind
from mnemoir.ports.llm import ChatModel
from mnemoir.workflows.config.api_type import KINDS, ApiType
from mnemoir.workflows.config.endpoint import EndpointDefinition
from mnemoir.workflows.config.template import PromptTemplate
from mnemoir.workflows.conversation import asked_speaker
from mnemoir.workflows.node import ModelProperties
from mnemoir.workflows.prompting.assembly import NodeRole, chat_messages, flat_form, flat_prompt
from mnemoir.workflows.prompting.budget import fit
from mnemoir.workflows.prompting.history import last_for_text
from mnemoir.workflows.prompting.images import images_of, with_images, without_images
from mnemoir.workflows.prompting.injections import inject, injections_of
from mnemoir.workflows.prompting.options import options
from mnemoir.workflows.replies.cleaning import Cleaning, CleaningStream, clean, cleaning_for
from mnemoir.workflows.step import Step
from mnemoir.workflows.timing import is_group_answer
from mnemoir.workflows.tracing import add_tokens, traced_messages, traced_text

_NO_TOOLS = ModelRequest(messages=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a node wants to know, from which endpoint.

    The texts are filled. A `prompt` of None sends the last messages of the conversation; `images` go along with the
    last user message.
    """

    endpoint: str
    preset: str
    system: str
    prompt: str | None
    properties: ModelProperties
    messages: Sequence[Message]
    images: Sequence[ImagePart] = ()


def question_of(step: Step, properties: ModelProperties) -> Question:
    """What a node of these properties asks, its texts filled by the rules of its endpoint."""
    name = step.early(properties.endpoint)
    target = _target(step, name)
    variables = cache(partial(step.variables, target.template))  # one for both texts, and often neither names any
    return Question(
        endpoint=name,
        preset=step.early(properties.preset),
        system=step.filled_prompt("systemPrompt", properties.system_prompt, variables) or "",
        prompt=step.filled_prompt("prompt", properties.prompt, variables),
        properties=properties,
        messages=step.messages,
        images=_images(step, properties),
    )


async def ask(step: Step, question: Question) -> str:
    """The whole answer, cleaned. Raises ProviderError when neither the endpoint nor a backup answers."""
    reply, _ = await ask_and_name(step, question)
    return reply.text


async def ask_and_name(step: Step, question: Question) -> tuple[Reply, str]:
    """The same with why it ended, and who gave it: `Endpoint (model)`, of a backup where that one answered."""
    reply, call = await _asked(step, question)
    return reply, call.name


async def answer(step: Step, question: Question) -> AsyncGenerator[Sequence[Event], None]:
    """The answer, piece by piece where the step streams, else all at once; complete ones end with Finished."""
    if not step.streams:
        reply, _ = await _asked(step, question)
        yield as_events(reply)
        return
    for call in _calls(step, question, stream=True):
        try:
            async with aclosing(_streamed(step, call)) as batches:
                async for batch in batches:
                    call.has_begun = True
                    yield batch
            return
        except ProviderError as exc:
            _try_backup(step, call, exc)


async def _asked(step: Step, question: Question) -> tuple[Reply, "_Call"]:
    for call in _calls(step, question, stream=False):
        try:
            reply = await call.model.ask(call.request)
        except ProviderError as exc:
            _try_backup(step, call, exc)
            continue
        add_tokens(step.trace, reply.usage, call.request.messages, [reply.text])
        return replace(reply, text=clean(reply.text, call.cleaning), thinking=""), call
    raise AssertionError("the last of the calls has no backup, so it answers or raises")


def _try_backup(step: Step, call: "_Call", exc: ProviderError) -> None:
    """Raises the failure itself once anything was answered, or without a backup."""
    if call.has_begun or not call.backup:
        raise exc
    step.note(f"Endpoint {call.endpoint} failed, so {call.backup} is asked: {exc.message}")


async def _streamed(step: Step, call: "_Call") -> AsyncGenerator[Sequence[Event], None]:
    """The model's events, their text cleaned, its thinking left out."""
    stream = CleaningStream(call.cleaning)
    usage = Usage()
    async with aclosing(call.model.stream(call.request)) as batches:
        async for batch in batches:
            if stream.passes_through and all(event.__class__ is Text for event in batch):
                yield batch
                continue
            usage = next((event for event in batch if isinstance(event, Usage)), usage)
            if cleaned := _cleaned(batch, stream):
                yield cleaned
    add_tokens(step.trace, usage, call.request.messages, step.run.turn.answer)


def _cleaned(batch: Sequence[ModelEvent], stream: CleaningStream) -> list[Event]:
    events: list[Event] = []
    for event in batch:
        if isinstance(event, Text):
            text = stream.feed(event.text)
            events += [Text(text)] if text else []
        elif isinstance(event, Finished):
            text = stream.end()
            events += [Text(text), event] if text else [event]
        elif not isinstance(event, Thinking):
            events.append(event)
    return events


@dataclass(slots=True, kw_only=True)
class _Call:
    """One request, ready to be sent; `backup` is the endpoint to ask when it fails, "" for none.

    `name` tells endpoint and model to people.
    """

    model: ChatModel
    request: ModelRequest
    cleaning: Cleaning
    endpoint: str
    name: str
    backup: str
    has_begun: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """An endpoint with all that belongs to it; a template only for text protocols."""

    name: str
    endpoint: EndpointDefinition
    api_type: ApiType
    kind: BackEndKind
    template: PromptTemplate | None


def _calls(step: Step, question: Question, *, stream: bool) -> Iterator[_Call]:
    """The call of the endpoint, then those of its backups; raises SettingsError where they go in a circle."""
    names = [question.endpoint]
    while True:
        target = _target(step, names[-1])
        yield _call(step, question, target, stream=stream)
        backup = target.endpoint.backup
        if backup in names:
            raise SettingsError(
                f"Endpoints are each other's backup: {' → '.join([*names, backup])}. Break the circle."
            )
        names.append(backup)


def _target(step: Step, name: str) -> _Target:
    user = step.user
    endpoint = user.endpoint(name)
    api_type = user.api_type(endpoint.api_type)
    kind = api_type.kind
    if kind is None:
        raise SettingsError(
            f"API type {endpoint.api_type} has the unknown type {api_type.type!r}. Use one of: {', '.join(KINDS)}."
        )
    template = user.template_of(endpoint) if kind in COMPLETION_KINDS else None
    return _Target(name=name, endpoint=endpoint, api_type=api_type, kind=kind, template=template)


def _call(step: Step, question: Question, target: _Target, *, stream: bool) -> _Call:
    user, endpoint, properties = step.user, target.endpoint, question.properties
    most_tokens = step.count(properties.max_tokens, 400, "maxResponseSizeInTokens")
    messages = _messages(step, question, target, most_tokens)
    preset = user.preset(question.preset, target.api_type)
    settings = user.settings
    cleaning = cleaning_for(
        endpoint,
        properties,
        assistant_prefix=settings.adds_role_names and settings.adds_missing_assistant,
        speaker=asked_speaker(step.run.turn.chat) if is_group_answer(step) else "",
    )
    if cleaning.problem:
        step.note(cleaning.problem)
    _trace(step, question, target, messages)
    leaves_out = endpoint.leaves_model_out and target.kind == "openai-chat"
    tools = step.run.turn.chat.request if properties.allows_tools else _NO_TOOLS
    return _Call(
        model=step.services.back_ends.model(_back_end(step, target)),
        request=ModelRequest(
            messages=messages,
            model=None if leaves_out else endpoint.model,
            tools=tools.tools,
            tool_choice=tools.tool_choice,
            options=options(
                preset,
                target.api_type,
                context_tokens=endpoint.context_tokens,
                max_tokens=most_tokens,
                stream=stream,
            ),
        ),
        cleaning=cleaning,
        endpoint=target.name,
        name=f"{target.name} ({endpoint.model})" if endpoint.model else target.name,
        backup=endpoint.backup,
    )


def _back_end(step: Step, target: _Target) -> BackEnd:
    endpoint = target.endpoint
    return BackEnd(
        name=target.name,
        kind=target.kind,
        base_url=endpoint.url.rstrip("/"),
        api_key=endpoint.api_key,
        most_at_once=endpoint.most_at_once,
        connect_timeout_s=step.user.settings.connect_timeout_s,
        is_asked_once=bool(endpoint.backup),
    )


def _messages(step: Step, question: Question, target: _Target, most_tokens: int) -> list[Message]:
    """What is sent: messages, or for a text protocol one message that is the whole prompt."""
    last = step.count(question.properties.last_messages, 5, "lastMessagesToSendInsteadOfPrompt")
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


def _fitted(
    step: Step, messages: Sequence[Message], endpoint: EndpointDefinition, most_tokens: int, beside: str = ""
) -> list[Message]:
    """The messages cut to the endpoint's context, with a note of how many had to go."""
    if not endpoint.context_tokens:
        return list(messages)
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


def _images(step: Step, properties: ModelProperties) -> Sequence[ImagePart]:
    if not properties.accepts_images:
        return ()
    return images_of(step.messages, step.count(properties.most_images, 0, "maxImagesToSend"))


def _trace(step: Step, question: Question, target: _Target, messages: Sequence[Message]) -> None:
    trace = step.trace
    trace.endpoint, trace.preset, trace.model = target.name, question.preset or None, target.endpoint.model or None
    trace.prompt = traced_messages(messages) if target.template is None else traced_text(messages[0].text)
