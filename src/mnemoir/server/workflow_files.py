"""`/api/workflows`: the config tree without its secrets, and where the settings allow it, saving of workflows."""

import re
from dataclasses import replace
from functools import cache
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from pydantic import Field

from mnemoir.core.errors import Conflict, Forbidden, NotFound
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import Body
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.changing import check_change, lock_reason
from mnemoir.server.door.request import header
from mnemoir.server.door.says import says
from mnemoir.server.rest import BodyOf, Routes, SiteHere
from mnemoir.server.site import Site
from mnemoir.trees.workflow_edits import SavedWorkflow
from mnemoir.trees.workflow_files import ConfigOverview, ConfigProblems, ConfigUser, problems_for_display
from mnemoir.workflows.config.files import MOST_BYTES
from mnemoir.workflows.config.shown import ConfigText, absent
from mnemoir.workflows.graph import WorkflowGraph
from mnemoir.workflows.node import node_types
from mnemoir.workflows.schemas import schemas

router = Routes(prefix="/api/workflows", tags=["workflows"])

WorkflowPath = Annotated[str, Query(min_length=1, description="as the list of files has it")]
_ETAG = re.compile(r'"([0-9a-f]{64})"')


class TextBody(Body):
    """The text of a workflow file as it is to be."""

    text: Annotated[str, Field(max_length=MOST_BYTES)]


class TypedBody(TextBody):
    """A text and the path of its file, which need not exist."""

    path: Annotated[str, Field(min_length=1)]


class NoBody(Body):
    """Nothing."""


class SavingState(JsonObject):
    """Whether this caller may save workflows; `reason` says why not."""

    is_on: bool
    reason: str


async def _may_change(request: Request, site: SiteHere) -> None:
    if reason := site.parts.trees.edits.refusal:
        raise Forbidden(reason, code="editing_off")
    check_change(request.scope, site.options)


GUARDED = [Depends(_may_change)]
AsUser = Annotated[str | None, Query(description="whose folders names are looked up in; else whose workflow it is")]


async def _callable_users(request: Request, site: Site) -> list[ConfigUser] | None:
    """The users of the tree that the caller may call; None for a caller who may look into all of it."""
    caller = principal_of(request.scope)
    if caller.configs is None:
        return None
    whole = await site.parts.trees.files.overview(())
    return None if whole.root is None else [user for user in whole.users if caller.may_call(user.name)]


def _is_of(user: ConfigUser, path: str) -> bool:
    """Whether a file is the user's own, or lies in a folder in which a workflow of theirs begins."""
    folders = {start.path.rpartition("/")[0] for start in user.starts if start.path is not None}
    return path == user.path or path.rpartition("/")[0] in folders


async def _whose(request: Request, site: Site, path: str, user: str | None = None) -> str | None:
    """The user as whom a file is looked at. Raises NotFound for a file of users that the caller may not call."""
    users = await _callable_users(request, site)
    if users is None:
        return user
    mine = (one.name for one in users if _is_of(one, path) and user in (None, one.name))
    if (found := next(mine, None)) is None:
        raise absent(path)
    return found


@router.get("", summary="The config tree: its files and its users")
@says("read")
async def overview(request: Request, site: SiteHere) -> Answer[ConfigOverview]:
    caller, models = principal_of(request.scope), site.parts.trees.workflows.model_names()
    whole = await site.parts.trees.files.overview(models)
    if caller.configs is None:
        return Answer(whole)
    return Answer(replace(whole, users=[user for user in whole.users if caller.may_call(user.name)], files=[]))


@router.get("/saving", summary="Whether workflows may be saved by this caller, and if not, why")
@says("admin")
async def saving(request: Request, site: SiteHere) -> Answer[SavingState]:
    reason = site.parts.trees.edits.refusal or lock_reason(request.scope, site.options)
    return Answer({"is_on": not reason, "reason": reason})


