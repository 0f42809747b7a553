"""Discussions that the workflow format encrypts by the client's key: read and continued, kept, found and refused."""

import base64
import hashlib
import io
import json
import zipfile
from pathlib import Path

import orjson
import pytest
from cryptography.fernet import Fernet

from mnemoir.cli.diagnosis.file_checks import check_discussions
from mnemoir.core.users import Grant
from mnemoir.settings import load_settings
from mnemoir.storage.discussions import client_keys
from mnemoir.upkeep.encryption import plain_places
from tests.scripted_llm import ScriptedLLM
from tests.server.served_tree import answering, served
from tests.server.server_kit import error_of, succeeded
from tests.server.sign_in.page import joined
from tests.storage.sealing_kit import a_key

CHAT = "/v1/chat/completions"
KEY, OTHER = "correct horse battery staple", "another key"
SETTINGS = {
    "endpointName": "Main",
    "systemPrompt": "You sum up.",
    "prompt": "[TextChunk]",
    "chunkEstimatedTokenSize": 20,
    "maxMessagesBetweenChunks": 2,
    "lookbackStartTurn": 0,
}
NODES = (
    {"title": "Sum up", "type": "QualityMemory"},
    {"title": "Read", "type": "GetCurrentMemoryFromFile"},
    {"title": "Whole", "type": "GetCurrentSummaryFromFile"},
    answering(systemPrompt="Known: {agent2Output} / {agent3Output}", addDiscussionIdTimestampsForLLM=True),
)
SAID = [
    {"role": ("user", "assistant")[n % 2], "content": f"My Zanzibarquince number {n} is of very thin blue china."}
    for n in range(5)
]
MADE = "She owns Tandemzinnober."


def fernet(key: str, user: str = "Ann") -> Fernet:
    """The cipher of a key as the format has it, without any code of the product."""
    salt = f"WilmerAI-v1-{hashlib.sha256(user.encode()).hexdigest()}".encode()
    return Fernet(base64.urlsafe_b64encode(hashlib.pbkdf2_hmac("sha256", key.encode(), salt, 100_000)))


def folder(root: Path, key: str, id: str = "cups") -> Path:
    return root / hashlib.sha256(key.encode()).hexdigest()[:16] / id


def put(root: Path, key: str, file: str, value: object, id: str = "cups", user: str = "Ann") -> None:
    """A file as another program of the format leaves it."""
    place = folder(root, key, id) / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(fernet(key, user).encrypt(json.dumps(value).encode()))


def opened(root: Path, key: str, file: str, id: str = "cups", user: str = "Ann"):
    return json.loads(fernet(key, user).decrypt((folder(root, key, id) / file).read_bytes()))


def entry(text: str) -> dict[str, str]:
    return {"text_block": text, "hash": hashlib.sha256(text.encode()).hexdigest()}


def as_bearer(key: str, **more: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}", **more}


@pytest.fixture
def root(tmp_path):
    return tmp_path / "Public" / "DiscussionIds"


@pytest.fixture
def serve(open_server, tmp_path, llm):
    """Opens a server of a user who makes memories before each answer; `settings` beside those of the tree."""
    llm.rule(lambda asked: "You sum up." in asked.prompt, MADE)

    async def start(settings=None, **user):
        memory = {"discussionIdMemoryFileWorkflowSettings": "Memory"}
        files = {"Workflows/Ann/Memory.json": SETTINGS}
        tree = served(tmp_path, llm.url, *NODES, files=files, user=memory | user)
        return await open_server(tree | (settings or {}))

    return start


@pytest.fixture
async def server(serve):
    return await serve(encryptUsingApiKey=True)


async def say(server, *said, id="cups", key: str | None = None, previous: str | None = None):
    tagged = [{**said[0], "content": f"[DiscussionId]{id}[/DiscussionId]{said[0]['content']}"}, *said[1:]]
    headers = {} if key is None else as_bearer(key)
    headers |= {} if previous is None else {"x_mnemoir_previous_key": previous}
    return await server.ask("POST", CHAT, {"model": "ann", "messages": tagged}, **headers)


