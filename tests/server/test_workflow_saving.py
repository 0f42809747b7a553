"""Saving workflows from a browser: only sound ones, of whoever may, in place of the text they were made from."""

import json
import os
import unicodedata
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.server.served_tree import KEY, answering, asking, calling, served
from tests.server.server_kit import error_of, hello, succeeded
from tests.server.sign_in.page import joined

AT = "/api/workflows"
CHAT = "Workflows/Ann/Chat.json"
OWN = {"origin": "http://localhost", "content_type": "application/json"}
NEW = {"if_none_match": "*"}
MODULE = {"title": "Run", "type": "PythonModule", "module_path": "modules/one.py", "args": ["a"]}
SAVE = {"title": "Note", "type": "SaveCustomFile", "filepath": "notes/last.txt", "content": "x"}
READ = {"title": "Read", "type": "getcustomfile", "filepath": "notes/last.txt"}


@pytest.fixture
async def open_tree(open_server, tmp_path):
    """Open a server for Ann whose workflows may be saved; without nodes, Ann's workflow asks the endpoint Main."""

    async def start(*nodes, files=None, url="http://127.0.0.1:9", edit=True, **options):
        settings = served(tmp_path, url, *nodes, files=files) | {"workflows.edit": edit}
        return await open_server(settings, **options)

    return start


def titled(title):
    """The node that answers, by another title."""
    return answering() | {"title": title}


def place_of(tmp_path: Path, path: str = CHAT) -> Path:
    return tmp_path / "Public" / "Configs" / path


def url_of(path, folder="files"):
    return f"{AT}/{folder}/{quote(path)}"


async def put(server, nodes, path=CHAT, **headers):
    """Save nodes, or a text, in place of what there is."""
    text = nodes if isinstance(nodes, str) else json.dumps(nodes)
    if not headers.keys() & {"if_match", "if_none_match"}:
        headers["if_match"] = f'"{(await server.get(url_of(path)))["digest"]}"'
    return await server.ask("PUT", url_of(path), {"text": text}, **(OWN | headers))


async def test_a_saved_workflow_answers_the_next_message(open_tree, tmp_path, llm):
    server = await open_tree(url=llm.url)
    saved = succeeded(await put(server, [answering(systemPrompt="Rhyme.", prompt="Now")]))
    assert json.loads(place_of(tmp_path).read_text())[0]["systemPrompt"] == "Rhyme."
    assert saved["file"] == await server.get(url_of(CHAT))
    await server.post("/v1/chat/completions", hello(model="Ann"))
    assert llm.requests[-1].body["messages"][0] == {"role": "system", "content": "Rhyme."}


async def test_a_new_workflow_is_listed_and_private(open_tree, tmp_path):
    server = await open_tree()
    path = "Workflows/Ann/Ünïcode 名前.json"
    saved = succeeded(await put(server, [answering()], path, **NEW))
    assert (saved["file"]["path"], saved["warnings"]) == (path, [])
    assert path in [file["path"] for file in (await server.get(AT))["files"]]
    assert place_of(tmp_path, path).stat().st_mode & 0o777 == 0o600


async def test_saving_is_off_unless_the_settings_switch_it_on(open_tree, tmp_path):
    server = await open_tree(edit=False)
    before = place_of(tmp_path).read_bytes()
    assert error_of(await put(server, [answering()])) == (403, "editing_off")
    assert error_of(await server.ask("POST", f"{AT}/check", {"path": CHAT, "text": "[]"})) == (403, "editing_off")
    assert error_of(await server.ask("POST", url_of(CHAT, "kept"), {})) == (403, "editing_off")
    assert "workflows.edit: true" in (await server.get(f"{AT}/saving"))["reason"]
    assert place_of(tmp_path).read_bytes() == before


