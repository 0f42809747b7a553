"""Answers clients' embedding requests with the embedding model that the settings name.

A model server that speaks the client's protocol gets the request unchanged. For any other, tokens are decoded to
texts and members that do not apply are listed as dropped.

Models trained by Matryoshka Representation Learning (Kusupati et al., NeurIPS 2022) put most of the meaning into the
first numbers of a vector. Cut vectors of any other model find the wrong texts, so their length cannot be changed.

Clients such as LangChain count the tokens of a text before they send it, and then send the tokens. The requested
model determines their encoding. Tokens are decoded with tiktoken, and only when the encoding's file is on this
machine already, because Mnemoir downloads nothing by itself.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemoir.conversations.windows.counters import Encoding, local_encoding
from mnemoir.core.embeddings import EmbeddingReply, EmbeddingRequest
from mnemoir.core.errors import InvalidRequest, NotSupported
from mnemoir.core.messages import Extra
from mnemoir.core.text import estimate_tokens
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.providers.embedding.remote import RemoteEmbeddings
from mnemoir.wire.passed_members import Forward, passed_on

Vectors = NDArray[np.floating[Any]]

# Models whose makers describe the plain cut: OpenAI's guide to embeddings, and the model cards of Google, Qwen,
# Mixedbread and Snowflake. Not nomic-embed-text: its card asks for a layer norm in front of the cut.
_CAN_BE_CUT = re.compile(
    r"(?:^|[/:])(?:text-embedding-3-|embeddinggemma|qwen3-embedding|mxbai-embed-large|snowflake-arctic-embed2"
    r"|snowflake-arctic-embed-m-v1\.5|snowflake-arctic-embed-[ml]-v2\.0)",
    re.IGNORECASE,
)
_CL100K = ("text-embedding-ada-002", "text-embedding-3-")  # beginnings of names, without vendors


def with_dimension(vectors: Vectors, dimension: int | None, model: str) -> Vectors:
    """The vectors, shortened to `dimension` numbers each; unchanged when they have that length or it is None.

    `model` is an `EmbeddingModel.name`, such as `ollama:qwen3-embedding:0.6b`. Raises InvalidRequest when its
    vectors are too short or cannot be cut.
    """
    length = vectors.shape[1]
    if dimension is None or dimension == length:
        return vectors
    if dimension > length or not _CAN_BE_CUT.search(model):
        raise InvalidRequest(f"{model} makes vectors of {length} numbers only.", field="dimensions")
    cut = vectors[:, :dimension].astype(np.float64)
    lengths = np.sqrt((cut * cut).sum(axis=1, keepdims=True))
    unit: NDArray[np.float32] = (cut / np.where(lengths, lengths, 1.0)).astype(np.float32)
    return unit


def texts_of_tokens(request: EmbeddingRequest) -> tuple[str, ...]:
    """One text per list of tokens, in order. Blocks: the first call reads megabytes from disk.

    A character that is cut in two at the end of a list becomes U+FFFD. Raises NotSupported when the encoding is
    unknown or its file is missing, InvalidRequest for a number that is not one of its tokens.
    """
    name = _encoding_of(request.model)
    encoding = local_encoding(name)
    if encoding is None:
        raise NotSupported(
            f"input holds token numbers of {name}, which cannot be turned into text here: that needs the extra "
            f"(pip install 'mnemoir[tiktoken]') and the file of {name} in the folder that TIKTOKEN_CACHE_DIR names. "
            "Send the texts themselves; in LangChain, set check_embedding_ctx_length=False.",
            field="input",
        )
    return tuple(_text_of(tokens, encoding, n) for n, tokens in enumerate(request.tokens))


def _encoding_of(model: str) -> str:
    if model.rpartition("/")[2].startswith(_CL100K):
        return "cl100k_base"
    raise NotSupported(
        f"input holds token numbers, and the encoding of model {model[:80]!r} is not known. Send the texts "
        "themselves, or request text-embedding-ada-002, text-embedding-3-small or text-embedding-3-large, "
        "whose tokens can be turned into text with the extra (pip install 'mnemoir[tiktoken]') and the file of "
        "cl100k_base in the folder that TIKTOKEN_CACHE_DIR names.",
        field="input",
    )


def _text_of(tokens: Sequence[int], encoding: Encoding, place: int) -> str:
    try:
        return encoding.decode(tokens)
    except (KeyError, OverflowError) as exc:
        raise InvalidRequest(
            f"input[{place}] holds a number that is not a token of the model.", field="input"
        ) from exc


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
        reply = await (self._ask_remote(remote, request) if remote else self._made_here(request))
        vectors = with_dimension(reply.vectors, request.dimension, self.name)
        return replace(reply, vectors=vectors, tokens=_token_count(request) if reply.tokens is None else reply.tokens)

    async def _ask_remote(self, remote: RemoteEmbeddings, request: EmbeddingRequest) -> EmbeddingReply:
        if request.extra is None:
            return await remote.answer(request)
        extra, dropped = passed_on(request.extra, remote.route, self._forward)
        return replace(await remote.answer(replace(request, extra=extra)), dropped=dropped)

    async def _made_here(self, request: EmbeddingRequest) -> EmbeddingReply:
        made = await self._model.embed([Passage(text=text) for text in request.texts])
        vectors = np.stack([embedding.vector for embedding in made])
        return EmbeddingReply(vectors=vectors, dropped=_dropped_here(request.extra))


def _token_count(request: EmbeddingRequest) -> int:
    return sum(map(estimate_tokens, request.texts)) + sum(map(len, request.tokens))


def _dropped_here(extra: Extra | None) -> list[str]:
    """Members that a model in this process ignores. It cuts long texts, so `truncate` of true is not among them."""
    if extra is None:
        return []
    _, dropped = passed_on(extra, None, "none")
    return [name for name in dropped if name != "truncate" or extra.members[name] is not True]