@router.get("/problems", summary="What is wrong with the tree, as `mnemoir check` tells it")
@says("admin")
async def problems(request: Request, site: SiteHere) -> Answer[ConfigProblems]:
    found, users = await site.parts.trees.files.problems(), await _callable_users(request, site)
    if users is None:
        return Answer(found)
    mine = [one for one in found.problems if any(_is_of(user, one.file) for user in users)]
    return Answer(replace(problems_for_display(mine), checked_at=found.checked_at))


@router.get("/graph", summary="A workflow: its nodes, what they run and what they read")
@says("admin")
async def graph(request: Request, site: SiteHere, path: WorkflowPath, user: AsUser = None) -> Answer[WorkflowGraph]:
    return Answer(await site.parts.trees.files.graph(path, await _whose(request, site, path, user)))


@router.get("/schema/{kind}", summary="As `mnemoir schema` prints it")
@says("admin")
async def schema(kind: str) -> Answer[dict[str, Any]]:
    return Answer(_schema(kind))


@router.get("/files/{path:path}", summary="The text of one config file, secrets covered")
@says("admin")
async def text(request: Request, site: SiteHere, path: str) -> Answer[ConfigText]:
    await _whose(request, site, path)
    found = await site.parts.trees.edits.text(path)
    return Answer(found, headers={"etag": f'"{found.digest}"'})


@router.put(
    "/files/{path:path}",
    summary="Save a workflow in place of the text of `If-Match`, or as a new file with `If-None-Match: *`",
    dependencies=GUARDED,
)
@says("admin", act="workflows.change")
async def save(
    request: Request, site: SiteHere, path: str, body: Annotated[TextBody, Depends(BodyOf(TextBody))]
) -> Answer[SavedWorkflow]:
    return Answer(await site.parts.trees.edits.save(path, body.text, _expected_digest(request, may_be_new=True)))


@router.post(
    "/check", summary="What keeps a text from being saved, and the warnings of its check", dependencies=GUARDED
)
@says("admin", act=None)
async def check(site: SiteHere, body: Annotated[TypedBody, Depends(BodyOf(TypedBody))]) -> Answer[ConfigProblems]:
    return Answer(await site.parts.trees.edits.check(body.path, body.text))


@router.get("/kept/{path:path}", summary="The version of a workflow before it was last saved, secrets covered")
@says("admin")
async def kept(request: Request, site: SiteHere, path: str) -> Answer[ConfigText]:
    await _whose(request, site, path)
    return Answer(await site.parts.trees.edits.earlier_version(path))


@router.post(
    "/kept/{path:path}",
    summary="Save that version in place of the text of `If-Match`, which is kept in turn",
    dependencies=GUARDED,
)
@says("admin", act="workflows.change")
async def restore(
    request: Request, site: SiteHere, path: str, body: Annotated[NoBody, Depends(BodyOf(NoBody, required=False))]
) -> Answer[SavedWorkflow]:
    return Answer(await site.parts.trees.edits.restore(path, _expected_digest(request)))


def _expected_digest(request: Request, *, may_be_new: bool = False) -> str | None:
    """The digest of the text to be replaced; None for a new file. Raises Conflict without either."""
    if may_be_new and header(request.scope, b"if-none-match") == "*":
        return None
    named = _ETAG.fullmatch(header(request.scope, b"if-match") or "")
    if named is None:
        raise Conflict(
            "If-Match must hold the digest of the text that is replaced, in quotes, as the ETag of the file has it; "
            "a new file takes `If-None-Match: *`.",
            code="changed_meanwhile",
        )
    return named[1]


@cache
def _schemas() -> dict[str, Any]:
    return dict(schemas(node_types()))


def _schema(kind: str) -> Any:
    known = _schemas()
    if kind not in known:
        raise NotFound(f"There is no schema {kind[:80]!r}. Name one of {', '.join(known)}.", code="schema_not_found")
    return known[kind]