async def test_the_built_in_workflow_is_not_saved(open_server):
    server = await open_server({"workflows.edit": True})
    assert error_of(await put(server, "[]", "Workflows/default.json")) == (403, "editing_off")
    assert "--config-dir" in (await server.get(f"{AT}/saving"))["reason"]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://localhost:5173"},
        {"content_type": "text/plain"},
        {"content_type": "application/x-www-form-urlencoded"},
        {"host": "127.0.0.1:6060"},
    ],
)
async def test_without_an_admin_key_only_a_page_of_this_server_saves(open_tree, tmp_path, headers):
    server = await open_tree()
    before = place_of(tmp_path).read_bytes()
    assert (await put(server, [answering()], **headers)).status == 403
    assert place_of(tmp_path).read_bytes() == before


async def test_a_program_without_an_origin_saves_nothing(open_tree):
    server = await open_tree()
    digest = (await server.get(url_of(CHAT)))["digest"]
    answer = await server.ask("PUT", url_of(CHAT), {"text": "[]"}, if_match=f'"{digest}"')
    assert error_of(answer) == (403, "own_page_needed")


async def test_where_there_is_an_admin_key_it_is_needed(open_tree):
    admin, key = "a" * 32, "k" * 32
    server = await open_tree(api_keys=[key, admin], admin_api_key=admin)
    digest = (await server.get(url_of(CHAT), authorization=f"Bearer {key}"))["digest"]
    match = {"if_match": f'"{digest}"'}
    assert error_of(await put(server, "[]", **match, authorization=f"Bearer {key}")) == (403, "admin_key_needed")
    assert not (await server.get(f"{AT}/saving", authorization=f"Bearer {key}"))["is_on"]
    sent = {"text": json.dumps([answering()])}
    saved = await server.ask("PUT", url_of(CHAT), sent, **match, authorization=f"Bearer {admin}")
    assert saved.status == 200
    assert (await server.get(f"{AT}/saving", authorization=f"Bearer {admin}"))["is_on"]


@pytest.mark.parametrize("has_admin_key", [True, False])
async def test_those_save_of_whom_the_refusal_speaks(open_tree, tmp_path, has_admin_key):
    admin = "a" * 32
    keyed = (
        {"api_keys": [admin], "admin_api_key": admin}
        if has_admin_key
        else {"host": "0.0.0.0", "has_stored_keys": True}
    )
    server = await open_tree(**keyed)
    create, before = server.parts.access.api_keys.create, place_of(tmp_path).read_bytes()
    both = await joined(server, "anna", "admin", is_operator=True)
    text, match = json.dumps([answering()]), {"if_match": f'"{sha256(before).hexdigest()}"', **OWN}
    for role, code in (("operator", "forbidden"), ("admin", "admin_key_needed"), ("write", "forbidden")):
        key = create(role=role, by="test")[1]
        assert error_of(await server.ask("PUT", url_of(CHAT), {"text": text}, **match, x_api_key=key)) == (403, code)
    refused = await server.ask(
        "PUT", url_of(CHAT), {"text": text}, **match, x_api_key=create(role="admin", by="test")[1]
    )
    assert "or somebody who is both admin and operator" in json.loads(refused.body)["error"]
    for is_operator in (False, True):
        page = both if is_operator else await joined(server, "ben", "admin")
        saved = await page.ask("PUT", url_of(CHAT), {"text": text}, **{**match, "origin": page.origin or ""})
        assert (saved.status, page.user["name"]) == (200 if is_operator else 403, "anna" if is_operator else "ben")


@pytest.mark.parametrize("options", [{"api_keys": ["k" * 32]}, {"allow_unauthenticated": True}])
async def test_where_others_reach_the_server_the_admin_key_is_needed(open_tree, options):
    server = await open_tree(host="0.0.0.0", **options)
    headers = {"authorization": f"Bearer {'k' * 32}", "if_match": '"0"'}
    assert error_of(await put(server, "[]", **headers)) == (403, "admin_key_needed")


