"""Model calls of nodes in a config tree: building the request, choosing a backup, and cleaning the answer.

An endpoint may name a backup, which is asked when the endpoint fails before its first token. After that, a failure
ends the answer, so that no other model's answer is appended to it.
"""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from mnemoir.core.errors import ProviderError, SettingsError
from mnemoir.core.events import (
    Alternative,
    Event,
    Finished,
    MembersDropped,
    ModelEvent,
    Passed,
    Refusal,
    Reply,
    Text,
    Thinking,
    ToolCallPart,
    Usage,
    as_events,
)
from mnemoir.core.messages import Message, ModelRequest
from mnemoir.core.thinking import without_thinking_members
from mnemoir.ports.llm import ChatModel, ModelServer
from mnemoir.wire.forwarding import Forwarding
from mnemoir.workflows.call_options import (
    answering_request,
    as_inner,
    as_responder,
    inner_request,
    lost_of,
    overridden,
    preset_of,
)
from mnemoir.workflows.conversation import asked_speaker
from mnemoir.workflows.prompt_messages import prompt_messages
from mnemoir.workflows.prompting.options import options
from mnemoir.workflows.question import Question, Target, question_of, target_of
from mnemoir.workflows.step import Step
from mnemoir.workflows.text.reply_cleaning import Cleaning, CleaningStream, clean, cleaning_for
from mnemoir.workflows.timing import is_group_answer
from mnemoir.workflows.tracing import add_tokens, call_of, traced_messages, traced_text, variables_in

_WORDS = (Text, Refusal, ToolCallPart, Alternative, Finished)

__all__ = ["Question", "answer", "ask", "ask_and_name", "question_of"]


async def ask(step: Step, question: Question) -> str:
    """The whole answer, cleaned. Raises ProviderError when neither the endpoint nor a backup answers."""
    reply, _ = await ask_and_name(step, question)
    return reply.words


async def ask_and_name(step: Step, question: Question) -> tuple[Reply, str]:
    """The whole reply, cleaned, and the name of the model that gave it: `Endpoint (model)`, also of a backup.

    Raises ProviderError as `ask` does.
    """
    reply, call = await _reply_and_call(step, question)
    return reply, call.name


async def answer(step: Step, question: Question) -> AsyncGenerator[Sequence[Event], None]:
    """The cleaned answer without its thinking; piece by piece if the step streams, else in one batch.

    A complete answer ends with Finished. Raises ProviderError as `ask` does.
    """
    step.note_request()
    if question.for_client != step.answers_client:
        question = replace(question, for_client=step.answers_client)
    call = await _call(step, question, [question.endpoint], stream=step.streams)
    if call.dropped:
        turn = step.run.turn
        turn.trace.dropped = turn.chat.client_spellings(call.dropped)
        yield [MembersDropped(names=turn.trace.dropped)]
    if not step.streams:
        reply, _ = await _reply_of_call(step, question, call)
        yield as_events(reply)
        return
    while True:
        asked, held = call.request.messages, list[Event]()
        stream, usage, has_come = CleaningStream(call.cleaning), Usage(), False
        try:
            async with aclosing(call.model.stream(call.request)) as batches:
                async for batch in batches:
                    has_come = True
                    said: Sequence[Event] = batch
                    if not stream.passes_through or any(event.__class__ is not Text for event in batch):
                        usage = next((event for event in batch if isinstance(event, Usage)), usage)
                        said = _cleaned_events(batch, stream)
                    if said and not call.has_begun:
                        # what comes before the first word waits for it, since a backup may have to say all
                        held += said
                        call.has_begun = any(isinstance(event, _WORDS) for event in held)
                        said = held if call.has_begun else ()
                    if said:
                        yield said
            return
        except ProviderError as exc:
            call = await _backup(step, question, call, exc, stream=True)
        finally:  # what came before the client left, or the model failed, counts too
            if has_come:
                add_tokens(step.trace, usage, asked, step.run.turn.answer)


async def _reply_and_call(step: Step, question: Question) -> tuple[Reply, "_Call"]:
    return await _reply_of_call(step, question, await _call(step, question, [question.endpoint], stream=False))


async def _reply_of_call(step: Step, question: Question, call: "_Call") -> tuple[Reply, "_Call"]:
    while True:
        try:
            reply = await call.model.ask(call.request)
        except ProviderError as exc:
            call = await _backup(step, question, call, exc, stream=False)
            continue
        add_tokens(step.trace, reply.usage, call.request.messages, [reply.words])
        for note in reply.notes:
            step.note(note)
        text, passed = (
            clean(reply.text, call.cleaning),
            without_thinking_members(reply.passed) if reply.passed else None,
        )
        if text != reply.text or reply.thinking or reply.notes or passed is not reply.passed:
            reply = replace(reply, text=text, thinking="", passed=passed, notes=())
        return reply, call