def known(llm: ScriptedLLM) -> str:
    """What the model was told of the discussion, at the last answer."""
    return next(asked.prompt for asked in reversed(llm.requests) if "Known:" in asked.prompt)


def words_in(root: Path, *words: str) -> set[str]:
    kept = b"".join(file.read_bytes() for file in root.rglob("*") if file.is_file())
    return {word for word in words if word.encode() in kept}


async def test_a_discussion_of_another_program_is_read_and_continued(server, root, llm):
    put(root, KEY, "memories.json", [entry("He collects Kestrelmarzipan.")])
    put(root, KEY, "chat_summary.json", [entry("All about cups.")])
    assert (await say(server, *SAID, key=KEY)).status == 200
    assert "He collects Kestrelmarzipan." in known(llm)
    assert "All about cups." in known(llm)
    texts = [one["text_block"] for one in opened(root, KEY, "memories.json")]
    assert texts == ["He collects Kestrelmarzipan.", *[MADE] * len(SAID)]
    assert opened(root, KEY, "timestamps.json")
    assert words_in(root, "Kestrelmarzipan", "Zanzibarquince", "Tandemzinnober", "text_block", KEY) == set()


async def test_what_is_made_anew_is_opened_by_the_format_and_has_no_word_in_plain(server, root):
    assert (await say(server, *SAID, key=KEY)).status == 200
    assert {one["text_block"] for one in opened(root, KEY, "memories.json")} == {MADE}
    assert words_in(root, "Zanzibarquince", "Tandemzinnober", KEY) == set()
    assert {path.name for path in folder(root, KEY).iterdir() if path.suffix == ".json"} == {
        "memories.json",
        "timestamps.json",
    }


async def test_plain_files_in_the_folder_of_the_key_are_read_and_encrypted_when_they_are_written(server, root, llm):
    put(root, KEY, "memories.json", [])
    (folder(root, KEY) / "memories.json").write_text(json.dumps([entry("He collects Kestrelmarzipan.")]))
    assert (await say(server, *SAID, key=KEY)).status == 200
    assert "Kestrelmarzipan" in known(llm)
    assert opened(root, KEY, "memories.json")[0]["text_block"] == "He collects Kestrelmarzipan."
    assert words_in(root, "Kestrelmarzipan") == set()


async def test_a_wrong_key_is_refused_makes_no_folder_and_changes_nothing(server, root, llm):
    put(root, KEY, "memories.json", [entry("He collects Kestrelmarzipan.")])
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    answer = await say(server, *SAID, key=OTHER)
    assert error_of(answer) == (503, "key_unavailable")
    assert b"X-Mnemoir-Previous-Key" in answer.body
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
    assert not [asked for asked in llm.requests if "Known:" in asked.prompt]
    assert (await say(server, *SAID, key=OTHER, id="plates")).status == 200


@pytest.mark.parametrize("file", ["memories.json", "chat_summary.json", "timestamps.json"])
async def test_a_file_of_another_user_or_a_damaged_one_is_refused_and_stays(server, root, llm, file):
    put(root, KEY, file, [] if file != "timestamps.json" else {}, user="Bob")
    before = (folder(root, KEY) / file).read_bytes()
    answer = await say(server, *SAID, key=KEY)
    assert error_of(answer) == (503, "key_unavailable")
    assert (folder(root, KEY) / file).read_bytes() == before
    assert not [asked for asked in llm.requests if "Known:" in asked.prompt]


async def test_both_keys_give_the_discussion_to_the_new_one(server, root, llm):
    put(root, KEY, "memories.json", [entry("He collects Kestrelmarzipan.")])
    put(root, KEY, "chat_summary.json", [entry("All about cups.")])
    put(root, KEY, "condensation_tracker.json", {"lastCondensationHash": "abc"})
    assert (await say(server, *SAID, key=OTHER, previous=KEY)).status == 200
    assert "Kestrelmarzipan" in known(llm)
    assert "All about cups." in known(llm)
    assert opened(root, OTHER, "memories.json")[0]["text_block"] == "He collects Kestrelmarzipan."
    assert opened(root, OTHER, "condensation_tracker.json") == {"lastCondensationHash": "abc"}
    assert not folder(root, KEY).exists()
    assert (await say(server, *SAID, key=OTHER)).status == 200
    assert error_of(await say(server, *SAID, key=KEY)) == (503, "key_unavailable")


