"""A scripted model server, and models that call it with short timeouts."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import pytest

from mnemoir.providers.http import new_session
from mnemoir.providers.llm.endpoint import Endpoint, Timeouts
from mnemoir.providers.llm.ollama_chat import OllamaChat
from mnemoir.providers.llm.openai_chat import OpenAIChat
from mnemoir.providers.llm.openai_responses import OpenAIResponses
from mnemoir.providers.llm.remote_model import RemoteModel
from tests.scripted_llm import ScriptedLLM

MODELS: list[type[RemoteModel]] = [OpenAIResponses, OpenAIChat, OllamaChat]
SECRET = "sk-canary-1234567890"
NewModel = Callable[..., RemoteModel]


@pytest.fixture
async def llm() -> AsyncIterator[ScriptedLLM]:
    async with ScriptedLLM() as server:
        yield server


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with new_session() as opened:
        yield opened


@pytest.fixture(params=MODELS, ids=lambda model: model.__name__)
def any_model(request: pytest.FixtureRequest) -> type[RemoteModel]:
    """Runs a test once with each protocol."""
    kind: type[RemoteModel] = request.param
    return kind


@pytest.fixture
def new_model(llm: ScriptedLLM, session: aiohttp.ClientSession) -> NewModel:
    """A model on the scripted server; `timeouts` are those of Timeouts, the rest are members of Endpoint."""

    def make(kind: type[RemoteModel], *, timeouts: dict[str, float] | None = None, **members: Any) -> RemoteModel:
        url = llm.url if kind is OllamaChat else llm.openai_url
        limits = Timeouts(**{"first_byte_s": 20, "between_bytes_s": 20, **(timeouts or {})})
        given = {"base_url": url, "api_key": SECRET, "model": "scripted", "backoff_s": 0.0, **members}
        return kind(Endpoint(timeouts=limits, **given), session)

    return make