async def test_a_text_made_from_another_one_is_not_saved(open_tree, tmp_path):
    server = await open_tree()
    digest = (await server.get(url_of(CHAT)))["digest"]
    place_of(tmp_path).write_text(json.dumps([titled("Of somebody else")]))
    assert error_of(await put(server, "[]", if_match=f'"{digest}"')) == (412, "changed_meanwhile")
    assert "Of somebody else" in place_of(tmp_path).read_text()


@pytest.mark.parametrize("match", ["*", "", '"0"', 'W/"0"', "0"])
async def test_what_names_no_text_saves_nothing(open_tree, match):
    server = await open_tree()
    assert error_of(await put(server, "[]", if_match=match)) == (412, "changed_meanwhile")
    assert error_of(await put(server, "[]", **NEW)) == (412, "changed_meanwhile")  # it exists already


@pytest.mark.parametrize(
    "path",
    [
        "Users/ann.json",
        "Users/_current-user.json",
        "Endpoints/Main.json",
        "ApiTypes/OpenAiChat.json",
        "Routing/New.json",
        "Presets/Any/Calm.json",
        "New.json",
        "Workflows/Ann/notes.txt",
        "Workflows/Ann/Chat",
        "Workflows/Ann/New.JSON",
    ],
)
async def test_only_workflows_are_saved(open_tree, tmp_path, path):
    server = await open_tree()
    before = {file: file.read_bytes() for file in tmp_path.rglob("*.json")}
    for headers in (NEW, {"if_match": f'"{"0" * 64}"'}):
        assert error_of(await put(server, [answering()], path, **headers)) == (403, "not_editable")
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.json")} == before


async def test_the_settings_of_discussions_are_no_workflow(open_server, tmp_path):
    files: dict[str, object] = {"Workflows/Ann/Memory.json": {}}
    user = {"discussionIdMemoryFileWorkflowSettings": "Memory"}
    tree = served(tmp_path, "http://127.0.0.1:9", files=files, user=user)
    server = await open_server(tree | {"workflows.edit": True})
    assert error_of(await put(server, "[]", "Workflows/Ann/Memory.json")) == (403, "not_editable")


@pytest.mark.parametrize(
    "path",
    [
        "Workflows/../Users/eve.json",
        "Workflows/Ann/../../../eve.json",
        "Workflows/..\\eve.json",
        "Workflows/Ann/eve\x00.json",
        "Workflows/Ann/CON.json",
        "Workflows/Ann/" + "x" * 300 + ".json",
    ],
)
async def test_no_path_leads_out_of_the_workflows(open_tree, tmp_path, path):
    server = await open_tree()
    before = set(tmp_path.rglob("*"))
    assert error_of(await put(server, [answering()], path, **NEW))[0] == 400
    assert error_of(await server.ask("POST", f"{AT}/check", {"path": path, "text": "[]"}, **OWN))[0] == 400
    assert set(tmp_path.rglob("*")) == before


async def test_no_link_is_followed(open_tree, tmp_path):
    server = await open_tree()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "Chat.json").write_text("[]")
    folder = place_of(tmp_path).parent
    os.symlink(outside / "Chat.json", folder / "Out.json")
    os.symlink(folder / "Chat.json", folder / "In.json")
    os.symlink(outside / "None.json", folder / "Nowhere.json")
    os.symlink(outside, folder.parent / "Far")
    os.symlink(folder, folder.parent / "Near")
    for path in ("Ann/Out", "Ann/In", "Ann/Nowhere", "Far/Chat", "Far/New", "Near/Chat", "Near/New"):
        answer = await put(server, [answering()], f"Workflows/{path}.json", **NEW)
        assert error_of(answer) == (400, "link_not_followed")
    assert [file.read_text() for file in outside.iterdir()] == ["[]"]


@pytest.mark.parametrize("name", ["chat", "CHAT", "Chat"])
async def test_a_name_that_is_another_one_in_other_case_is_refused(open_tree, name):
    server = await open_tree()
    code = (412, "changed_meanwhile") if name == "Chat" else (409, "similar_name")
    assert error_of(await put(server, [answering()], f"Workflows/Ann/{name}.json", **NEW)) == code
    answer = await put(server, [answering()], "Workflows/ann/New.json", **NEW)
    assert error_of(answer) == (404, "not_found")


