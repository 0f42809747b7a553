"""Respond: passes the client's request on to the server's own model."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from mnemoir.core.events import Event, MembersDropped, Usage, as_events
from mnemoir.wire.forwarding import plain, request_for_provider, takes_raw
from mnemoir.workflows.conversation import with_blanks
from mnemoir.workflows.node import Node, NodeProperties
from mnemoir.workflows.step import Step
from mnemoir.workflows.tracing import add_tokens, call_of, traced_messages, variables_in


class Respond(Node[NodeProperties]):
    """Sends the client's request, with the messages that earlier nodes put into the conversation."""

    kind = "Respond"

    async def run(self, step: Step) -> AsyncGenerator[Sequence[Event], None]:
        """The model's events as they come, or the whole answer in one batch."""
        model, turn = self.services.own_model(), step.run.turn
        step.note_request()
        # the client's model name selected this workflow; the workflow determines the model that answers
        messages = turn.messages if turn.user is None else with_blanks(turn.messages, turn.chat, turn.user.settings)
        request = replace(turn.chat.request, messages=messages, model=model.name, for_client=step.answers_client)
        if request.raw and not takes_raw(request, model.provider, self.services.forwarding):
            request = plain(request)  # the model was changed behind the beginning of the chat
        request, dropped = request_for_provider(request, model.provider, self.services.forwarding)
        if dropped:
            turn.trace.dropped = turn.chat.client_spellings(dropped)
            yield [MembersDropped(names=turn.trace.dropped)]
        step.trace.model, step.trace.endpoint = request.model, model.provider
        step.trace.call = call_of(model, request, stream=step.streams)
        prompt = traced_messages(request.messages)
        step.trace.prompt, step.trace.variables = prompt, variables_in(prompt, {})
        if not step.streams:
            reply = await model.ask(request)
            add_tokens(step.trace, reply.usage, request.messages, [reply.words])
            yield as_events(reply)
            return
        usage, has_begun = Usage(), False
        try:
            async with aclosing(model.stream(request)) as batches:
                async for batch in batches:
                    has_begun = True
                    usage = next((event for event in batch if event.__class__ is Usage), usage)
                    yield batch
        finally:  # what came before the client left, or the model failed, counts too
            if has_begun:
                add_tokens(step.trace, usage, request.messages, turn.answer)
