"""`/api/workflows`: a read-only view of the config tree, without the secrets in it."""

from functools import cache
from typing import Annotated, Any

from fastapi import Query

from mnemoir.app.workflow_files import ConfigOverview, ConfigProblems
from mnemoir.core.errors import NotFound
from mnemoir.server.rest import Answer, Routes, SiteHere
from mnemoir.workflows.config.shown import ConfigText
from mnemoir.workflows.graph import WorkflowGraph
from mnemoir.workflows.node import node_types
from mnemoir.workflows.schemas import schemas

router = Routes(prefix="/api/workflows", tags=["workflows"])

WorkflowPath = Annotated[str, Query(min_length=1, description="as the list of files has it")]
AsUser = Annotated[str | None, Query(description="whose folders names are looked up in; else whose workflow it is")]


@router.get("", summary="The config tree: its files and its users")
async def overview(site: SiteHere) -> Answer[ConfigOverview]:
    models = site.parts.workflows.model_names()
    return Answer(await site.parts.workflow_files.overview(models))


@router.get("/problems", summary="What is wrong with the tree, as `mnemoir check` tells it")
async def problems(site: SiteHere) -> Answer[ConfigProblems]:
    return Answer(await site.parts.workflow_files.problems())


@router.get("/graph", summary="A workflow: its nodes, what they run and what they read")
async def graph(site: SiteHere, path: WorkflowPath, user: AsUser = None) -> Answer[WorkflowGraph]:
    return Answer(await site.parts.workflow_files.graph(path, user))


@router.get("/schema/{kind}", summary="As `mnemoir schema` prints it")
async def schema(kind: str) -> Answer[dict[str, Any]]:
    return Answer(_schema(kind))


@router.get("/files/{path:path}", summary="The text of one config file, secrets covered")
async def text(site: SiteHere, path: str) -> Answer[ConfigText]:
    return Answer(await site.parts.workflow_files.text(path))


@cache
def _schemas() -> dict[str, Any]:
    return dict(schemas(node_types()))


def _schema(kind: str) -> Any:
    known = _schemas()
    if kind not in known:
        raise NotFound(f"There is no schema {kind[:80]!r}. Name one of {', '.join(known)}.", code="schema_not_found")
    return known[kind]