async def test_a_name_that_is_another_one_in_unicode_is_refused(open_tree):
    server = await open_tree(files={f"Workflows/Ann/{unicodedata.normalize('NFC', 'Größe')}.json": [answering()]})
    path = f"Workflows/Ann/{unicodedata.normalize('NFD', 'Größe')}.json"
    assert error_of(await put(server, [answering()], path, **NEW)) == (409, "similar_name")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"),
        ("null", "holds null"),
        ("7", "A workflow is a list of nodes"),
        ('[{"type": "Standrad"}]', "no node type 'Standrad'"),
        ('[{"type": "Standard", "endpointName": "Mian"}]', "Did you mean 'Main'?"),
        (json.dumps([calling("Chat")]), "in a circle"),
        (json.dumps([answering(prompt="{agent7Output}")]), None),
        ("[" * 200 + "]" * 200, "nested deeper"),
    ],
)
async def test_what_the_check_finds_is_listed_and_nothing_is_saved(open_tree, tmp_path, text, words):
    server = await open_tree()
    before = place_of(tmp_path).read_bytes()
    listed = succeeded(await server.ask("POST", f"{AT}/check", {"path": CHAT, "text": text}, **OWN))
    answer = await put(server, text)
    if words is None:  # a warning alone
        assert (listed["errors"], answer.status) == (0, 200)
        return
    assert listed["errors"] >= 1
    assert any(words in f"{one['cause']} {one['fix']}" for one in listed["problems"])
    assert error_of(answer) == (422, "check_failed")
    assert place_of(tmp_path).read_bytes() == before


async def test_an_old_error_of_another_file_keeps_nobody_from_saving(open_tree):
    server = await open_tree(files={"Workflows/Ann/Odd.json": [asking("Mian")]})
    assert (await put(server, [answering()])).status == 200


async def test_a_covered_secret_is_not_saved_over_the_secret(open_tree, tmp_path):
    server = await open_tree(answering(apiKey=KEY))
    shown = await server.get(url_of(CHAT))
    assert (shown["is_redacted"], "[secret]" in shown["text"]) == (True, True)
    for text in (shown["text"], shown["text"].replace("[secret]", "\\u005bsecret]")):
        answer = await put(server, text)
        assert (error_of(answer), b"[secret]" in answer.body) == ((422, "check_failed"), True)
    assert KEY in place_of(tmp_path).read_text()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], [MODULE]),
        ([MODULE], [MODULE, MODULE]),
        ([MODULE], [MODULE | {"module_path": "modules/two.py"}]),
        ([MODULE], [MODULE | {"args": ["b"]}]),
        ([MODULE], [MODULE | {"kwargs": {"x": 1}}]),
        ([], [SAVE]),
        ([SAVE], [SAVE | {"filepath": "notes/other.txt"}]),
        ([SAVE | {"filepath": "notes/{agent1Output}.txt"}], [SAVE | {"filepath": "notes/{agent1Output}.txt"}]),
        ([], [READ]),
        ([SAVE], [READ]),
        ([], [calling("Sub")]),
        ([], [calling("{agent1Output}")]),
        ([calling("Sub", scoped_variables=["a"])], [calling("Sub", scoped_variables=["b"])]),
        (
            [calling("Sub", scoped_variables=["{agent1Output}"])],
            [calling("Sub", scoped_variables=["{agent1Output}"])],
        ),
    ],
)
async def test_nothing_that_reaches_files_or_modules_is_added_or_changed(open_tree, tmp_path, before, after):
    server = await open_tree(asking(), *before, answering(), files={"Workflows/Ann/Sub.json": [calling("Deep")]})
    place_of(tmp_path, "Workflows/Ann/Deep.json").write_text(json.dumps([READ, answering()]))
    kept = place_of(tmp_path).read_bytes()
    answer = await put(server, [asking(prompt="Other"), *after, answering()])
    assert error_of(answer) == (422, "check_failed")
    assert b"on the server's disk" in answer.body
    assert place_of(tmp_path).read_bytes() == kept


