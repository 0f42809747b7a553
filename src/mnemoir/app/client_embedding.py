"""Answers clients' embedding requests with the embedding model that the settings name.

A model server that speaks the client's protocol gets the request unchanged. For any other, tokens are decoded to
texts and members that do not apply are listed as dropped.
"""

import asyncio
from dataclasses import replace

import numpy as np

from mnemoir.core.embeddings import EmbeddingReply, EmbeddingRequest
from mnemoir.core.messages import Extra
from mnemoir.core.text import estimate_tokens
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.providers.embedding.client_forms import texts_of_tokens, with_dimension
from mnemoir.providers.embedding.remote import RemoteEmbeddings
from mnemoir.wire.passed_members import Forward, passed_on


class ClientEmbedding:
    """Answers with one embedding model; `forward` selects the members of a request that its server may get."""

    def __init__(self, model: EmbeddingModel, forward: Forward) -> None:
        self._model = model
        self._forward = forward

    @property
    def name(self) -> str:
        """The name of the embedding model."""
        return self._model.name

    async def answer(self, request: EmbeddingRequest) -> EmbeddingReply:
        """A vector for each text. Raises InvalidRequest for what the model cannot do, ProviderError when it fails."""
        remote = self._model if isinstance(self._model, RemoteEmbeddings) else None
        if request.tokens and not (remote and remote.reads_tokens):
            texts = await asyncio.to_thread(texts_of_tokens, request)
            request = replace(request, texts=texts, tokens=())
        reply = await (self._asked(remote, request) if remote else self._made_here(request))
        vectors = with_dimension(reply.vectors, request.dimension, self.name)
        return replace(reply, vectors=vectors, tokens=_counted(request) if reply.tokens is None else reply.tokens)

    async def _asked(self, remote: RemoteEmbeddings, request: EmbeddingRequest) -> EmbeddingReply:
        if request.extra is None:
            return await remote.answer(request)
        extra, dropped = passed_on(request.extra, remote.route, self._forward)
        return replace(await remote.answer(replace(request, extra=extra)), dropped=dropped)

    async def _made_here(self, request: EmbeddingRequest) -> EmbeddingReply:
        made = await self._model.embed([Passage(text=text) for text in request.texts])
        vectors = np.stack([embedding.vector for embedding in made])
        return EmbeddingReply(vectors=vectors, dropped=_dropped_here(request.extra))


def _counted(request: EmbeddingRequest) -> int:
    return sum(map(estimate_tokens, request.texts)) + sum(map(len, request.tokens))


def _dropped_here(extra: Extra | None) -> list[str]:
    """Members that a model in this process ignores. It cuts long texts, so `truncate` of true is not among them."""
    if extra is None:
        return []
    _, dropped = passed_on(extra, None, "none")
    return [name for name in dropped if name != "truncate" or extra.members[name] is not True]
