"""What clients ask before they chat: which models there are, and the server's own word that it is there.

Any model name is accepted in a chat, for the workflow decides which model answers; the lists name what makes sense to
show in a menu.
"""

import hashlib
from datetime import UTC, datetime
from time import time
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from mnemoir.core.errors import InvalidRequest, NotFound, NotSupported
from mnemoir.server.bodies import read_json
from mnemoir.server.site import Site

OLLAMA_VERSION = "0.12.0"  # of the protocol we speak; clients compare numbers, so it must be a bare one
TREE_VERSION = "0.9"  # what servers of config trees have always said
_CONTEXT_TOKENS = 131_072
_STARTED = int(time())
_MODIFIED = datetime.fromtimestamp(_STARTED, UTC).isoformat().replace("+00:00", "Z")
_WRITES = ("/api/pull", "/api/push", "/api/create", "/api/copy", "/api/delete")


def routes() -> list[Route]:
    """All of them; the site is found in the application's state."""
    return [
        *(Route(path, _models, methods=["GET"]) for path in ("/v1/models", "/models")),
        *(Route(f"{path}/{{model_id:path}}", _model, methods=["GET"]) for path in ("/v1/models", "/models")),
        Route("/", _running, methods=["GET"]),
        Route("/api/version", _version, methods=["GET"]),
        Route("/api/tags", _tags, methods=["GET"]),
        Route("/api/ps", _running_models, methods=["GET"]),
        Route("/api/show", _show, methods=["POST"]),
        *(Route(path, _refused, methods=["POST", "DELETE"]) for path in _WRITES),
        Route("/api/blobs/{digest:path}", _refused, methods=["GET", "POST"]),
    ]


def _site(request: Request) -> Site:
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


def _names(request: Request) -> list[str]:
    parts = _site(request).parts
    own = [] if parts.workflows.serves_tree else [parts.model.name]
    return list(dict.fromkeys([*parts.workflows.model_names(), *own]))


async def _models(request: Request) -> Response:
    return JSONResponse({"object": "list", "data": [_card(name) for name in _names(request)]})


async def _model(request: Request) -> Response:
    name = request.path_params["model_id"]
    if name not in _names(request):
        known = ", ".join(_names(request))
        raise NotFound(f"There is no model {name[:128]!r} here. Use one of: {known}.", code="model_not_found")
    return JSONResponse(_card(name))


def _card(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": _STARTED, "owned_by": "mnemoir"}


async def _running(request: Request) -> Response:
    return PlainTextResponse("Mnemoir is running", headers={"vary": "Accept"})  # browsers get the web UI here


async def _version(request: Request) -> Response:
    serves_tree = _site(request).parts.workflows.serves_tree
    return JSONResponse({"version": TREE_VERSION if serves_tree else OLLAMA_VERSION})


async def _tags(request: Request) -> Response:
    return JSONResponse({"models": [_tag(request, name) for name in _names(request)]})


async def _running_models(request: Request) -> Response:
    loaded = {"expires_at": "2318-04-10T23:47:16.854Z", "size_vram": 0, "context_length": _CONTEXT_TOKENS}
    return JSONResponse({"models": [_tag(request, name) | loaded for name in _names(request)]})


async def _show(request: Request) -> Response:
    body = await read_json(request.scope, request.receive, _site(request).options.max_body_bytes)
    asked = (body.get("model") or body.get("name")) if isinstance(body, dict) else None
    if not isinstance(asked, str):
        raise InvalidRequest("model is missing; name the model to show.", field="model")
    if _tagged(asked) not in map(_tagged, _names(request)):
        raise NotFound(f"model '{asked[:128]}' not found", code="model_not_found")
    return JSONResponse(
        {
            "license": "",
            "modelfile": f"FROM {_tagged(asked)}",
            "parameters": "",
            "template": "{{ .System }}{{ .Tools }}{{ .Prompt }}",  # LiteLLM looks here whether tools are taken
            "modified_at": _MODIFIED,
            "details": _details(),
            "model_info": {
                "general.architecture": "mnemoir",
                "general.basename": asked.removesuffix(":latest"),  # what editors show in their menus
                "general.parameter_count": 0,
                "mnemoir.context_length": _CONTEXT_TOKENS,
            },
            "capabilities": ["completion", "tools"],
        }
    )


async def _refused(request: Request) -> Response:
    raise NotSupported("Mnemoir does not manage models. Do it at the model's own server.")


def _tagged(name: str) -> str:
    return name if ":" in name else f"{name}:latest"


def _tag(request: Request, name: str) -> dict[str, Any]:
    digest = hashlib.sha256(name.encode("utf-8")).hexdigest()
    return {
        "name": name if _site(request).parts.workflows.serves_tree else _tagged(name),
        "model": _tagged(name),
        "modified_at": _MODIFIED,
        "size": 0,
        "digest": digest,
        "details": _details(),
    }


def _details() -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": "mnemoir",
        "families": ["mnemoir"],
        "parameter_size": "0",
        "quantization_level": "none",
    }
