"""`/api/model/embedding`: the embedding model in use, trying another, and saving one for the next start."""

from typing import Annotated

from fastapi import Depends, Request
from pydantic import Field, SecretStr

from mnemoir.core.errors import InvalidRequest
from mnemoir.models.model_setup import EmbeddingSetup, EmbeddingTest, ModelsOffered, WantedEmbedding
from mnemoir.server.door.changing import why_locked
from mnemoir.server.model.routes import GUARDED, LONGEST_KEY, LONGEST_URL
from mnemoir.server.rest import Answer, Body, BodyOf, JsonObject, Routes, SiteHere
from mnemoir.settings.saved_model import LONGEST_MODEL, SavedEmbedder

router = Routes(prefix="/api/model/embedding", tags=["model"])


class EmbeddingServerBody(Body):
    """The server of an embedding model. Without `api_key` the key stored for this address is used, with "" none."""

    provider: SavedEmbedder
    url: Annotated[str, Field(max_length=LONGEST_URL)]
    api_key: Annotated[SecretStr, Field(max_length=LONGEST_KEY, strict=False)] | None = None

    def wanted(self, model: str = "") -> WantedEmbedding:
        """As the app takes it."""
        return WantedEmbedding(provider=self.provider, url=self.url, model=model, key=_plain(self.api_key))


class EmbeddingBody(EmbeddingServerBody):
    """An embedding model and its server."""

    model: Annotated[str, Field(min_length=1, max_length=LONGEST_MODEL)]


class TriedEmbeddingBody(Body):
    """An embedding model and its server; without a `provider`, the model in use."""

    provider: SavedEmbedder | None = None
    url: Annotated[str, Field(max_length=LONGEST_URL)] | None = None
    api_key: Annotated[SecretStr, Field(max_length=LONGEST_KEY, strict=False)] | None = None
    model: Annotated[str, Field(min_length=1, max_length=LONGEST_MODEL)] | None = None

    def wanted(self) -> WantedEmbedding | None:
        """The model to test, None for the one in use. Raises InvalidRequest for half a model."""
        if self.provider is None:
            return None
        if self.url is None or self.model is None:
            raise InvalidRequest("Name url and model beside the provider.", code="missing_model")
        return WantedEmbedding(provider=self.provider, url=self.url, model=self.model, key=_plain(self.api_key))


class EmbeddingOverview(JsonObject):
    """The setup; `locked` is the reason why this caller cannot change it, "" for none."""

    setup: EmbeddingSetup
    locked: str


@router.get("", summary="The embedding model in use, that of the next start, and what is set elsewhere")
async def overview(request: Request, site: SiteHere) -> Answer[EmbeddingOverview]:
    return await _overview(request, site)


@router.put("", summary="Save an embedding model, used after a restart", dependencies=GUARDED)
async def save(
    request: Request, site: SiteHere, body: Annotated[EmbeddingBody, Depends(BodyOf(EmbeddingBody))]
) -> Answer[EmbeddingOverview]:
    await site.parts.models.embedding_connection.save(body.wanted(body.model))
    return await _overview(request, site)


@router.delete("", summary="Forget the saved embedding model, with its key", dependencies=GUARDED)
async def forget(request: Request, site: SiteHere) -> Answer[EmbeddingOverview]:
    await site.parts.models.embedding_connection.forget()
    return await _overview(request, site)


@router.post("/test", summary="Embed one short text, with this model or the one in use", dependencies=GUARDED)
async def test(
    site: SiteHere, body: Annotated[TriedEmbeddingBody, Depends(BodyOf(TriedEmbeddingBody, required=False))]
) -> Answer[EmbeddingTest]:
    return Answer(await site.parts.models.embedding_connection.test(body.wanted()))


@router.post("/list", summary="The models that this server has", dependencies=GUARDED)
async def offered(
    site: SiteHere, body: Annotated[EmbeddingServerBody, Depends(BodyOf(EmbeddingServerBody))]
) -> Answer[ModelsOffered]:
    return Answer(await site.parts.models.embedding_connection.offered(body.wanted()))


async def _overview(request: Request, site: SiteHere) -> Answer[EmbeddingOverview]:
    setup = await site.parts.models.embedding_connection.setup()
    return Answer({"setup": setup, "locked": why_locked(request.scope, site.options)})


def _plain(key: SecretStr | None) -> str | None:
    return None if key is None else key.get_secret_value()