async def test_without_a_key_the_discussion_is_in_the_plain_folder(server, root, llm):
    put(root, KEY, "memories.json", [entry("He collects Kestrelmarzipan.")])
    assert (await say(server, *SAID)).status == 200
    assert "Kestrelmarzipan" not in known(llm)
    assert (root / "cups_memories.jsonl").exists()
    assert words_in(root, "Tandemzinnober") == {"Tandemzinnober"}


async def test_without_the_setting_only_a_discussion_that_is_there_is_in_the_folder_of_the_key(serve, root, llm):
    server = await serve()
    place = folder(root, KEY) / "memories.json"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps([entry("He collects Kestrelmarzipan.")]))
    assert (await say(server, *SAID, key=KEY)).status == 200
    assert "Kestrelmarzipan" in known(llm)
    assert [one["text_block"] for one in json.loads(place.read_bytes())][1:] == [MADE] * len(SAID)
    assert (await say(server, *SAID, key=KEY, id="plates")).status == 200
    assert (root / "plates_memories.jsonl").exists()
    assert not folder(root, KEY, "plates").exists()


async def test_with_the_setting_switched_off_encrypted_files_are_refused_and_not_written_over(serve, root):
    server = await serve()
    put(root, KEY, "memories.json", [entry("He collects Kestrelmarzipan.")])
    assert error_of(await say(server, *SAID, key=KEY)) == (503, "key_unavailable")
    assert opened(root, KEY, "memories.json") == [entry("He collects Kestrelmarzipan.")]


async def test_a_key_is_derived_once_for_a_user(server, monkeypatch):
    derived = client_keys.fernet_key_of
    done = []

    def noting(*of):
        done.append(of)
        return derived(*of)

    monkeypatch.setattr(client_keys, "fernet_key_of", noting)
    for id in ("cups", "plates", "cups"):
        assert (await say(server, *SAID, key=KEY, id=id)).status == 200
    assert done == [(KEY, "Ann")]


async def test_a_login_of_the_command_line_is_no_key_of_discussions(server, root):
    access = server.parts.access
    _, token = access.users.invite(Grant(role="admin"), by="test")
    user, _ = access.users.join(token, "anna", password_hash=await access.passwords.hash("a long enough one"))
    login = access.sessions.begin(user, how="terminal", agent="", address="", is_terminal=True)
    succeeded(await say(server, *SAID, key=login))
    assert words_in(root, MADE) == {MADE}
    assert not list(root.rglob(folder(root, login).parent.name))


async def test_lists_and_routes_show_what_the_key_of_the_request_opens(server, root):
    put(root, KEY, "memories.json", [entry("He collects Kestrelmarzipan.")])
    put(root, OTHER, "memories.json", [entry("She has none.")], id="plates")
    listed = await server.get("/api/discussions", **as_bearer(KEY))
    assert [(one["id"], one["chunk_summaries"]) for one in listed["results"]] == [("cups", 1)]
    assert (await server.get("/api/discussions"))["results"] == []
    exported = await server.get("/api/discussions/cups/export", **as_bearer(KEY))
    assert exported["chunk_summaries"][0]["text"] == "He collects Kestrelmarzipan."
    assert error_of(await server.ask("GET", "/api/discussions/plates/export", **as_bearer(KEY)))[0] == 503
    await server.post("/api/discussions/saucers/import", exported, **as_bearer(KEY))
    assert opened(root, KEY, "memories.json", "saucers")[0]["text_block"] == "He collects Kestrelmarzipan."
    assert (await server.ask("DELETE", "/api/discussions/cups", **as_bearer(KEY))).status == 204
    assert not folder(root, KEY).exists()


