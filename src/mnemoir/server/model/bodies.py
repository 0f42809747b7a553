"""The bodies of the routes of models, for each role with its own protocols."""

from typing import Annotated

from fastapi import Depends, Request
from pydantic import Field, SecretStr

from mnemoir.core.errors import InvalidRequest
from mnemoir.models.model_setup import WantedModel
from mnemoir.server.body import Body
from mnemoir.server.door.changing import check_change
from mnemoir.server.rest import SiteHere
from mnemoir.settings.saved_model import LONGEST_MODEL, SavedEmbedder, SavedProvider

Url = Annotated[str, Field(max_length=2000)]
ApiKey = Annotated[SecretStr, Field(max_length=4096, strict=False)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_MODEL)]


async def _may_change(request: Request, site: SiteHere) -> None:
    check_change(request.scope, site.options)


GUARDED = [Depends(_may_change)]


class _At(Body):
    provider: str
    url: Url
    api_key: ApiKey | None = None

    def wanted_model(self, model: str = "") -> WantedModel:
        """The model of this name at the body's server."""
        key = None if self.api_key is None else self.api_key.get_secret_value()
        return WantedModel(provider=self.provider, url=self.url, model=model, key=key)


class _Tried(Body):
    provider: str | None = None
    url: Url | None = None
    api_key: ApiKey | None = None
    model: Name | None = None

    def wanted_model(self) -> WantedModel | None:
        """The model to test, None for the one in use. Raises InvalidRequest for half a model."""
        if self.provider is None:
            return None
        if self.url is None or self.model is None:
            raise InvalidRequest("Name url and model beside the provider.", code="missing_model")
        return _At(provider=self.provider, url=self.url, api_key=self.api_key).wanted_model(self.model)


class ServerBody(_At):
    """The server of a model. A missing `api_key` stands for the key that is stored for this address, "" for none."""

    provider: SavedProvider


class ModelBody(ServerBody):
    """A model and its server."""

    model: Name


class TriedBody(_Tried):
    """A model and its server; without a `provider`, the model in use."""

    provider: SavedProvider | None = None


class EmbeddingServerBody(_At):
    """The server of an embedding model. Without `api_key` the key stored for this address is used, with "" none."""

    provider: SavedEmbedder


class EmbeddingBody(EmbeddingServerBody):
    """An embedding model and its server."""

    model: Name


class TriedEmbeddingBody(_Tried):
    """An embedding model and its server; without a `provider`, the model in use."""

    provider: SavedEmbedder | None = None
