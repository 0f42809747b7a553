"""Embedding models over HTTP: batches, checked vectors, and translated failures."""

from collections.abc import AsyncIterator

import aiohttp
import numpy as np
import pytest

from mnemoir.core.errors import ProviderInvalidOutput, ProviderNotConfigured, ProviderRefused, ProviderUnavailable
from mnemoir.ports.embedding import Passage
from mnemoir.providers.embedding.remote import OllamaEmbeddings, OpenAIEmbeddings
from mnemoir.providers.embedding.sentence_transformers_model import SentenceTransformersModel
from mnemoir.providers.http import new_session
from mnemoir.providers.llm.endpoint import Endpoint
from tests.scripted_llm import Answer, ScriptedLLM, closed_port_url, failure, html_page

Model = OpenAIEmbeddings | OllamaEmbeddings


@pytest.fixture
async def llm() -> AsyncIterator[ScriptedLLM]:
    async with ScriptedLLM() as server:
        yield server


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with new_session() as opened:
        yield opened


@pytest.fixture(params=[OpenAIEmbeddings, OllamaEmbeddings], ids=["openai", "ollama"])
def model(request: pytest.FixtureRequest, llm: ScriptedLLM, session: aiohttp.ClientSession) -> Model:
    url = llm.url if request.param is OllamaEmbeddings else llm.openai_url
    made: Model = request.param(Endpoint(base_url=url, model="small", backoff_s=0.0), session)
    return made


def passages(*texts: str) -> list[Passage]:
    return [Passage(text=text) for text in texts]


async def test_each_passage_gets_a_vector_of_unit_length(model: Model, llm: ScriptedLLM) -> None:
    llm.queue_embedding(Answer(vectors=[[3.0, 4.0], [0.0, 1e20]]))
    before = model.dimension
    embeddings = await model.embed(passages("a", "b"))
    assert [embedding.vector.tolist() for embedding in embeddings] == [pytest.approx([0.6, 0.8]), [0.0, 1.0]]
    assert embeddings[0].vector.dtype == np.float32
    assert (before, model.dimension, embeddings[0].token_vectors) == (None, 2, None)
    assert model.name in ("openai:small", "ollama:small")


async def test_many_passages_go_in_batches_and_keep_their_order(model: Model, llm: ScriptedLLM) -> None:
    texts = [f"text number {n}" for n in range(150)]
    embeddings = await model.embed(passages(*texts))
    assert [len(asked.body["input"]) for asked in llm.requests] == [64, 64, 22]
    assert np.stack([embedding.vector for embedding in embeddings]) == pytest.approx(
        np.array([llm.vector_of(text) for text in texts]), abs=1e-6
    )


async def test_without_passages_there_is_no_call(model: Model, llm: ScriptedLLM) -> None:
    assert await model.embed([]) == []
    assert llm.requests == []


async def test_vectors_of_another_length_are_refused(model: Model, llm: ScriptedLLM) -> None:
    await model.embed(passages("a"))
    llm.queue_embedding(Answer(vectors=[[1.0, 0.0]]))
    with pytest.raises(ProviderInvalidOutput, match="vectors of 2 numbers, where 16 were expected"):
        await model.embed(passages("b"))


@pytest.mark.parametrize(
    ("vectors", "what"),
    [
        ([[0.0, 0.0]], "zero vector"),
        ([[None, 1.0]], "not a finite number"),
        ([[float("nan"), 1.0]], "not JSON"),
        ([[1e39, 1.0]], "not a finite number"),
        ([["many", 1.0]], "not lists of numbers"),
        ([[1.0], [1.0]], "2 vectors for 1 texts"),
        ([], "0 vectors for 1 texts"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
async def test_unusable_vectors_are_refused(
    model: Model, llm: ScriptedLLM, vectors: list[list[object]], what: str
) -> None:
    llm.queue_embedding(Answer(vectors=vectors))
    with pytest.raises(ProviderInvalidOutput, match=what):
        await model.embed(passages("a"))


async def test_an_unreachable_server_is_reported(session: aiohttp.ClientSession) -> None:
    model = OpenAIEmbeddings(Endpoint(base_url=closed_port_url(), model="small", backoff_s=0.0), session)
    with pytest.raises(ProviderUnavailable, match="could not be reached"):
        await model.embed(passages("a"))


async def test_embedding_calls_fail_with_the_errors_of_model_calls(model: Model, llm: ScriptedLLM) -> None:
    llm.queue_embedding(failure(503), Answer(), failure(401, "wrong key"), html_page())
    assert len(await model.embed(passages("a"))) == 1
    with pytest.raises(ProviderRefused, match="wrong key"):
        await model.embed(passages("a"))
    with pytest.raises(ProviderInvalidOutput, match="not JSON"):
        await model.embed(passages("a"))


def test_a_missing_extra_is_reported_with_the_install_command() -> None:
    with pytest.raises(ProviderNotConfigured, match=r"pip install 'mnemoir\[sentence-transformers\]'"):
        SentenceTransformersModel("all-MiniLM-L6-v2")
