"""`/api/model/embedding`: the embedding model in use, trying another, and saving one for the next start."""

from typing import Annotated

from fastapi import Depends, Request

from mnemoir.models.model_setup import EmbeddingSetup, EmbeddingTest, ModelsOffered
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.changing import lock_reason
from mnemoir.server.door.says import says
from mnemoir.server.model.bodies import GUARDED, EmbeddingBody, EmbeddingServerBody, TriedEmbeddingBody
from mnemoir.server.rest import BodyOf, Routes, SiteHere

router = Routes(prefix="/api/model/embedding", tags=["model"])


class EmbeddingOverview(JsonObject):
    """The setup; `locked` is the reason why this caller cannot change it, "" for none."""

    setup: EmbeddingSetup
    locked: str


@router.get("", summary="The embedding model in use, that of the next start, and what is set elsewhere")
@says("any")  # operators change it, and see no contents
async def overview(request: Request, site: SiteHere) -> Answer[EmbeddingOverview]:
    return await _overview(request, site)


@router.put("", summary="Save an embedding model, used after a restart", dependencies=GUARDED)
@says("manage", act="model.change")
async def save(
    request: Request, site: SiteHere, body: Annotated[EmbeddingBody, Depends(BodyOf(EmbeddingBody))]
) -> Answer[EmbeddingOverview]:
    await site.parts.models.embedding_role.save(body.wanted_model(body.model))
    return await _overview(request, site)


@router.delete("", summary="Forget the saved embedding model, with its key", dependencies=GUARDED)
@says("manage", act="model.change")
async def forget(request: Request, site: SiteHere) -> Answer[EmbeddingOverview]:
    await site.parts.models.embedding_role.forget()
    return await _overview(request, site)


@router.post("/test", summary="Embed one short text, with this model or the one in use", dependencies=GUARDED)
@says("manage", act=None, asks=True)
async def test(
    site: SiteHere, body: Annotated[TriedEmbeddingBody, Depends(BodyOf(TriedEmbeddingBody, required=False))]
) -> Answer[EmbeddingTest]:
    return Answer(await site.parts.models.embedding_role.test(body.wanted_model()))


@router.post("/list", summary="The models that this server has", dependencies=GUARDED)
@says("manage", act=None, asks=True)
async def offered(
    site: SiteHere, body: Annotated[EmbeddingServerBody, Depends(BodyOf(EmbeddingServerBody))]
) -> Answer[ModelsOffered]:
    return Answer(await site.parts.models.embedding_role.server_models(body.wanted_model()))


async def _overview(request: Request, site: SiteHere) -> Answer[EmbeddingOverview]:
    setup = await site.parts.models.embedding_role.setup()
    return Answer({"setup": setup, "locked": lock_reason(request.scope, site.options)})
