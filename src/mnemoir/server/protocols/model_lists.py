"""The routes that clients request before they chat: the lists of models, and the server's name and version.

A chat accepts any model name, since the workflow decides which model answers; the lists hold the names worth showing
in a menu.
"""

import hashlib
from datetime import UTC, datetime
from time import time

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from mnemoir.core.errors import InvalidRequest, NotFound, NotSupported
from mnemoir.models.model_parts import forwarding_of
from mnemoir.server.door.request import read_json
from mnemoir.server.door.says import says
from mnemoir.server.rest import Routes
from mnemoir.server.site import Site
from mnemoir.wire.model_facts import ModelFacts
from mnemoir.wire.ollama_shapes import OllamaDetails, OllamaLoadedModels, OllamaShown, OllamaTag, OllamaTags
from mnemoir.wire.openai_shapes import ModelCard, ModelList

OLLAMA_VERSION = "0.12.0"  # of the protocol served here; clients compare numbers, so it has no suffix
TREE_VERSION = "0.9"  # the version that servers of config trees have always answered
_CONTEXT_TOKENS = 131_072  # of a model without any reported facts
_CAPABILITIES = ("completion", "tools")  # of such a model
_STARTED = int(time())
_TEMPLATE = "{{ .System }}{{ .Tools }}{{ .Prompt }}"  # LiteLLM reads here whether tools are accepted
_MODIFIED = datetime.fromtimestamp(_STARTED, UTC).isoformat().replace("+00:00", "Z")
_WRITES = ("/api/pull", "/api/push", "/api/create", "/api/copy", "/api/delete")

router = Routes()