@pytest.mark.parametrize("node", [SAVE, READ, SAVE | {"filepath": "notes/{Discussion_Id}.txt"}, calling("Sub")])
async def test_the_rest_of_a_workflow_with_files_is_saved(open_tree, node):
    server = await open_tree(node, answering(), files={"Workflows/Ann/Sub.json": [SAVE, answering()]})
    assert (await put(server, [asking(prompt="Think."), node | {"title": "Other"}, answering()])).status == 200


async def test_the_last_good_version_is_kept_apart_and_restored(open_tree, tmp_path):
    server = await open_tree()
    first = (await server.get(url_of(CHAT)))["text"]
    saved = succeeded(await put(server, [titled("Second")]))
    [kept] = (tmp_path / "data" / "kept-workflows").iterdir()
    assert (kept.read_text(), kept.stat().st_mode & 0o777) == (first, 0o600)
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    assert saved["file"]["has_kept"]
    assert (await server.get(url_of(CHAT, "kept")))["text"] == first
    match = {"if_match": f'"{saved["file"]["digest"]}"'}
    restored = succeeded(await server.ask("POST", url_of(CHAT, "kept"), {}, **OWN, **match))
    assert restored["file"]["text"] == first
    assert "Second" in (await server.get(url_of(CHAT, "kept")))["text"]
    assert error_of(await server.ask("POST", url_of(CHAT, "kept"), {}, **OWN, **match)) == (412, "changed_meanwhile")


async def test_a_secret_of_the_kept_version_comes_back_whole_and_unseen(open_tree, tmp_path):
    server = await open_tree(answering(apiKey=KEY))
    saved = succeeded(await put(server, [answering()]))
    answer = await server.ask("GET", url_of(CHAT, "kept"))
    assert KEY.encode() not in answer.body
    match = {"if_match": f'"{saved["file"]["digest"]}"'}
    succeeded(await server.ask("POST", url_of(CHAT, "kept"), {}, **OWN, **match))
    assert KEY in place_of(tmp_path).read_text()


async def test_a_broken_version_does_not_take_the_place_of_a_good_one(open_tree, tmp_path):
    server = await open_tree()
    first = place_of(tmp_path).read_text()
    await put(server, [titled("Second")])
    place_of(tmp_path).write_text("{")
    await put(server, [titled("Third")])
    assert (await server.get(url_of(CHAT, "kept")))["text"] == first


async def test_a_kept_module_does_not_come_back_once_it_was_taken_out(open_tree, tmp_path):
    server = await open_tree(MODULE, answering())
    saved = succeeded(await put(server, [answering()]))
    match = {"if_match": f'"{saved["file"]["digest"]}"'}
    answer = await server.ask("POST", url_of(CHAT, "kept"), {}, **OWN, **match)
    assert error_of(answer) == (422, "check_failed")
    assert "PythonModule" not in place_of(tmp_path).read_text()


async def test_without_an_earlier_version_there_is_none(open_tree):
    server = await open_tree()
    shown = await server.get(url_of(CHAT))
    assert not shown["has_kept"]
    assert error_of(await server.ask("GET", url_of(CHAT, "kept"))) == (404, "no_kept_version")
    match = {"if_match": f'"{shown["digest"]}"'}
    assert error_of(await server.ask("POST", url_of(CHAT, "kept"), {}, **OWN, **match)) == (404, "no_kept_version")


async def test_a_saved_file_keeps_its_mode(open_tree, tmp_path):
    server = await open_tree()
    place_of(tmp_path).chmod(0o640)
    await put(server, [titled("Second")])
    assert place_of(tmp_path).stat().st_mode & 0o777 == 0o640
