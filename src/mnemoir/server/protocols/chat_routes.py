"""The routes of chats and embeddings, which run outside the layers of the REST application."""

from collections.abc import Callable

from starlette.types import ASGIApp

from mnemoir.server.chat import ChatRoute, Dialect
from mnemoir.server.door.says import DirectRoute, declare, says
from mnemoir.server.protocols import dialects, embeddings
from mnemoir.server.protocols.embeddings import EmbeddingDialect, EmbeddingRoute
from mnemoir.server.site import Site

Made = Callable[[Site], ASGIApp]


def _chat(dialect: Dialect, *, by_cookie: bool = False) -> Made:
    @says("write", bucket="chat", by_cookie=by_cookie, query=("project", "memoryEnabled"))
    def make(site: Site) -> ASGIApp:
        return ChatRoute(site, dialect)

    return make


def _embeddings(dialect: EmbeddingDialect) -> Made:
    @says("write", bucket="search", by_cookie=False, query=())
    def make(site: Site) -> ASGIApp:
        return EmbeddingRoute(site, dialect)

    return make


@says("write", act=None, by_cookie=False, query=())
def _ending_one(site: Site) -> ASGIApp:
    return site.under_way


def _route(method: str, path: str, endpoint: Made) -> DirectRoute:
    route = DirectRoute(path, endpoint, methods=[method])
    declare(route)
    return route


ROUTES = (
    _route("POST", "/v1/chat/completions", _chat(dialects.OPENAI_CHAT)),
    _route("POST", "/chat/completions", _chat(dialects.OPENAI_CHAT)),
    _route("POST", "/api/page/chat/completions", _chat(dialects.OPENAI_CHAT, by_cookie=True)),
    _route("POST", "/v1/completions", _chat(dialects.OPENAI_COMPLETIONS)),
    _route("POST", "/completions", _chat(dialects.OPENAI_COMPLETIONS)),
    _route("POST", "/api/chat", _chat(dialects.OLLAMA_CHAT)),
    _route("POST", "/api/generate", _chat(dialects.OLLAMA_GENERATE)),
    _route("DELETE", "/api/chat", _ending_one),
    _route("DELETE", "/api/generate", _ending_one),
    _route("POST", "/v1/embeddings", _embeddings(embeddings.OPENAI)),
    _route("POST", "/embeddings", _embeddings(embeddings.OPENAI)),
    _route("POST", "/api/embed", _embeddings(embeddings.OLLAMA)),
    _route("POST", "/api/embeddings", _embeddings(embeddings.OLLAMA_PROMPT)),
)
