"""The model servers of a config tree: one chat model per endpoint, with a limit on its concurrent calls."""

from asyncio import Semaphore
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace

import aiohttp

from mnemoir.ports.llm import PATHS, ChatModel, LastCalls, ModelServer, ModelServerKind, ModelServers
from mnemoir.providers.llm.endpoint import Endpoint, SettingNames, Timeouts
from mnemoir.providers.llm.remote_model import Dialect, RemoteModel
from mnemoir.wire import koboldcpp, ollama_chat, ollama_generate, openai_chat, openai_completions

_SETTINGS = SettingNames(
    key="apiKey in its file", model="modelNameToSendToAPI in its file", url="endpoint in its file"
)


_DIALECTS: Mapping[ModelServerKind, Dialect] = {
    "openai-chat": Dialect(
        provider="openai-chat",
        path=PATHS["openai-chat"][0],
        write_request=openai_chat.write_request,
        reader=openai_chat.AnswerReader,
    ),
    "openai-completions": Dialect(
        provider="openai-completions",
        path=PATHS["openai-completions"][0],
        write_request=openai_completions.write_request,
        reader=openai_completions.AnswerReader,
    ),
    "koboldcpp": Dialect(
        provider="koboldcpp",
        path=PATHS["koboldcpp"][0],
        stream_path=PATHS["koboldcpp"][1],
        write_request=koboldcpp.write_request,
        reader=koboldcpp.AnswerReader,
    ),
    "ollama-chat": Dialect(
        provider="ollama-chat",
        path=PATHS["ollama-chat"][0],
        write_request=ollama_chat.write_request,
        reader=ollama_chat.AnswerReader,
    ),
    "ollama-generate": Dialect(
        provider="ollama-generate",
        path=PATHS["ollama-generate"][0],
        write_request=ollama_generate.write_request,
        reader=ollama_generate.AnswerReader,
    ),
}


class HttpModelServers:
    """All endpoints of a config tree, over one shared session, which this class does not close.

    `timeouts`, `tries` (see Endpoint) and `most_bytes` apply to each endpoint. `calls_at_once` limits the concurrent
    calls to an endpoint that sets no limit itself; 0 means no limit.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        timeouts: Timeouts,
        tries: int | None,
        most_bytes: int,
        calls_at_once: int = 0,
    ) -> None:
        self._session = session
        self._timeouts = timeouts
        self._tries = tries
        self._most_bytes = most_bytes
        self._calls_at_once = calls_at_once
        self._models: dict[ModelServer, RemoteModel] = {}
        self._call_limits: dict[tuple[str, str, int], Semaphore] = {}

    def model(self, server: ModelServer) -> ChatModel:
        """The chat model of `server`; equal servers share one. Raises SettingsError for an invalid URL."""
        found = self._models.get(server)
        if found is None:
            found = self._models[server] = _ServerModel(
                self._endpoint(server),
                self._session,
                _DIALECTS[server.kind],
                self._call_limit_of(server),
            )
        return found

    def calls(self) -> Mapping[ModelServer, LastCalls]:
        """Outcomes of the last calls, for each server whose model was requested."""
        return {server: model.last_calls for server, model in self._models.items()}

    def _endpoint(self, server: ModelServer) -> Endpoint:
        connect_s = server.connect_timeout_s
        return Endpoint(
            name=server.name,
            base_url=server.base_url,
            api_key=server.api_key or None,
            timeouts=self._timeouts if connect_s is None else replace(self._timeouts, connect_s=connect_s),
            tries=1 if server.is_asked_once else self._tries,
            most_bytes=self._most_bytes,
            settings=_SETTINGS,
        )

    def _call_limit_of(self, server: ModelServer) -> AbstractAsyncContextManager[object]:
        """The semaphore of an endpoint's concurrent calls, shared by its models; a null context without a limit."""
        most = server.most_at_once or self._calls_at_once
        if most <= 0:
            return nullcontext()
        return self._call_limits.setdefault((server.name, server.base_url, most), Semaphore(most))


class _ServerModel(RemoteModel):
    """The chat model of an endpoint file; its dialect is chosen at run time."""

    def __init__(
        self,
        endpoint: Endpoint,
        session: aiohttp.ClientSession,
        dialect: Dialect,
        call_limit: AbstractAsyncContextManager[object],
    ) -> None:
        super().__init__(endpoint, session, call_limit)
        self.dialect = dialect


_: type[ModelServers] = HttpModelServers  # checked, never run
