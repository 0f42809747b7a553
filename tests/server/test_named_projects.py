"""Every route that takes a project takes it in the same way, and the audit log names it: query, else header."""

import pytest

from mnemoir.server.app import TABLE
from mnemoir.server.door.says import Says
from tests.narrowing import present
from tests.server.route_table import known_body, known_query
from tests.server.server_kit import Server, error_of, hello, succeeded

ADMIN = "admin-of-all-and-operator"
# here no workflow can be edited; the errors of agents' tools have the shape of their protocol
APART = ("/api/workflows/try", "/mcp")
BODY = hello() | {"user_id": "mira", "query": "tea", "infer": False, "days": 1, "prompt": "Tea", "memory": "Tea"}
BODY |= {"role": "user", "content": "Tea", "message": {"role": "user", "content": "Tea"}, "message_id": 1}
BODY |= {"ids": ["mem_1", "mem_2"], "keep": "mem_1", "reason": "a claim", "id": "talk"}
NAMES = {"x_mnemoir_project", "x_etienne_project"}


def taking_a_project() -> list[tuple[str, str, Says]]:
    """Method and path of each declared route that takes a project, with names filled in, and what it says."""
    return [
        (method, "/".join("mira" if piece.startswith("{") else piece for piece in route.path.split("/")), route.says)
        for route in TABLE.routes
        if "project" in present(route.says.query) and route.path not in APART
        for method in sorted(present(route.methods) - {"HEAD"})
    ]


@pytest.fixture
async def keyed(open_server):
    """A server, and the headers of an admin of all projects, who is operator, too, and of one of two projects."""
    server = await open_server(api_keys=[ADMIN], admin_api_key=ADMIN)
    bound = server.parts.access.api_keys.create(role="admin", projects=["kitchen", "shed"], by="test")[1]
    return server, {"x_api_key": ADMIN}, {"x_api_key": bound}


async def kept(server: Server, admin: dict[str, str]) -> dict[str, list[str]]:
    """The projects with what somebody keeps in them, by user."""
    projects = (await server.get("/api/projects", **admin))["results"]
    return {one["project"]: [user["user_id"] for user in one["users"] if user["memories"]] for one in projects}


@pytest.mark.costly("it asks all routes")
async def test_each_of_them_refuses_a_wrong_name_in_the_header_as_in_the_query(keyed):
    server, admin, _ = keyed
    routes = taking_a_project()
    known = {(method, path) for method, path, _ in routes}
    assert {("POST", "/api/subjects/mira/erase"), ("POST", "/api/subjects/mira/export")} <= known
    assert len(routes) > 60
    for method, path, says in routes:
        asked, body = f"{path}?{known_query(says, user_id='mira', q='tea')}", known_body(says, BODY)
        sent = [(f"{asked}&project=..", {}), *((asked, {name: ".."}) for name in NAMES)]
        for target, named in sent:
            answer = await server.ask(method, target, body, **admin, **named)
            assert (error_of(answer), method, path, named) == ((400, "invalid_project"), method, path, named)


@pytest.mark.parametrize("header", sorted(NAMES))
async def test_an_erasure_ends_what_is_in_the_project_of_the_header_alone(keyed, header):
    server, admin, _ = keyed
    said = {"messages": [{"role": "user", "content": "Likes tea"}], "user_id": "mira", "infer": False}
    for project in ("default", "kitchen"):
        await server.post(f"/api/memories?project={project}", said, **admin)
    report = succeeded(await server.ask("POST", "/api/subjects/mira/erase", **admin, **{header: "kitchen"}))
    assert report["projects"] == ["kitchen"]
    assert await kept(server, admin) == {"default": ["mira"]}


async def test_the_query_comes_before_the_header(keyed):
    server, admin, _ = keyed
    said = {"messages": [{"role": "user", "content": "Likes tea"}], "user_id": "mira", "infer": False}
    for project in ("default", "kitchen"):
        await server.post(f"/api/memories?project={project}", said, **admin)
    erase, kitchen = "/api/subjects/mira/erase?project=default", {"x_mnemoir_project": "kitchen"}
    erased = await server.ask("POST", erase, **admin, **kitchen)
    assert succeeded(erased)["projects"] == ["default"]


async def test_an_entry_of_the_audit_log_names_the_projects_in_which_the_act_was_done(keyed):
    server, admin, bound = keyed
    settings, export, hold = "/api/memories/settings", "/api/subjects/mira/export", "/api/holds/mira"
    kitchen = {"x_mnemoir_project": "kitchen"}
    for method, target, sent, named in (
        ("PUT", settings, admin, " project=default"),
        ("PUT", settings, admin | kitchen, " project=kitchen"),
        ("PUT", settings, bound, " project=kitchen"),
        ("PUT", f"{settings}?project=shed", admin | kitchen, " project=shed"),
        ("POST", export, admin, ""),
        ("POST", export, admin | kitchen, " project=kitchen"),
        ("POST", export, bound, " project=kitchen project=shed"),
        ("PUT", hold, admin | kitchen, ""),  # a hold is in all projects
    ):
        body = None if method == "POST" else {"reason": "a claim"} if target == hold else {"searchLimit": 3}
        answer = await server.ask(method, target, body, **sent)
        entries = (await server.get("/api/audit?limit=2", **admin))["results"]
        assert answer.status == 200
        assert [entry["target"] for entry in entries] == [target.partition("?")[0] + named] * 2


async def test_of_an_overlong_path_the_entry_still_names_user_and_project(keyed):
    server, admin, _ = keyed
    path = f"/api/conversations/{'tea' * 300}"
    await server.ask("DELETE", f"{path}?user_id=mira", **admin, x_mnemoir_project="kitchen")
    entry = (await server.get("/api/audit?limit=1", **admin))["results"][0]
    assert entry["target"].partition(" ")[2] == "user_id=mira project=kitchen"
