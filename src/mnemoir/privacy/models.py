"""A chat model that is sent no personal data where the policy in force says so.

It stands before each model behind a network, also one on this machine, which may be a gateway. What it replaces in a
request it turns back in the answer to this request; nothing of it is stored.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import cast

import structlog

from mnemoir.core.events import ModelEvent, Reply
from mnemoir.core.messages import ModelRequest
from mnemoir.ports.llm import Address, ChatModel, LastCalls, ModelServer, ModelServers
from mnemoir.privacy.detection import Rules
from mnemoir.privacy.placeholders import Placeholders
from mnemoir.privacy.policy import PersonalDataRefused, Policy, in_force
from mnemoir.privacy.requests import RestoredEvents, changed_request, request_texts, restored_reply

_log = structlog.get_logger(__name__)


class DiscreetModel:
    """`rules` gives the rules at the first use. `default` is the policy of calls that belong to no project.

    Raises PersonalDataRefused in addition to what the model raises.
    """

    def __init__(self, model: ChatModel, rules: Callable[[], Rules], default: Policy, *, restores: bool) -> None:
        self._model = model
        self._rules = rules
        self._default = default
        self._restores = restores

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def provider(self) -> str:
        return self._model.provider

    @property
    def last_calls(self) -> LastCalls:
        return self._model.last_calls

    def address(self, *, stream: bool) -> Address | None:
        return self._model.address(stream=stream)

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelEvent], None]:
        """See the port."""
        return self._model.stream(request) if self._is_off else self._stream(request)

    async def ask(self, request: ModelRequest) -> Reply:
        """See the port."""
        if self._is_off:
            return await self._model.ask(request)
        sent, placeholders = await self._request_to_send(request)
        reply = await self._model.ask(sent)
        return restored_reply(reply, placeholders) if placeholders and self._restores else reply

    async def aclose(self) -> None:
        await self._model.aclose()

    @property
    def _is_off(self) -> bool:
        return (in_force.get() or self._default).models == "off"

    async def _stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelEvent], None]:
        sent, placeholders = await self._request_to_send(request)
        async with aclosing(self._model.stream(sent)) as batches:
            if not (placeholders and self._restores):
                async for batch in batches:
                    yield batch
                return
            restoring = RestoredEvents(placeholders)
            try:
                async for batch in batches:
                    if restored := restoring.take(batch):
                        yield cast(list[ModelEvent], restored)  # events of a model stay such
            except Exception:
                if held := restoring.end():
                    yield cast(list[ModelEvent], held)
                raise

    async def _request_to_send(self, request: ModelRequest) -> tuple[ModelRequest, Placeholders]:
        """The request as it may be sent, and what it has in place of values."""
        action = (in_force.get() or self._default).models
        return await asyncio.to_thread(
            _request_with_placeholders, request, self._rules(), action == "redact", action == "block"
        )


def _request_with_placeholders(
    request: ModelRequest, rules: Rules, redacts: bool, blocks: bool
) -> tuple[ModelRequest, Placeholders]:
    """Blocks."""
    placeholders = Placeholders()
    texts = request_texts(request)
    kinds = {one.kind for text in texts for one in rules.find(text)}
    if not kinds:
        return request, placeholders
    if blocks:
        raise PersonalDataRefused(kinds, "what models are sent")
    if not redacts:
        _log.info("personal data sent to a model", kinds=sorted(kinds))
        return request, placeholders
    for text in texts:
        placeholders.reserve(text)
    return changed_request(request, lambda text: placeholders.with_placeholders(text, rules.find(text))), placeholders


class DiscreetServers:
    """The models behind the endpoints of a config tree, each made discreet by `discreet`."""

    def __init__(self, servers: ModelServers, discreet: Callable[[ChatModel], ChatModel]) -> None:
        self._servers = servers
        self._discreet = discreet
        self._models: dict[ModelServer, ChatModel] = {}

    def model(self, server: ModelServer) -> ChatModel:
        """See the port."""
        found = self._models.get(server)
        if found is None:
            found = self._models[server] = self._discreet(self._servers.model(server))
        return found


_: tuple[type[ChatModel], type[ModelServers]] = (DiscreetModel, DiscreetServers)  # checked, never run
