"""Trying a model: one question, or one text to embed, and the list of what its server has.

Problems are told in words of our own, and none of the other side's: it may be any server that somebody named.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import aiohttp
import orjson

from mnemoir.core.errors import InvalidRequest, ProviderError, ProviderInvalidOutput, ProviderTimeout, SettingsError
from mnemoir.core.messages import ModelRequest, text_message
from mnemoir.models.choice import choose_model, endpoint_of, ollama_models, those_that_chat
from mnemoir.models.model_in_use import Chosen
from mnemoir.models.model_setup import EmbeddingTest, ModelsOffered, ModelTest
from mnemoir.models.reaching import plain_url
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.ports.llm import ChatModel
from mnemoir.providers.http import most_of
from mnemoir.providers.llm.border import provider_errors
from mnemoir.settings import Llm
from mnemoir.settings.saved_model import LONGEST_MODEL

_LONGEST_TEST_S = 120.0  # a large model may have to be loaded first
_LONGEST_LIST_S = 10.0
_MOST_BYTES = 4 * 1024 * 1024
_MOST_LISTED = 1000
_QUESTION = "Answer with the single word: ready"
_TEXT = Passage(text="A short text.")
_ADDRESS = "Check the address; for OpenAI-compatible servers it usually ends in /v1."


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The problem, the next step, and the status of the refusal, if there was one."""

    found: str
    to_do: str
    status: int | None = None


def as_problem(exc: ProviderError | TimeoutError) -> Problem:
    """The problem behind a failed call, without anything that the other side said."""
    if isinstance(exc, TimeoutError | ProviderTimeout):
        return Problem(
            found="it did not answer in time", to_do="Check whether it is busy or still loading the model."
        )
    if isinstance(exc, ProviderInvalidOutput):
        return Problem(found="the server there is not a model server", to_do=_ADDRESS, status=exc.status)
    status = exc.status
    if status is None:
        return Problem(found="it cannot be reached", to_do="Start it, or correct the address.")
    if status in (401, 403):
        return Problem(found=f"it refused the key ({status})", to_do="Enter a key for this address.", status=status)
    if status == 404:
        to_do = f"Check the model name. {_ADDRESS}"
        return Problem(found="model or path not found (404)", to_do=to_do, status=status)
    if status in (402, 429):
        to_do = "Try again later, or check the credit of its account."
        return Problem(found=f"it refuses requests for now ({status})", to_do=to_do, status=status)
    to_do = "Try again later; its log says more." if status >= 500 else f"Check the model name. {_ADDRESS}"
    return Problem(found=f"it answered {status}", to_do=to_do, status=status)


async def asked_once(llm: Llm, session: aiohttp.ClientSession) -> ModelTest:
    """How one question to the model of these settings goes, without a second try. Raises InvalidRequest."""
    try:
        model = await choose_model(llm.model_copy(update={"tries": 1}), session)
    except SettingsError as exc:
        raise InvalidRequest(exc.message, code=exc.code) from exc
    url = Chosen(model=model, llm=llm, session=session).url
    if url is None:
        nothing = Problem(found="no language model is connected", to_do="Say where your model runs.")
        return _tested(model, url, 0.0, nothing)
    began = perf_counter()
    try:
        async with asyncio.timeout(_LONGEST_TEST_S):
            await model.ask(ModelRequest(messages=[text_message("user", _QUESTION)]))
    except (ProviderError, TimeoutError) as exc:
        return _tested(model, url, perf_counter() - began, as_problem(exc))
    return _tested(model, url, perf_counter() - began, None)


async def embedded_once(model: EmbeddingModel, url: str | None) -> EmbeddingTest:
    """How embedding one short text goes. `url` is shown; None for a model in this process."""
    began = perf_counter()
    dimension, problem = None, None
    try:
        async with asyncio.timeout(_LONGEST_TEST_S):
            [made] = await model.embed([_TEXT])
        dimension = len(made.vector)
    except (ProviderError, TimeoutError) as exc:
        problem = as_problem(exc)
    except ImportError:
        problem = Problem(found="it is not installed", to_do="Install it; docs/models.md says how.")
    return EmbeddingTest(
        ok=problem is None,
        model=model.name,
        url=None if url is None else plain_url(url),
        dimension=dimension,
        latency_ms=round((perf_counter() - began) * 1e3, 1),
        status=None if problem is None else problem.status,
        problem="" if problem is None else problem.found,
        to_do="" if problem is None else problem.to_do,
    )


async def models_at(
    llm: Llm,
    session: aiohttp.ClientSession,
    suited: Callable[[Sequence[str]], list[str]] = those_that_chat,
) -> ModelsOffered:
    """The models that the server of these settings lists; of an Ollama's, those that are `suited`."""
    if llm.provider == "ollama":
        found = suited(await ollama_models(llm.ollama_url, session))
        to_do = "Start it there, and pull a model, for example: ollama pull llama3.2"
        return (
            ModelsOffered(models=found[:_MOST_LISTED])
            if found
            else _none("no Ollama with a model was found there", to_do)
        )
    try:
        async with asyncio.timeout(_LONGEST_LIST_S):
            return ModelsOffered(models=await _listed(llm, session))
    except (ProviderError, TimeoutError) as exc:
        problem = as_problem(exc)
        return _none(problem.found, problem.to_do)


async def _listed(llm: Llm, session: aiohttp.ClientSession) -> list[str]:
    """The names in a server's list of models. Raises ProviderError."""
    endpoint = endpoint_of(llm, llm.model)
    with provider_errors(endpoint):
        async with session.get(endpoint.url("/models"), headers=endpoint.headers(), allow_redirects=False) as answer:
            if answer.status != 200:
                raise ProviderError("It refused.", status=answer.status)
            body = await most_of(answer, _MOST_BYTES)
    try:
        listed = orjson.loads(body or b"")["data"]
        names = [entry["id"] for entry in listed[:_MOST_LISTED]]
    except (orjson.JSONDecodeError, LookupError, TypeError):
        raise ProviderInvalidOutput("It has no list of models.") from None
    return [name for name in names if isinstance(name, str) and 0 < len(name) <= LONGEST_MODEL]


def _none(found: str, to_do: str) -> ModelsOffered:
    return ModelsOffered(models=(), problem=found, to_do=to_do)


def _tested(model: ChatModel, url: str | None, took_s: float, problem: Problem | None) -> ModelTest:
    return ModelTest(
        ok=problem is None,
        provider=model.provider,
        model=model.name,
        url=None if url is None else plain_url(url),
        latency_ms=round(took_s * 1e3, 1),
        status=None if problem is None else problem.status,
        problem="" if problem is None else problem.found,
        to_do="" if problem is None else problem.to_do,
    )
