"""`POST /api/workflows/try`: a run of a workflow that is typed and not saved, streamed; nothing of it is kept."""

from collections.abc import Sequence
from typing import Annotated, NotRequired

from fastapi import Depends, Request
from pydantic import Field
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mnemoir.core.errors import MnemoirError
from mnemoir.core.events import Event, Text, Thinking
from mnemoir.core.messages import ChatRequest
from mnemoir.core.runs import RunTrace
from mnemoir.server.answer import Json, JsonObject, tolerant_json
from mnemoir.server.body import UserId
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.budgets import check_budgets
from mnemoir.server.door.errors import failure, internal_error
from mnemoir.server.door.request import visit_of
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import owner
from mnemoir.server.door.under_way import Departure, Headers, Outflow
from mnemoir.server.rest import BodyOf, ProjectHere, Routes, SiteHere
from mnemoir.server.site import Site
from mnemoir.server.workflow_files import GUARDED, TypedBody
from mnemoir.wire import openai_chat
from mnemoir.workflows.run import Caller
from mnemoir.workflows.trials import TypedWorkflow

router = Routes(prefix="/api/workflows", tags=["workflows"])

_SILENCE = b":\n\n"  # a comment, which no reader takes for an event
_HEAD: Headers = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),
]


class TrialBody(TypedBody):
    """A typed workflow, and the message to try it on, as of a chat completion; `model` names the user that asks."""

    model: str
    messages: Annotated[Sequence[Json], Field(min_length=1)]
    user: UserId = "user"


class TrialFailure(JsonObject):
    """Why a trial run ended without an answer."""

    code: str
    message: str


class TrialEvent(JsonObject):
    """A piece of the answer, or at the end the trace of the run, with an error where there is one."""

    text: NotRequired[str]
    thinking: NotRequired[str]
    run: NotRequired[RunTrace]
    error: NotRequired[TrialFailure]


_EVENTS: dict[int | str, Json] = {200: {"model": TrialEvent, "description": "Events, each with one as its `data`"}}


@router.post(
    "/try",
    summary="Run a workflow that is typed on a message, as server-sent events; nothing is kept",
    dependencies=GUARDED,
    responses=_EVENTS,
)
@says("admin", act=None)
async def try_it(
    request: Request,
    site: SiteHere,
    project: ProjectHere,
    body: Annotated[TrialBody, Depends(BodyOf(TrialBody))],
) -> Response:
    await site.parts.trees.edits.check_path(body.path)
    chat = openai_chat.read_request({"model": body.model, "messages": list(body.messages), "stream": True})
    caller = Caller(scope=owner(project, body.user, "user"), request_id=visit_of(request.scope).request_id)
    return _TrialRun(
        site, site.parts.trees.workflows.answerable_chat(chat), caller, TypedWorkflow(path=body.path, text=body.text)
    )


class _TrialRun(Response):
    """The stream of one trial run. It ends with the run, and the run ends when the client leaves."""

    def __init__(self, site: Site, chat: ChatRequest, caller: Caller, typed: TypedWorkflow) -> None:
        super().__init__(media_type="text/event-stream")
        self._site = site
        self._chat = chat
        self._caller = caller
        self._typed = typed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        out = Outflow(send, head=lambda: _HEAD, heartbeat=lambda: _SILENCE, every_s=self._site.options.heartbeat_s)
        try:
            check_budgets(scope, self._site.parts.chats.quotas, self._caller.scope)
            with self._site.places.taking(principal_of(scope).key):
                async with Departure(receive) as departure, out:
                    await self._run(out)
            visit_of(scope).left = departure.happened
        except MnemoirError as exc:
            await failure(scope, exc)(scope, receive, send)

    async def _run(self, out: Outflow) -> None:
        trials = self._site.parts.trees.trials
        assert trials is not None  # editing is refused without a tree

        async def pass_on(batch: Sequence[Event]) -> None:
            if data := b"".join(_bytes_of_event(event) for event in batch):
                await out.write(data)

        try:
            trial = await trials.run(self._chat, self._caller, self._typed, pass_on)
        except Exception as exc:
            if not out.begun or isinstance(exc, MnemoirError):
                raise
            await out.write(_event({"error": _failure(internal_error())}), more=False)
            raise
        last: TrialEvent = {}
        if trial.run is not None:
            last["run"] = trial.run
        if trial.error is not None:
            last["error"] = _failure(trial.error)
        await out.write(_event(last), more=False)


def _bytes_of_event(event: Event) -> bytes:
    if isinstance(event, Text):
        return _event({"text": event.text})
    return _event({"thinking": event.text}) if isinstance(event, Thinking) else b""


def _failure(exc: MnemoirError) -> TrialFailure:
    return {"code": exc.code, "message": exc.message}


def _event(event: TrialEvent) -> bytes:
    return b"data: %b\n\n" % tolerant_json(event)
