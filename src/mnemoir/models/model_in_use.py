"""The language model in use, which may be another from one call to the next.

A call takes the model of now and keeps it until it ends, so what was begun ends on the model it began with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import aiohttp

from mnemoir.ports.llm import ChatModel
from mnemoir.settings import Settings

M = TypeVar("M")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen(Generic[M]):
    """A model, with the settings it was chosen by and the session of its calls."""

    model: M
    settings: Settings
    session: aiohttp.ClientSession


def chat_url(chosen: Chosen[ChatModel]) -> str | None:
    """The address of a language model's server; None for the offline model."""
    llm, provider = chosen.settings.llm, chosen.model.provider
    return None if provider == "offline" else llm.ollama_url if provider == "ollama" else llm.base_url


class ModelInUse:
    """The model in use, which `discreet` keeps from being sent what it may not see.

    Parts that keep facts about it ask to be told of a change.
    """

    def __init__(
        self, chosen: Chosen[ChatModel], discreet: Callable[[ChatModel], ChatModel] = lambda model: model
    ) -> None:
        self.chosen = chosen
        self.provider = chosen.model.provider  # of the model of now
        self._discreet = discreet
        self._now = discreet(chosen.model)
        self._former: list[ChatModel] = []
        self._told: list[Callable[[], None]] = []

    def now(self) -> ChatModel:
        """The model for a call that begins now."""
        return self._now

    def name(self) -> str:
        """The name of the model of now."""
        return self.chosen.model.name

    def on_change(self, tell: Callable[[], None]) -> None:
        """Call `tell` behind each change."""
        self._told.append(tell)

    def use(self, chosen: Chosen[ChatModel]) -> None:
        """Give `chosen` to all calls from now on."""
        self._former.append(self.chosen.model)  # calls under way use it; it is closed with all others
        self.chosen = chosen
        self.provider = chosen.model.provider
        self._now = self._discreet(chosen.model)
        for tell in self._told:
            tell()

    async def aclose(self) -> None:
        """Close all models that were in use."""
        for model in (*self._former, self.chosen.model):
            await model.aclose()
