"""`/api/model`: the language model in use, trying another, and saving one, in force at once."""

from typing import Annotated

from fastapi import Depends, Request

from mnemoir.models.model_setup import ModelSetup, ModelsOffered, ModelTest, OllamaFound
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.changing import lock_reason
from mnemoir.server.door.says import says
from mnemoir.server.model.bodies import GUARDED, ModelBody, ServerBody, TriedBody
from mnemoir.server.rest import BodyOf, Routes, SiteHere

router = Routes(prefix="/api/model", tags=["model"])


class ModelOverview(JsonObject):
    """The setup; `locked` is the reason why this caller cannot change it, "" for none."""

    setup: ModelSetup
    locked: str


@router.get("", summary="The language model in use, what was saved, and what is set elsewhere")
@says("any")  # operators change it, and see no contents
async def overview(request: Request, site: SiteHere) -> Answer[ModelOverview]:
    return await _overview(request, site)


@router.put("", summary="Save a model and use it from the next call on", dependencies=GUARDED)
@says("manage", act="model.change")
async def save(
    request: Request, site: SiteHere, body: Annotated[ModelBody, Depends(BodyOf(ModelBody))]
) -> Answer[ModelOverview]:
    await site.parts.models.chat_role.save(body.wanted_model(body.model))
    return await _overview(request, site)


@router.delete("", summary="Forget what was saved, with its key", dependencies=GUARDED)
@says("manage", act="model.change")
async def forget(request: Request, site: SiteHere) -> Answer[ModelOverview]:
    await site.parts.models.chat_role.forget()
    return await _overview(request, site)


@router.post("/test", summary="Ask one question, of this model or of the one in use", dependencies=GUARDED)
@says("manage", act=None, asks=True)
async def test(
    site: SiteHere, body: Annotated[TriedBody, Depends(BodyOf(TriedBody, required=False))]
) -> Answer[ModelTest]:
    return Answer(await site.parts.models.chat_role.test(body.wanted_model()))


@router.post("/list", summary="The models that this server has", dependencies=GUARDED)
@says("manage", act=None, asks=True)
async def offered(site: SiteHere, body: Annotated[ServerBody, Depends(BodyOf(ServerBody))]) -> Answer[ModelsOffered]:
    return Answer(await site.parts.models.chat_role.server_models(body.wanted_model()))


@router.get("/found", summary="An Ollama that was started later, where no model is connected")
@says("manage")
async def found(site: SiteHere) -> Answer[OllamaFound]:
    return Answer(await site.parts.models.chat_role.later_ollama())


async def _overview(request: Request, site: SiteHere) -> Answer[ModelOverview]:
    setup = await site.parts.models.chat_role.setup()
    return Answer({"setup": setup, "locked": lock_reason(request.scope, site.options)})
