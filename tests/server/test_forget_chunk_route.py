"""`DELETE /api/discussions/{id}/memories/{key}`, and the command that asks for it."""

import json
from functools import partial
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from tests.cli.command_process import run_here
from tests.server.server_kit import error_of
from tests.serving import free_port

DISCUSSIONS = "/api/discussions"
WORDS = [{"role": "user", "content": "I play the xylophone."}]
RECORD = {
    "metadata": {"title": "Tea", "summary": "Ann plays the xylophone.", "entities": ["Ann"], "key_phrases": ["play"]}
}
COPY: dict[str, Any] = {
    "format": "mnemoir-discussion",
    "version": 1,
    "chunk_summaries": [
        {"text": "It is green.", "hash": "a" * 64, "number": 1, "digests": ["a" * 16]},
        {
            "text": "A xylophone is played.",
            "hash": "b" * 64,
            "number": 2,
            "digests": ["b" * 16],
            "source": WORDS,
            "made_by": "Main (far)",
        },
    ],
    "rolling_summary": {"text": "Tea and a xylophone.", "hash": "b" * 64, "number": 2, "made_by": "workflow Sum"},
    "record_chunks": [
        {"hash": "b" * 64, "digests": ["b" * 16], "source": WORDS, "records": [RECORD], "made_by": "Main (far)"}
    ],
}


def of(id, below):
    return f"{DISCUSSIONS}/{quote(id, safe='')}/{below}"


async def remember(server, id="tea/time"):
    """The keys of the chunk of the xylophone among the summaries and among the records."""
    await server.post(of(id, "import"), COPY)
    summaries = await server.get(of(id, "memories"))
    records = await server.get(of(id, "memories?kind=records"))
    return summaries["results"][1]["id"], records["results"][0]["chunk"]


def files_with(folder, word):
    return [file.name for file in folder.rglob("*") if file.is_file() and word.encode() in file.read_bytes()]


async def test_memories_tell_who_made_them_and_who_said_what(server):
    await remember(server)
    summaries = await server.get(of("tea/time", "memories?sources=true"))
    assert [one["made_by"] for one in summaries["results"]] == [None, "Main (far)"]
    assert [one["source"] for one in summaries["results"]] == [[], WORDS]
    [record] = (await server.get(of("tea/time", "memories?kind=records&sources=true")))["results"]
    assert (record["made_by"], record["source"]) == ("Main (far)", WORDS)
    assert (await server.get(of("tea/time", "summary")))["summary"]["made_by"] == "workflow Sum"


async def test_a_chunk_is_forgotten_in_both_kinds(server, tmp_path):
    summary, records = await remember(server)
    assert files_with(tmp_path, "xylophone")
    assert (await server.ask("DELETE", of("tea/time", f"memories/{summary}"))).status == 204
    assert await server.get(of("tea/time", "summary")) == {"summary": None}
    assert (await server.ask("DELETE", of("tea/time", f"memories/{records}?kind=records"))).status == 204
    assert files_with(tmp_path, "xylophone") == []
    shown = await server.get(of("tea/time", "memories?stale=true"))
    assert [one["text"] for one in shown["results"]] == ["It is green."]
    assert (await server.get(of("tea/time", "search?q=xylophone")))["results"] == []


async def test_what_is_not_remembered_is_not_found(server, tmp_path):
    summary, records = await remember(server)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*.jsonl")}
    for below in (f"memories/{summary}?kind=records", f"memories/{records}", "memories/none", "memories/..%2Fx"):
        assert error_of(await server.ask("DELETE", of("tea/time", below))) == (404, "chunk_not_found")
    assert error_of(await server.ask("DELETE", of("none", "memories/x"))) == (404, "discussion_not_found")
    refused = await server.ask("DELETE", of("tea/time", f"memories/{summary}?kind=facts"))
    assert error_of(refused) == (422, "validation_error")
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.jsonl")} == before


async def test_a_chunk_is_forgotten_once(server):
    summary, _ = await remember(server)
    answers = [await server.ask("DELETE", of("tea/time", f"memories/{summary}")) for _ in range(2)]
    assert [answer.status for answer in answers] == [204, 404]


async def test_what_was_forgotten_is_in_no_export_and_stays_forgotten_in_another_place(server):
    summary, records = await remember(server)
    for below in (f"memories/{summary}", f"memories/{records}?kind=records"):
        await server.ask("DELETE", of("tea/time", below))
    copy = await server.get(of("tea/time", "export"))
    assert b"xylophone" not in orjson.dumps(copy)
    await server.post(of("copy", "import"), copy)
    again = await server.get(of("copy", "export"))
    for part in ("chunk_summaries", "record_chunks"):
        assert [one["forgotten"] for one in again[part]] == [one["forgotten"] for one in copy[part]]
        assert again[part][-1]["forgotten"]
    assert again["chunk_summaries"][1]["digests"] == ["b" * 16]


async def test_an_import_takes_no_words_of_what_it_says_was_forgotten(server, tmp_path):
    copy = {
        **COPY,
        "rolling_summary": None,
        **{part: [{**one, "forgotten": True} for one in COPY[part]] for part in ("chunk_summaries", "record_chunks")},
    }
    await server.post(of("copy", "import"), copy)
    assert files_with(tmp_path, "xylophone") == []


@pytest.fixture
def discussions(tmp_path, capsys):
    """`mnemoir discussions` over files of its own, in which one discussion is."""
    place = {"MNEMOIR_STORAGE__DATA_DIR": str(tmp_path / "data"), "MNEMOIR_SERVER__PORT": str(free_port())}
    run = partial(run_here, "discussions", cwd=tmp_path, capsys=capsys, **place)
    file = tmp_path / "copy.json"
    file.write_text(json.dumps(COPY))
    assert run("import", "tea/time", str(file)).returncode == 0
    file.unlink()
    return run


def key_of(discussions):
    return json.loads(discussions("show", "tea/time", "--json").stdout)["latest"][1]["id"]


def test_the_command_asks_first(discussions, tmp_path):
    key = key_of(discussions)
    refused = discussions("forget", "tea/time", key, stdin="n\n")
    assert refused.returncode == 1
    assert f"Forget chunk {key!r}" in refused.stderr
    assert key_of(discussions) == key
    assert discussions("forget", "tea/time", key, stdin="y\n").returncode == 0
    assert files_with(tmp_path, "A xylophone is played.") == []


def test_the_command_forgets_records_too(discussions, tmp_path):
    [found] = json.loads(discussions("search", "tea/time", "xylophone", "--json").stdout)["results"]
    done = discussions("forget", "tea/time", found["chunk"], "--records", "--yes", "--json")
    assert json.loads(done.stdout) == {"forgotten": found["chunk"]}
    assert files_with(tmp_path, "Ann plays the xylophone.") == []


@pytest.mark.parametrize(("key", "code"), [("none", 3), ("", 1), ("..", 1), ("a/b", 3)])
def test_the_command_tells_what_is_not_there(discussions, key, code):
    done = discussions("forget", "tea/time", key, "--yes")
    assert (done.returncode, done.stdout) == (code, "")