def _site(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


def _names(request: Request) -> list[str]:
    parts = _site(request).parts
    own = [] if parts.trees.workflows.serves_tree else [parts.model.name]
    return list(dict.fromkeys([*parts.trees.workflows.model_names(), *own]))


@says("read", by_cookie=False, query=())
async def _models(request: Request) -> Response:
    listed: ModelList = {"object": "list", "data": [_card(name) for name in _names(request)]}
    return JSONResponse(listed)


@says("read", query=())
async def _models_of_page(request: Request) -> Response:
    return await _models(request)


@says("read", by_cookie=False, query=())
async def _model(request: Request) -> Response:
    name = request.path_params["model_id"]
    if name not in _names(request):
        known = ", ".join(_names(request))
        raise NotFound(f"There is no model {name[:128]!r} here. Use one of: {known}.", code="model_not_found")
    return JSONResponse(_card(name))


def _card(name: str) -> ModelCard:
    return {"id": name, "object": "model", "created": _STARTED, "owned_by": "mnemoir"}


@says("open", query=())
async def _running(request: Request) -> Response:
    return PlainTextResponse("Mnemoir is running", headers={"vary": "Accept"})  # browsers get the web UI here


@says("open", query=())
async def _version(request: Request) -> Response:
    serves_tree = _site(request).parts.trees.workflows.serves_tree
    return JSONResponse({"version": TREE_VERSION if serves_tree else OLLAMA_VERSION})


@says("read", by_cookie=False, query=())
async def _tags(request: Request) -> Response:
    facts = await _facts(request)
    tags: OllamaTags = {"models": [_tag(request, name, facts) for name in _names(request)]}
    return JSONResponse(tags)


@says("read", by_cookie=False, query=())
async def _running_models(request: Request) -> Response:
    facts = await _facts(request)
    loaded: OllamaLoadedModels = {
        "models": [
            {
                **_tag(request, name, facts),
                "expires_at": "2318-04-10T23:47:16.854Z",
                "size_vram": 0,
                "context_length": _context_tokens(request, name, facts),
            }
            for name in _names(request)
        ]
    }
    return JSONResponse(loaded)


@says("read", by_cookie=False, query=())
async def _show(request: Request) -> Response:
    body = await read_json(request.scope, request.receive, _site(request).options.max_body_bytes)
    asked = (body.get("model") or body.get("name")) if isinstance(body, dict) else None
    if not isinstance(asked, str):
        raise InvalidRequest("model is missing; name the model to show.", field="model")
    if _name_with_tag(asked) not in map(_name_with_tag, _names(request)):
        raise NotFound(f"model '{asked[:128]}' not found", code="model_not_found")
    facts = await _facts(request)
    shown: OllamaShown = {
        "license": "",
        "modelfile": f"FROM {_name_with_tag(asked)}",
        "parameters": facts.parameters,
        "template": facts.template or _TEMPLATE,
        "modified_at": _MODIFIED,
        "details": _details(facts),
        "model_info": {
            "general.architecture": "mnemoir",
            "general.basename": asked.removesuffix(":latest"),  # the name that editors show in their menus
            "general.parameter_count": 0,
            "mnemoir.context_length": _context_tokens(request, asked, facts),
        },
        "capabilities": _capabilities(request, asked, facts),
    }
    return JSONResponse(shown)


async def _facts(request: Request) -> ModelFacts:
    """The facts of the server's own model; none for a config tree, whose nodes call other models."""
    parts = _site(request).parts
    return ModelFacts() if parts.trees.workflows.serves_tree else await parts.models.inquiry.facts()


def _capabilities(request: Request, name: str, facts: ModelFacts) -> list[str]:
    parts = _site(request).parts
    if not parts.trees.workflows.serves_tree:
        told = list(facts.capabilities or _CAPABILITIES)
        is_passed = forwarding_of(parts.settings).forward != "none"
        return [ability for ability in told if is_passed or ability != "insert"]  # a suffix is forwarded unchanged
    abilities = parts.trees.workflows.abilities(name)
    if abilities is None:
        return list(_CAPABILITIES)
    known = {"tools": abilities.tools, "vision": abilities.pictures}
    return ["completion", *(ability for ability, passes in known.items() if passes)]


def _context_tokens(request: Request, name: str, facts: ModelFacts) -> int:
    abilities = _site(request).parts.trees.workflows.abilities(name)
    told = facts.context_tokens if abilities is None else abilities.context_tokens
    return told or _CONTEXT_TOKENS


@says("write", act=None, by_cookie=False, query=())
async def _refused(request: Request) -> Response:
    raise NotSupported("Mnemoir does not manage models. Do it at the model's own server.")


@says("read", by_cookie=False, query=())
async def _refused_to_readers(request: Request) -> Response:
    return await _refused(request)


def _name_with_tag(name: str) -> str:
    return name if ":" in name else f"{name}:latest"


def _tag(request: Request, name: str, facts: ModelFacts) -> OllamaTag:
    digest = hashlib.sha256(name.encode("utf-8")).hexdigest()
    return {
        "name": name if _site(request).parts.trees.workflows.serves_tree else _name_with_tag(name),
        "model": _name_with_tag(name),
        "modified_at": _MODIFIED,
        "size": facts.size_bytes or 0,
        "digest": digest,
        "details": _details(facts),
    }


def _details(facts: ModelFacts) -> OllamaDetails:
    known = facts.details
    return {
        "parent_model": known.get("parent_model", ""),
        "format": known.get("format", "gguf"),
        "family": known.get("family", "mnemoir"),
        "parameter_size": known.get("parameter_size", "0"),
        "quantization_level": known.get("quantization_level", "none"),
        "families": [known.get("family", "mnemoir")],
    }


for _path in ("/v1/models", "/models"):
    router.add_route(_path, _models, ["GET"])
    router.add_route(f"{_path}/{{model_id:path}}", _model, ["GET"])
router.add_route("/api/page/models", _models_of_page, ["GET"])
router.add_route("/", _running, ["GET"])
router.add_route("/api/version", _version, ["GET"])
router.add_route("/api/tags", _tags, ["GET"])
router.add_route("/api/ps", _running_models, ["GET"])
router.add_route("/api/show", _show, ["POST"])
for _path in _WRITES:
    router.add_route(_path, _refused, ["POST", "DELETE"])
router.add_route("/api/blobs/{digest:path}", _refused_to_readers, ["GET"])
router.add_route("/api/blobs/{digest:path}", _refused, ["POST"])
