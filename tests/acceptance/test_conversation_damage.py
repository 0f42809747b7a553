"""Files of conversations are damaged: nothing begins empty without a word, and no chat fails.

Every user's conversations are files of their own, so one server shows what many kinds of damage lead to: each is done
to the files of another user.
"""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from base64 import b64encode
from contextlib import closing
from pathlib import Path

import pytest
import requests

from tests.acceptance.conversation_kit import Place, answered, environment_of, open_place, path_of, said
from tests.serving import ServerProcess
from tests.tree_kit import answers, user, write_tree
from tests.workflows.nodes.pictures import png

pytestmark = pytest.mark.slow

POSITIONS = 20
SESSIONS_FILE, VECTORS = "conversations.db", "mnemoir_embeddings"
USER = {"user_id": "sound"}
PICTURE = f"data:image/png;base64,{b64encode(png()).decode()}"


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A user with conversations of many pages, pictures and the memory of a node; the server is stopped."""
    folder = tmp_path_factory.mktemp("damage")
    node = answers("Talking", memory={"mode": "node"}, lastMessagesToSendInsteadOfPrompt=2)
    with open_place(folder) as place:
        tree = write_tree(folder / "Public", place.model.llm.url, {"Users/eve.json": user(), **_workflow(node)})
        arguments = ["--config-dir", str(tree), "--user", "Eve"]
        with ServerProcess(
            folder / "data-2", arguments=arguments, environment=environment_of(place.model.llm)
        ) as server:
            opened = Place(server=server, model=place.model)
            picture = [{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": PICTURE}}]
            assert opened.post([said(picture)], "talk", user="sound").status_code == 200
            for count in range(30):
                told = [said(f"question {count} " * 30), answered(f"answer {count} " * 30)]
                opened.do("POST", f"{path_of('talk')}/messages", {"messages": told}, **USER)
            opened.flush("talk", **USER)
            server.stop()
            yield opened


def _workflow(node):
    return {"Workflows/Eve/Chat.json": [node]}


def victims(sound: Place, name: str, damages: dict[str, bytes]) -> list[str]:
    """Users with a copy each of the sound one's files, in which the file of that name has these bytes."""
    (folder,) = sound.conversations.glob("*/sound")
    for victim, content in damages.items():
        copy = folder.parent / victim
        shutil.copytree(folder, copy)
        take_owner_off(copy / SESSIONS_FILE)
        (copy / name).write_bytes(content)
    return list(damages)


def damaged(content: bytes, name: str, positions: int = POSITIONS) -> dict[str, bytes]:
    """The content with a byte changed, and cut short, at many places, by a name of the damage."""
    places = [1 + number * (len(content) - 2) // positions for number in range(positions)]
    flipped = {f"{name}-flip{at}": content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :] for at in places}
    return flipped | {f"{name}-cut{at}": content[:at] for at in places}


def own_file(sound: Place, name: str) -> bytes:
    """The content of a file of the sound one's, as anybody may have it."""
    (folder,) = sound.conversations.glob("*/sound")
    with tempfile.TemporaryDirectory() as aside:
        copy = Path(shutil.copy(folder / name, aside))
        if name == SESSIONS_FILE:
            take_owner_off(copy)
        return copy.read_bytes()


def take_owner_off(file: Path) -> None:
    """Let a file of conversations tell no more whose it is, so that a copy of it can be another user's."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE identity SET owner = ''")


@pytest.fixture
def restarted(sound):
    """Starts the server, with an empty log; it is stopped afterwards."""
    sound.server.log.write_bytes(b"")
    yield sound.server.start
    sound.server.stop()


def is_told_of(sound: Place, user: str, name: str, *replies: requests.Response) -> bool:
    """Whether a refusal names the damaged file, or it was set aside, as it was, and the log says so."""
    (folder,) = sound.conversations.glob(f"*/{user}")
    refused = any(reply.status_code == 503 and name in reply.text for reply in replies)
    log = sound.server.log.read_text()
    aside = [file.name for file in folder.glob(f"{name}.corrupt-*Z")]  # its log and index end otherwise
    return refused or any(f"/{user}/" in line and file in line for line in log.splitlines() for file in aside)


def is_mended(sound: Place, user: str) -> bool:
    """Whether the log says that the user's indexes were made anew: a time that was damaged moves its message."""
    log = sound.server.log.read_text()
    return any(f"/{user}/" in line and "indexes" in line for line in log.splitlines())


def skipped_messages(told: str) -> set[int]:
    """The messages of which these lines of the log say that their role cannot be read."""
    lines = [line for line in told.splitlines() if "stored message skipped" in line]
    return {int(found[1]) for line in lines if (found := re.search(r"message_id=(\d+)", line))}