async def test_a_rebuild_leaves_encrypted_files(server, root):
    assert (await say(server, *SAID, key=KEY)).status == 200
    before = opened(root, KEY, "memories.json")
    answer = await server.ask("POST", "/api/discussions/cups/rebuild", {}, **as_bearer(KEY))
    assert orjson.loads(answer.body.strip().rsplit(b"\n")[-1])["finished"]
    after = opened(root, KEY, "memories.json")
    assert [one["text_block"] for one in after] == [MADE] * len(SAID)
    assert after[0]["id"] != before[0]["id"]
    assert {path.name for path in folder(root, KEY).parent.iterdir() if path.is_dir()} == {"cups"}
    assert words_in(root, "Zanzibarquince", "Tandemzinnober") == set()


async def test_records_stay_plain_as_the_format_has_them_and_lie_in_the_folder_of_the_key(serve, root, tmp_path, llm):
    llm.rule(lambda asked: "Find records" in asked.prompt, json.dumps([{"title": "Cup", "summary": MADE}]))
    server = await serve(encryptUsingApiKey=True)
    settings = SETTINGS | {"useVectorForQualityMemory": True, "vectorMemoryChunkEstimatedTokenSize": 20}
    (tmp_path / "Public/Configs/Workflows/Ann/Memory.json").write_text(
        json.dumps(settings | {"systemPrompt": "Find records", "vectorMemoryMaxMessagesBetweenChunks": 2})
    )
    assert (await say(server, *SAID, key=KEY)).status == 200
    assert (folder(root, KEY) / "vector_memory.db").exists()


async def test_a_person_is_exported_with_the_encrypted_files_and_erased_without_the_key(server, root):
    chat = {"model": "ann", "messages": SAID, "user": "mira", "conversation_id": "cups"}
    await server.post(CHAT, chat, **as_bearer(KEY))
    (hers,) = (root / "%owners").iterdir()
    stored = (folder(hers, KEY) / "memories.json").read_bytes()
    answer = await server.ask("POST", "/api/subjects/mira/export")
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("cups/memories.json")]
        assert archive.read(name) == stored
        told = orjson.loads(archive.read("projects/default/discussions.jsonl"))
    assert told == {"id": "cups", "encrypted_in": name.removesuffix("/memories.json")}
    succeeded(await server.ask("POST", "/api/subjects/mira/erase"))
    assert not hers.exists()


async def test_a_bound_key_has_its_encrypted_discussions_in_the_folder_of_its_owner(server, root):
    keys = server.parts.access.api_keys
    tokens = {user: keys.create(role="write", user=user, by="test")[1] for user in ("mira", "otto")}
    for user, token in tokens.items():
        await server.post(CHAT, {"model": "ann", "messages": SAID, "conversation_id": "cups"}, **as_bearer(token))
        (owned,) = [path for path in (root / "%owners").iterdir() if folder(path, token).exists()]
        assert opened(owned, token, "memories.json"), user
    assert len(list((root / "%owners").iterdir())) == 2
    assert words_in(root, "Zanzibarquince", "Tandemzinnober", *tokens.values()) == set()
    admin = as_bearer(keys.create(role="admin", by="test")[1])
    succeeded(await server.ask("POST", "/api/subjects/mira/erase", **admin))
    (left,) = (root / "%owners").iterdir()
    assert opened(left, tokens["otto"], "memories.json")


async def test_who_signed_in_is_told_that_a_key_opens_their_own_discussion_and_nothing_of_others(server):
    anna, ben = await joined(server, "Anna"), await joined(server, "Ben")
    key = as_bearer(server.parts.access.api_keys.create(role="write", user="anna", by="test")[1])
    await server.post(CHAT, {"model": "ann", "messages": SAID, "conversation_id": "cups"}, **key)
    for below in ("", "/memories", "/summary", "/export"):
        target = f"/api/discussions/cups{below}"
        assert error_of(await anna.ask("GET", target)) == (404, "client_key_needed")
        assert error_of(await ben.ask("GET", target)) == (404, "discussion_not_found")
        assert (await server.ask("GET", target, **key)).status == 200
    assert error_of(await anna.ask("GET", "/api/discussions/plates")) == (404, "discussion_not_found")
    other = as_bearer(server.parts.access.api_keys.create(role="write", user="anna", by="test")[1])
    assert error_of(await server.ask("GET", "/api/discussions/cups", **other)) == (503, "key_unavailable")


