"""Checks whether a model's server can be reached, by listing its models, which costs no tokens."""

from dataclasses import dataclass
from typing import Literal

import aiohttp
from pydantic import SecretStr
from yarl import URL

from mnemoir.app.models import ollama_models
from mnemoir.ports.llm import ChatModel
from mnemoir.settings import Settings

Health = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The result of a check. `found` describes the problem, "" for none; `to_do` is the next step."""

    state: Health = "ok"
    found: str = ""
    to_do: str = ""


async def reach_model(settings: Settings, model: ChatModel, session: aiohttp.ClientSession) -> Reached:
    """Check the server of the selected language model."""
    if model.provider == "offline":
        to_do = "Set OPENAI_API_KEY or start Ollama for real answers; see docs/models.md."
        return Reached(state="warn", found="no language model is connected", to_do=to_do)
    if model.provider == "ollama":
        return await reach_ollama(settings.llm.ollama_url, model.name, session)
    llm = settings.llm
    return await reach_openai(llm.base_url, llm.api_key, session, timeout_s=llm.timeouts.connect_s)


async def reach_ollama(url: str, model: str, session: aiohttp.ClientSession) -> Reached:
    """Check that an Ollama answers and has the model."""
    installed = await ollama_models(url, session)
    if {model, f"{model}:latest"} & set(installed):
        return Reached()
    found = f"it has no model {model}" if installed else "it cannot be reached"
    return Reached(state="fail", found=found, to_do=f"Start Ollama there and run: ollama pull {model}")


async def reach_openai(
    url: str, key: SecretStr | None, session: aiohttp.ClientSession, *, timeout_s: float
) -> Reached:
    """Check a server of OpenAI's protocol. A server without a model list still counts as reached."""
    headers = {"authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    timeout = aiohttp.ClientTimeout(total=timeout_s)
    try:
        async with session.get(f"{url}/models", headers=headers, timeout=timeout, allow_redirects=False) as answer:
            status = answer.status
    except (aiohttp.ClientError, TimeoutError) as exc:
        to_do = "Check the address (OPENAI_BASE_URL) and the network."
        return Reached(state="fail", found=type(exc).__name__, to_do=to_do)
    if status in (401, 403):
        return Reached(state="fail", found="refused the key", to_do="Check OPENAI_API_KEY.")
    if status >= 500:
        return Reached(state="warn", found=f"answers {status}", to_do="Try again later.")
    return Reached()


def plain_url(url: str) -> str:
    """The address without the parts that may be secret: user, password, query."""
    return str(URL(url).with_user(None).with_query(None).with_fragment(None))
