"""`/api/model`: the language model in use, trying another, and saving one, in force at once."""

from typing import Annotated

from fastapi import Depends, Request
from pydantic import Field, SecretStr

from mnemoir.core.errors import InvalidRequest
from mnemoir.models.model_setup import ModelSetup, ModelsOffered, ModelTest, OllamaFound, WantedModel
from mnemoir.server.door.changing import check_change, why_locked
from mnemoir.server.rest import Answer, Body, BodyOf, JsonObject, Routes, SiteHere
from mnemoir.settings.saved_model import LONGEST_MODEL, SavedProvider

router = Routes(prefix="/api/model", tags=["model"])

LONGEST_URL = 2000
LONGEST_KEY = 4096


class ServerBody(Body):
    """The server of a model. A missing `api_key` stands for the key that is stored for this address, "" for none."""

    provider: SavedProvider
    url: Annotated[str, Field(max_length=LONGEST_URL)]
    api_key: Annotated[SecretStr, Field(max_length=LONGEST_KEY, strict=False)] | None = None

    def wanted(self, model: str = "") -> WantedModel:
        """As the app takes it."""
        key = None if self.api_key is None else self.api_key.get_secret_value()
        return WantedModel(provider=self.provider, url=self.url, model=model, key=key)


class ModelBody(ServerBody):
    """A model and its server."""

    model: Annotated[str, Field(min_length=1, max_length=LONGEST_MODEL)]


class TriedBody(Body):
    """A model and its server; without a `provider`, the model in use."""

    provider: SavedProvider | None = None
    url: Annotated[str, Field(max_length=LONGEST_URL)] | None = None
    api_key: Annotated[SecretStr, Field(max_length=LONGEST_KEY, strict=False)] | None = None
    model: Annotated[str, Field(min_length=1, max_length=LONGEST_MODEL)] | None = None

    def wanted(self) -> WantedModel | None:
        """The model to test, None for the one in use. Raises InvalidRequest for half a model."""
        if self.provider is None:
            return None
        if self.url is None or self.model is None:
            raise InvalidRequest("Name url and model beside the provider.", code="missing_model")
        key = None if self.api_key is None else self.api_key.get_secret_value()
        return WantedModel(provider=self.provider, url=self.url, model=self.model, key=key)


class ModelOverview(JsonObject):
    """The setup; `locked` is the reason why this caller cannot change it, "" for none."""

    setup: ModelSetup
    locked: str


async def _may_change(request: Request, site: SiteHere) -> None:
    check_change(request.scope, site.options)


GUARDED = [Depends(_may_change)]


@router.get("", summary="The language model in use, what was saved, and what is set elsewhere")
async def overview(request: Request, site: SiteHere) -> Answer[ModelOverview]:
    return await _overview(request, site)


@router.put("", summary="Save a model and use it from the next call on", dependencies=GUARDED)
async def save(
    request: Request, site: SiteHere, body: Annotated[ModelBody, Depends(BodyOf(ModelBody))]
) -> Answer[ModelOverview]:
    await site.parts.models.connection.save(body.wanted(body.model))
    return await _overview(request, site)


@router.delete("", summary="Forget what was saved, with its key", dependencies=GUARDED)
async def forget(request: Request, site: SiteHere) -> Answer[ModelOverview]:
    await site.parts.models.connection.forget()
    return await _overview(request, site)


@router.post("/test", summary="Ask one question, of this model or of the one in use", dependencies=GUARDED)
async def test(
    site: SiteHere, body: Annotated[TriedBody, Depends(BodyOf(TriedBody, required=False))]
) -> Answer[ModelTest]:
    return Answer(await site.parts.models.connection.test(body.wanted()))


@router.post("/list", summary="The models that this server has", dependencies=GUARDED)
async def offered(site: SiteHere, body: Annotated[ServerBody, Depends(BodyOf(ServerBody))]) -> Answer[ModelsOffered]:
    return Answer(await site.parts.models.connection.offered(body.wanted()))


@router.get("/found", summary="An Ollama that was started later, where no model is connected")
async def found(site: SiteHere) -> Answer[OllamaFound]:
    return Answer(await site.parts.models.connection.found())


async def _overview(request: Request, site: SiteHere) -> Answer[ModelOverview]:
    setup = await site.parts.models.connection.setup()
    return Answer({"setup": setup, "locked": why_locked(request.scope, site.options)})