async def test_who_rotates_a_key_is_told_of_the_discussions_that_it_encrypts(server):
    keys = server.parts.access.api_keys
    old = keys.create(role="admin", by="test")[0]
    admin = as_bearer(keys.create(role="admin", by="test")[1])
    rotated = orjson.loads((await server.ask("POST", f"/api/keys/{old.id}/rotate", {}, **admin)).body)
    assert "Discussions of Ann are encrypted" in rotated["warning"]
    assert "X-Mnemoir-Previous-Key" in rotated["warning"]
    foreign = keys.create(role="write", configs=["Bob"], by="test")[0]
    assert (
        orjson.loads((await server.ask("POST", f"/api/keys/{foreign.id}/rotate", {}, **admin)).body)["warning"]
        is None
    )


async def test_with_encryption_of_all_fields_a_request_without_a_key_leaves_nothing_plain(serve, root, tmp_path):
    kek = tmp_path / "kek"
    kek.write_text(a_key())
    kek.chmod(0o600)
    mode = {"encryption.mode": "fields", "encryption.key_file": str(kek)}
    server = await serve(mode | {"encryption.allow_plain": "conversations"}, encryptUsingApiKey=True)
    assert error_of(await say(server, *SAID)) == (503, "key_unavailable")
    assert error_of(await server.ask("GET", "/api/discussions/cups")) == (404, "discussion_not_found")
    assert (await say(server, *SAID, key=KEY)).status == 200
    assert error_of(await server.ask("GET", "/api/discussions/cups")) == (404, "client_key_needed")
    assert words_in(root, "Zanzibarquince", "Tandemzinnober") == set()


async def test_what_stays_plain_of_discussions_is_told_by_what_the_users_have(tmp_path, llm):
    places = []
    for user, memory in (
        ({}, {}),
        ({"encryptUsingApiKey": True}, {}),
        ({"encryptUsingApiKey": True}, {"useVectorForQualityMemory": True}),
    ):
        files = {"Workflows/Ann/Memory.json": SETTINGS | memory}
        tree = served(
            tmp_path, llm.url, files=files, user={"discussionIdMemoryFileWorkflowSettings": "Memory", **user}
        )
        places.append(set(plain_places(load_settings(None, tree, environ={}))) - {"conversations"})
    assert places == [{"discussions"}, set(), {"records"}]


async def test_a_stream_with_a_wrong_key_is_refused_before_it_begins(server, root):
    put(root, KEY, "memories.json", [entry("He collects Kestrelmarzipan.")])
    tagged = [{"role": "user", "content": "[DiscussionId]cups[/DiscussionId]Hello"}]
    body = {"model": "ann", "messages": tagged, "stream": True}
    assert error_of(await server.ask("POST", CHAT, body, **as_bearer(OTHER))) == (503, "key_unavailable")


async def test_plain_files_outside_are_not_inherited_by_who_sends_a_key(server, root, llm):
    (root / "cups").mkdir(parents=True)
    (root / "cups" / "memories.json").write_text(json.dumps([entry("He collects Kestrelmarzipan.")]))
    assert (await say(server, *SAID, key=KEY)).status == 200
    assert "Kestrelmarzipan" not in known(llm)
    assert [one["text_block"] for one in opened(root, KEY, "memories.json")] == [MADE] * len(SAID)
    assert (await say(server, *SAID)).status == 200
    assert "Kestrelmarzipan" in known(llm)


async def test_the_doctor_counts_encrypted_discussions_and_takes_none_for_damaged(server, root):
    put(root, KEY, "memories.json", [entry("He collects Kestrelmarzipan.")])
    put(root, OTHER, "memories.json", [entry("She has none.")], id="plates")
    told = await check_discussions(server.parts.settings)
    assert (told.state, told.found) == (
        "ok",
        "0 discussions with 0 chunk summaries and 0 records, whole; 2 discussions of clients' keys",
    )
