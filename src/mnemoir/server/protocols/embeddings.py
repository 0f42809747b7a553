"""The embedding routes: the server's embedding model behind OpenAI's and Ollama's protocols."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter_ns
from typing import Any

import structlog
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mnemoir.core.embeddings import EmbeddingReply, EmbeddingRequest
from mnemoir.core.errors import InvalidRequest, MnemoirError
from mnemoir.server.door.errors import failure
from mnemoir.server.door.request import read_model_json, visit_of
from mnemoir.server.door.under_way import Departure
from mnemoir.server.site import Site
from mnemoir.wire import ollama_embed, openai_embeddings
from mnemoir.wire.forwarding import bounded_names
from mnemoir.wire.session import without_fields

MOST_TEXTS = 2048  # as OpenAI's own server

Read = Callable[[Mapping[str, Any]], EmbeddingRequest]
Write = Callable[[EmbeddingReply, EmbeddingRequest, str, int], bytes]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingDialect:
    """The reader of a protocol's request and the writer of its answer: (reply, request, model, duration in ns)."""

    read: Read
    write: Write


OPENAI = EmbeddingDialect(
    read=openai_embeddings.read_request,
    write=lambda reply, request, model, _: openai_embeddings.write_reply(reply, request=request, model=model),
)
OLLAMA = EmbeddingDialect(
    read=ollama_embed.read_request,
    write=lambda reply, _, model, took_ns: ollama_embed.write_reply(reply, model=model, took_ns=took_ns),
)
OLLAMA_PROMPT = EmbeddingDialect(
    read=ollama_embed.read_prompt_request, write=lambda reply, *_: ollama_embed.write_prompt_reply(reply)
)


class EmbeddingRoute:
    """An ASGI application for `POST` to an embedding route of one dialect."""

    def __init__(self, site: Site, dialect: EmbeddingDialect) -> None:
        self._site = site
        self._dialect = dialect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body, _ = await read_model_json(scope, receive, self._site.options.max_body_bytes)
            request = self._dialect.read(body)
            async with Departure(receive) as departure:
                answer = await self._answer(request, visit_of(scope).request_id)
            visit_of(scope).left = departure.happened
            if departure.happened:
                return
        except MnemoirError as exc:
            await failure(scope, exc)(scope, receive, send)
            return
        await answer(scope, receive, send)

    async def _answer(self, request: EmbeddingRequest, request_id: str) -> Response:
        if request.count > MOST_TEXTS:
            raise InvalidRequest(f"input has {request.count} texts. Send at most {MOST_TEXTS}.", field="input")
        request = replace(request, extra=without_fields(request.extra, self._site.options.session_fields))
        model, started = self._site.parts.models.client_embedding, perf_counter_ns()
        reply = await model.answer(request)
        body = self._dialect.write(reply, request, request.model or model.name, perf_counter_ns() - started)
        answer = Response(body, media_type="application/json")
        if reply.dropped:
            answer.headers["X-Mnemoir-Dropped"] = names = bounded_names(reply.dropped)
            _log.info("members dropped", request=request_id, names=names)
        return answer
