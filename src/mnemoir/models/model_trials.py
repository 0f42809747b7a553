"""Trying a model: one question, or one text to embed, and the list of what its server has.

Problems are told in words of our own, and none of the other side's: it may be any server that somebody named.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, TypeVar

import aiohttp
import orjson

from mnemoir.core.errors import InvalidRequest, ProviderError, ProviderInvalidOutput, ProviderTimeout, SettingsError
from mnemoir.core.messages import ModelRequest, text_message
from mnemoir.models.choice import choose_model, ollama_models
from mnemoir.models.model_in_use import Chosen, chat_url
from mnemoir.models.model_setup import EmbeddingTest, ModelsOffered, ModelTest
from mnemoir.models.reaching import plain_url
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.ports.llm import ChatModel
from mnemoir.providers.http import most_of
from mnemoir.providers.llm.border import provider_errors
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.settings.saved_model import LONGEST_MODEL
from mnemoir.wire.upstream import FailedAnswer

Result = TypeVar("Result")
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


_NOTHING = Problem(found="no language model is connected", to_do="Say where your model runs.")


def as_problem(exc: ProviderError | TimeoutError) -> Problem:
    """The problem behind a failed call, without anything that the other side said."""
    if isinstance(exc, TimeoutError | ProviderTimeout):
        return Problem(
            found="it did not answer in time", to_do="Check whether it is busy or still loading the model."
        )
    if isinstance(exc, ProviderInvalidOutput):
        return Problem(found="it answered, but not as a model server does", to_do=_ADDRESS, status=exc.status)
    status = exc.status
    if status is None and isinstance(exc, FailedAnswer):
        return Problem(found="it answered, but with an error or half an answer", to_do="Its log says more.")
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


@contextmanager
def refused_settings() -> Iterator[None]:
    """Raise InvalidRequest in place of SettingsError."""
    try:
        yield
    except SettingsError as exc:
        raise InvalidRequest(exc.message, code=exc.code) from exc


async def ask_once(chosen: Chosen[ChatModel]) -> ModelTest:
    """How one question to the language model of these settings goes, without a second try. Raises InvalidRequest."""
    llm = chosen.settings.llm.model_copy(update={"tries": 1})
    with refused_settings():
        model = await choose_model(llm, chosen.session)
    url = chat_url(replace(chosen, model=model))
    trial = Trial(problem=_NOTHING)
    if url is not None:
        trial, _ = await _trial_of(model.ask(ModelRequest(messages=[text_message("user", _QUESTION)])))
    return ModelTest(provider=model.provider, model=model.name, **trial.members(url))


async def embed_once(chosen: Chosen[EmbeddingModel]) -> EmbeddingTest:
    """How embedding one short text goes."""
    settings, model = chosen.settings, chosen.model
    trial, made = await _trial_of(model.embed([_TEXT]))
    url = settings.embedding_url if settings.embedding.provider in ("openai", "ollama") else None
    return EmbeddingTest(
        model=model.name, dimension=None if made is None else len(made[0].vector), **trial.members(url)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How a call went, and how long it took in seconds."""

    problem: Problem | None
    took_s: float = 0.0

    def members(self, url: str | None) -> dict[str, Any]:
        """The members of a test by name; `url` is that of the model's server, None for a model in this process."""
        problem = self.problem
        return {
            "ok": problem is None,
            "url": None if url is None else plain_url(url),
            "latency_ms": round(self.took_s * 1e3, 1),
            "status": None if problem is None else problem.status,
            "problem": "" if problem is None else problem.found,
            "to_do": "" if problem is None else problem.to_do,
        }


async def _trial_of(call: Awaitable[Result]) -> tuple[Trial, Result | None]:
    """How a call goes, and its result, None without one."""
    began, problem, result = perf_counter(), None, None
    try:
        async with asyncio.timeout(_LONGEST_TEST_S):
            result = await call
    except (ProviderError, TimeoutError) as exc:
        problem = as_problem(exc)
    except ImportError:
        problem = Problem(found="it is not installed", to_do="Install it; docs/models.md says how.")
    return Trial(problem=problem, took_s=perf_counter() - began), result


async def models_at(
    at: Endpoint, session: aiohttp.ClientSession, suited: Callable[[Sequence[str]], list[str]] | None
) -> ModelsOffered:
    """The models that a server lists; with `suited` those of an Ollama that it picks."""
    if suited is not None:
        found = suited(await ollama_models(at.base_url, session))
        to_do = "Start it there, and pull a model, for example: ollama pull llama3.2"
        return (
            ModelsOffered(models=found[:_MOST_LISTED])
            if found
            else _none("no Ollama with a model was found there", to_do)
        )
    try:
        async with asyncio.timeout(_LONGEST_LIST_S):
            return ModelsOffered(models=await _model_names(at, session))
    except (ProviderError, TimeoutError) as exc:
        problem = as_problem(exc)
        return _none(problem.found, problem.to_do)


async def _model_names(endpoint: Endpoint, session: aiohttp.ClientSession) -> list[str]:
    """The names in a server's list of models. Raises ProviderError."""
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