def test_a_damaged_file_of_messages_is_refused_or_set_aside_by_name_and_never_empty_without_a_word(sound, restarted):
    users = victims(sound, SESSIONS_FILE, damaged(own_file(sound, SESSIONS_FILE), "messages"))
    restarted()
    expected = [message["id"] for message in sound.messages("talk", "tree", **USER)]
    assert len(expected) == 62
    for victim in users:
        told_before = len(sound.server.log.read_text())
        reply = sound.ask("GET", f"{path_of('talk')}/messages", params={"user_id": victim, "limit": 100})
        found = [message["id"] for message in reply.json().get("results", [])]
        assert reply.status_code in (200, 404, 503), (victim, reply.text)
        skipped = skipped_messages(sound.server.log.read_text()[told_before:])  # of this victim alone
        kept = [number for number in expected if number not in skipped]
        is_whole = found == kept or (sorted(found) == expected and is_mended(sound, victim))
        assert is_whole or is_told_of(sound, victim, SESSIONS_FILE, reply), victim
        assert sound.chat([said("Go on")], "talk", user=victim) != ""
        assert sound.ask("GET", "", params={"user_id": victim}).status_code in (200, 503), victim
    assert "Traceback" not in sound.server.log.read_text()


def test_a_damaged_file_of_vectors_costs_no_message_and_no_search_by_words(sound, restarted):
    name = f"{VECTORS}.vectors.db"
    users = victims(sound, name, damaged(own_file(sound, name), "vectors"))
    restarted()
    expected = sound.messages("talk", "tree", **USER)
    for victim in users:
        assert sound.messages("talk", "tree", user_id=victim) == expected, victim
        hits = sound.get("/search", q="question 7", mode="keyword", user_id=victim)["results"]
        assert hits[0]["message"]["content"].split()[1] == "7", victim  # question and answer say it as often
        asked = sound.ask("GET", "/search", params={"q": "question 7", "mode": "hybrid", "user_id": victim})
        assert asked.status_code == 200, (victim, asked.text)
        kept = sound.post([said("Go on")], "talk", user=victim).headers.get("x-conversation-id")
        assert kept == "talk", victim
    assert "Traceback" not in sound.server.log.read_text()


def test_damaged_notes_of_nodes_and_pictures_fail_no_chat_and_are_not_written_over(sound, restarted):
    (folder,) = sound.conversations.glob("*/sound")
    objects = [file for file in folder.rglob("objects/**/*") if file.is_file() and file.suffix in (".json", ".png")]
    assert {file.suffix for file in objects} == {".json", ".png"}
    for file in objects:
        name = str(file.relative_to(folder))
        users = victims(sound, name, damaged(file.read_bytes(), file.suffix[1:], positions=8))
        restarted()
        for victim in users:
            before = (folder.parent / victim / name).read_bytes()
            assert sound.chat([said("Go on")], "talk", user=victim, history="server") != ""
            kept = [path.read_bytes() for path in (folder.parent / victim / name).parent.iterdir()]
            assert before in kept or json_is_extended(before, kept), victim
        sound.server.stop()
    assert "Traceback" not in sound.server.log.read_text()


def json_is_extended(before: bytes, kept: list[bytes]) -> bool:
    """Whether the document could be read all the same, and what was in it is still there."""
    try:
        first = json.loads(before)["messages"]
    except (ValueError, KeyError, TypeError):
        return False
    return any(json.loads(content)["messages"][: len(first)] == first for content in kept)


def test_doctor_names_every_damaged_file(sound):
    damages = {"doctor": b"\0" * 4096 + own_file(sound, SESSIONS_FILE)[4096:]}
    victims(sound, SESSIONS_FILE, damages)
    vectors = f"{VECTORS}.vectors.db"
    victims(sound, vectors, {"doctor-2": b"\0" * 4096 + own_file(sound, vectors)[4096:]})
    command = [sys.executable, "-m", "mnemoir", "doctor", "--data-dir", str(sound.server.data_dir), "--json"]
    environment = os.environ | environment_of(sound.model.llm)
    told = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert told.returncode == 1
    failed = [check["found"] for check in json.loads(told.stdout)["checks"] if check["state"] == "fail"]
    assert any(f"doctor/{SESSIONS_FILE}" in found for found in failed), told.stdout
    assert any(f"doctor-2/{vectors}" in found for found in failed), told.stdout
    assert not any(f"sound/{SESSIONS_FILE}" in found for found in failed)
