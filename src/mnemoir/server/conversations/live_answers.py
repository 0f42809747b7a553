"""`/api/conversations/{id}/answers`: the answers under way in a conversation that go on without a reader.

They are found by a page that was loaded again and by a second tab, which take them up where they are, or stop them.
"""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated
from urllib.parse import quote

from fastapi import Header
from pydantic import BeforeValidator
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mnemoir.core.errors import NotFound
from mnemoir.core.scope import Scope as Owner
from mnemoir.server.answer import Answer, Done, Json, JsonObject
from mnemoir.server.body import offset_number
from mnemoir.server.conversations.access import CONVERSATIONS, ONE, OwnerHere, holding
from mnemoir.server.door.request import visit_of
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.door.under_way import Departure, Headers, Outflow
from mnemoir.server.live_answers import LiveAnswer
from mnemoir.server.rest import Routes, SiteHere
from mnemoir.server.site import Site
from mnemoir.wire.openai_shapes import ChatCompletionChunk
from mnemoir.wire.openai_stream import HEARTBEAT

router = Routes(prefix=CONVERSATIONS + ONE + "/answers", tags=["conversations"], route_class=RouteAsSent)

_EVENTS: dict[int | str, Json] = {
    200: {
        "model": ChatCompletionChunk,
        "description": "The events of its chat from where the reader is; a line `id` with a number ends each.",
    }
}
_FIRST = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),
)

LastEvent = Annotated[
    int,
    BeforeValidator(offset_number),
    Header(alias="Last-Event-ID", description="the number of the event read last; 0, or none, begins anew"),
]


class LiveAnswerEntry(JsonObject):
    """An answer under way. `question_id` is the message that it answers, null until that is stored."""

    id: str
    run_id: str
    question_id: int | None


class LiveAnswerList(JsonObject):
    """The answers under way, oldest first."""

    results: list[LiveAnswerEntry]


@router.get("", summary="Its answers under way that can be taken up, such as those of the web UI")
@says("read")
async def list_answers(site: SiteHere, scope: OwnerHere, id: str) -> Answer[LiveAnswerList]:
    return Answer({"results": [_entry(answer) for answer in await _under_way(site, scope, id)]})


@router.get("/{answer_id}", summary="Take up an answer under way, as server-sent events", responses=_EVENTS)
@says("read", is_stream=True)
async def take_up(site: SiteHere, scope: OwnerHere, id: str, answer_id: str, last_event: LastEvent = 0) -> Response:
    return _Reader(await _live_answer(site, scope, id, answer_id), last_event, site.options.heartbeat_s)


@router.delete("/{answer_id}", summary="Stop an answer under way; what came of it is kept")
@says("write", act=None)
async def stop(site: SiteHere, scope: OwnerHere, id: str, answer_id: str) -> Answer[Done]:
    site.live_answers.stop(await _live_answer(site, scope, id, answer_id))
    return Answer({"success": True, "message": "Stopped the answer"})


async def _under_way(site: Site, scope: Owner, id: str) -> Sequence[LiveAnswer]:
    """The answers under way in a conversation, also before its first question is stored. Raises NotFound."""
    found = site.live_answers.of(replace(scope, conversation=id))
    if not found:
        async with holding(site, scope, id):
            pass
    return found


async def _live_answer(site: Site, scope: Owner, id: str, answer_id: str) -> LiveAnswer:
    for answer in await _under_way(site, scope, id):
        if answer.id == answer_id:
            return answer
    raise NotFound(
        f"No answer {answer_id[:80]!r} is under way in this conversation. One that has ended is among its messages.",
        code="answer_not_found",
    )


def _entry(answer: LiveAnswer) -> LiveAnswerEntry:
    return {"id": answer.id, "run_id": answer.run_id, "question_id": answer.question_id}


class _Reader(Response):
    """One reader of an answer, until that ends or the client disconnects."""

    def __init__(self, answer: LiveAnswer, last_event: int, heartbeat_s: float) -> None:
        super().__init__()
        self._answer = answer
        self._after = answer.place(last_event)
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with (
            Departure(receive) as departure,
            aclosing(self._answer.read(self._after)) as events,
            Outflow(send, head=self._head, heartbeat=lambda: HEARTBEAT, every_s=self._heartbeat_s) as out,
        ):
            await out.write(HEARTBEAT)  # sends the head too: the client knows that it is connected
            async for data in events:
                await out.write(data)
            await out.write(b"", more=False)
        visit_of(scope).left = departure.happened

    def _head(self) -> Headers:
        conversation = quote(self._answer.scope.conversation or "", safe="")
        return [
            *_FIRST,
            (b"x-workflow-run-id", self._answer.run_id.encode()),
            (b"x-conversation-id", conversation.encode()),
            (b"x-mnemoir-after", b"%d" % self._after),
        ]