async def _backup(step: Step, question: Question, call: "_Call", exc: ProviderError, *, stream: bool) -> "_Call":
    """The call of the endpoint's backup. Raises `exc` if the answer has begun, or if there is no backup.

    Raises SettingsError for a circle of backups.
    """
    if call.has_begun or not call.backup:
        raise exc
    asked = call.endpoints[-1]
    step.note(f"Endpoint {asked} failed, so {call.backup} is asked: {exc.message}")
    names = [*call.endpoints, call.backup]
    if call.backup in call.endpoints:
        raise SettingsError(f"Endpoints are each other's backup: {' → '.join(names)}. Break the circle.")
    return await _call(step, question, names, stream=stream)


def _cleaned_events(batch: Sequence[ModelEvent], stream: CleaningStream) -> list[Event]:
    events: list[Event] = []
    for event in batch:
        if isinstance(event, Text):
            text = stream.feed(event.text)
            events += [Text(text)] if text else []
        elif isinstance(event, Finished):
            text = stream.end()
            events += [Text(text), event] if text else [event]
        elif isinstance(event, Passed):
            events.append(without_thinking_members(event))
        elif not isinstance(event, Thinking):
            events.append(event)
    return events


@dataclass(slots=True, kw_only=True)
class _Call:
    """One request, ready to be sent. `backup` is the endpoint to ask when it fails, "" for none.

    `endpoints` are the endpoints asked so far, this one last; `name` shows endpoint and model to people. `dropped`
    names members of the client's request that are not sent to the model.
    """

    model: ChatModel
    request: ModelRequest
    cleaning: Cleaning
    endpoints: Sequence[str]
    name: str
    backup: str
    dropped: Sequence[str] = ()
    has_begun: bool = False


async def _call(step: Step, question: Question, endpoints: Sequence[str], *, stream: bool) -> _Call:
    """The call of the last of `endpoints`."""
    target = target_of(step, endpoints[-1])
    user, endpoint, properties = step.user, target.endpoint, question.properties
    most_tokens = step.count(properties.max_tokens, 400, "maxResponseSizeInTokens")
    chosen = target.endpoint.forwarding(step.services.forwarding) if question.for_client else None
    forwards = chosen is not None and chosen.forwards
    part, dropped = _of_client(step, question, target, chosen)
    sent = await prompt_messages(step, question, target, most_tokens=most_tokens, tools=part)
    messages, lost = _messages(step, question, target, sent, forwards=forwards)
    preset = preset_of(step, question.preset, target)
    settings = user.settings
    cleaning = cleaning_for(
        endpoint,
        properties,
        assistant_prefix=settings.adds_role_names and settings.adds_missing_assistant,
        speaker=asked_speaker(step.run.turn.chat) if is_group_answer(step) else "",
    )
    if cleaning.problem:
        step.note(cleaning.problem)
    leaves_out = endpoint.leaves_model_out and target.kind == "openai-chat"
    written = options(
        preset,
        target.api_type,
        context_tokens=endpoint.context_tokens,
        max_tokens=most_tokens,
        stream=stream,
    )
    request = replace(
        part,
        messages=messages,
        model=None if leaves_out else endpoint.model,
        options=written,
        for_client=question.for_client and not endpoint.backup,
    )
    _trace(step, question, target, messages)
    model = step.services.model_servers.model(_model_server(step, target))
    step.trace.call = call_of(model, request, stream=stream)
    return _Call(
        model=model,
        request=request,
        cleaning=cleaning,
        endpoints=endpoints,
        name=f"{target.name} ({endpoint.model})" if endpoint.model else target.name,
        backup=endpoint.backup,
        dropped=tuple(dict.fromkeys([*dropped, *lost, *(overridden(part, written) if chosen is not None else ())])),
    )


def _of_client(
    step: Step, question: Question, target: Target, chosen: Forwarding | None
) -> tuple[ModelRequest, Sequence[str]]:
    """The client's part of this call, and the names of its members that the model does not get."""
    asked, properties = step.run.turn.chat.request, question.properties
    if not question.for_client:
        return inner_request(asked, properties), ()
    return answering_request(asked, properties, target.kind, chosen)


def _messages(
    step: Step, question: Question, target: Target, sent: Sequence[Message], *, forwards: bool
) -> tuple[Sequence[Message], Iterable[str]]:
    """The messages with the client's members that may be sent, and the names of those that may not."""
    if not question.for_client:
        return as_inner(sent), ()
    asked = step.run.turn.chat.request.messages
    lost = lost_of(asked, sent, question.properties, target.kind, forwards=forwards)
    return as_responder(sent, forwards=forwards), lost


def _model_server(step: Step, target: Target) -> ModelServer:
    endpoint = target.endpoint
    return ModelServer(
        name=target.name,
        kind=target.kind,
        base_url=endpoint.base_url(target.kind),
        api_key=endpoint.api_key,
        most_at_once=endpoint.most_at_once,
        connect_timeout_s=step.user.settings.connect_timeout_s,
        is_asked_once=bool(endpoint.backup),
    )


def _trace(step: Step, question: Question, target: Target, messages: Sequence[Message]) -> None:
    trace = step.trace
    trace.endpoint, trace.preset, trace.model = target.name, question.preset or None, target.endpoint.model or None
    trace.prompt = traced_messages(messages) if target.template is None else traced_text(messages[0].text)
    trace.variables = variables_in(trace.prompt, step.fillings)
