"""The embedding routes: our embedding model, behind OpenAI's and Ollama's protocols."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mnemoir.core.errors import InvalidRequest, MnemoirError
from mnemoir.core.tokens import estimate_tokens
from mnemoir.ports.embedding import Passage
from mnemoir.server.bodies import read_json
from mnemoir.server.departure import Departure
from mnemoir.server.errors import failure
from mnemoir.server.site import Site
from mnemoir.server.visit import visit_of
from mnemoir.wire import ollama_embed, openai_embeddings
from mnemoir.wire.embedding_request import EmbeddingRequest, Vectors

MOST_TEXTS = 2048  # as OpenAI's own server

Read = Callable[[Mapping[str, Any]], EmbeddingRequest]
Write = Callable[[Vectors, EmbeddingRequest, str, int], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingDialect:
    """How a protocol asks for vectors, and how it is told them: (vectors, request, model, tokens)."""

    read: Read
    write: Write


OPENAI = EmbeddingDialect(
    read=openai_embeddings.read_request,
    write=lambda vectors, request, model, tokens: openai_embeddings.write_reply(
        vectors, request=request, model=model, tokens=tokens
    ),
)
OLLAMA = EmbeddingDialect(
    read=ollama_embed.read_request,
    write=lambda vectors, request, model, tokens: ollama_embed.write_reply(vectors, model=model, tokens=tokens),
)
OLLAMA_PROMPT = EmbeddingDialect(
    read=ollama_embed.read_prompt_request,
    write=lambda vectors, request, model, tokens: ollama_embed.write_prompt_reply(vectors),
)


class EmbeddingRoute:
    """An ASGI application for `POST` to an embedding route of one dialect."""

    def __init__(self, site: Site, dialect: EmbeddingDialect) -> None:
        self._site = site
        self._dialect = dialect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            request = self._dialect.read(await read_json(scope, receive, self._site.options.max_body_bytes))
            async with Departure(receive) as departure:
                body = await self._embed(request)
            visit_of(scope).left = departure.happened
            if departure.happened:
                return
        except MnemoirError as exc:
            await failure(scope, exc)(scope, receive, send)
            return
        await Response(body, media_type="application/json")(scope, receive, send)

    async def _embed(self, request: EmbeddingRequest) -> bytes:
        if len(request.texts) > MOST_TEXTS:
            raise InvalidRequest(f"input has {len(request.texts)} texts. Send at most {MOST_TEXTS}.", field="input")
        model = self._site.parts.embedding
        made = await model.embed([Passage(text=text) for text in request.texts])
        vectors = np.stack([embedding.vector for embedding in made])
        length = vectors.shape[1]
        if request.dimension not in (None, length):
            raise InvalidRequest(f"{model.name} makes vectors of {length} numbers only.", field="dimensions")
        tokens = sum(estimate_tokens(text) for text in request.texts)
        return self._dialect.write(vectors, request, request.model or model.name, tokens)
