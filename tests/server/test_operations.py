"""Health, figures, documentation, and the ways in and out for whole memories."""

import errno
import os
import resource

import orjson
import pytest

from mnemoir import __version__
from mnemoir.core.errors import StorageDamaged, StorageUnavailable
from mnemoir.server.door.errors import outward
from tests.server.served_tree import served
from tests.server.server_kit import asks, error_of, hello

MEMORIES = "/api/memories"


HEALTHY = {"status": "ok", "version": __version__, "storage": "ok", "llm": "missing"}


@pytest.mark.parametrize("path", ["/health", "/api/health", "/health/"])
async def test_health_tells_what_works(server, path):
    assert await server.get(path) == HEALTHY


async def test_ready_tells_how_many_texts_wait_for_a_vector(server):
    said = {"messages": [{"role": "user", "content": "Rows"}], "user_id": "mira", "infer": False}
    await server.post(MEMORIES, said)
    vectors = {"model": server.parts.models.embedding.name, "pending": 0, "of": 1}
    assert await server.get("/ready") == {**HEALTHY, "vectors": vectors}


async def test_health_knows_a_connected_model(open_server, llm):
    server = await open_server(asks(llm))
    assert (await server.get("/health"))["llm"] == "configured"


async def test_health_knows_the_models_of_a_config_tree(open_server, llm, tmp_path):
    server = await open_server(served(tmp_path, llm.url))
    assert (await server.get("/health"))["llm"] == "configured"


async def test_health_fails_when_the_storage_does(server):
    await server.parts.memory.store.aclose()
    await server.parts.memory.database.aclose()
    assert error_of(await server.ask("GET", "/health")) == (503, "storage_unavailable")
    assert error_of(await server.ask("GET", f"{MEMORIES}/mira")) == (503, "storage_unavailable")


async def test_health_shows_a_disk_that_refuses_a_write_and_writes_once_a_second_at_most(server, monkeypatch):
    synced: list[int] = []

    def full(file: int) -> None:
        synced.append(file)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        refused = await server.ask("GET", "/health")
        assert error_of(refused) == (503, "storage_unavailable")
        assert "could not be written: No space left" in orjson.loads(refused.body)["error"]
        patch.setattr(os, "fsync", synced.append)
        synced.clear()
        for _ in range(20):
            assert (await server.ask("GET", "/health")).status == 200
    assert len(synced) < 20


async def test_health_shows_a_database_that_may_not_grow(server):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    said = {"messages": [{"role": "user", "content": "Rows"}], "user_id": "mira", "infer": False}
    await server.post(MEMORIES, said)
    log = server.parts.settings.storage.data_dir / "mnemoir.db-wal"
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, hard))
    try:
        saving = await server.ask("POST", MEMORIES, said | {"user_id": "otto"})
        health = [await server.ask("GET", path) for path in ("/health", "/ready")]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [error_of(answer) for answer in (saving, *health)] == [(503, "storage_unavailable")] * 3
    assert (await server.ask("GET", "/health")).status == 200


async def test_health_tells_that_the_file_of_keys_is_gone(open_server, tmp_path):
    server = await open_server()
    key = server.parts.access.api_keys.create(role="admin", by="test")[1]
    file = tmp_path / "data" / "access.db"
    file.rename(tmp_path / "beside.db")
    with pytest.raises(StorageDamaged):
        server.parts.access.file.look(now=True)  # as the next second does
    told = await server.ask("GET", "/health")
    assert (error_of(told), b"access.db is missing" in told.body) == ((503, "storage_damaged"), True)
    (tmp_path / "beside.db").rename(file)
    assert (await server.ask("GET", "/health")).status == 200
    assert (await server.ask("GET", "/ready", x_api_key=key)).status == 200


async def test_it_is_not_ready_while_the_disk_refuses_a_write(server, monkeypatch):
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = server.parts.settings.storage.data_dir
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        refused = await server.ask("GET", "/ready")
    assert error_of(refused) == (503, "storage_unavailable")
    assert orjson.loads(refused.body)["error"].startswith(f"{folder.name} could not be written: No space left")
    assert (await server.get("/ready"))["status"] == "ok"
    assert not [file for file in folder.iterdir() if "ready" in file.name]


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("/home/mira/data/mnemoir.db is damaged (page 3)", "mnemoir.db is damaged (page 3)"),
        ("'/home/mira/my data/x.db' could not be read", "'my data/x.db' could not be read"),
        ("[Errno 28] No space left on device: '/data'", "[Errno 28] No space left on device: 'data'"),
        (r"C:\Users\mira\data\x.db is locked", "x.db is locked"),
        ("tea/mira/x.db is damaged and/or gone; see https://example.org/a/b", None),
    ],
)
async def test_no_error_of_the_storage_tells_where_its_files_lie(told, shown):
    assert outward(StorageUnavailable(told)).message == (shown or told)


async def test_metrics_are_off_until_switched_on(open_server, server):
    assert error_of(await server.ask("GET", "/metrics"))[0] == 404


async def test_metrics_count_requests_and_tokens_and_name_nobody(open_server, llm):
    server = await open_server(asks(llm), metrics=True)
    llm.reply("Good morning.", usage=(7, 5))
    await server.post("/v1/chat/completions", hello(user="canary"))
    await server.get(f"{MEMORIES}/canary?project=canary")
    text = (await server.ask("GET", "/metrics")).body.decode()
    assert 'mnemoir_requests_total{method="POST",route="/v1/chat/completions",status="200"} 1.0' in text
    assert 'route="/api/memories/{user_id:path}"' in text
    assert 'mnemoir_model_tokens_total{kind="input",use="chat"} 7.0' in text
    assert "mnemoir_active_chats 0.0" in text
    assert "canary" not in text


async def test_the_openapi_description_holds_together(server):
    schema = await server.get("/openapi.json")
    assert schema["openapi"].startswith("3.")
    references = orjson.dumps(schema).decode().split('"$ref":"#/components/schemas/')[1:]
    assert {reference.partition('"')[0] for reference in references} <= schema["components"]["schemas"].keys()
    assert {"get", "post", "delete"} == schema["paths"]["/api/memories"].keys()


async def test_no_route_tells_a_secret(open_server, llm):
    server = await open_server(asks(llm), api_keys=["server-canary-of-sixteen"])
    held = {"authorization": "Bearer server-canary-of-sixteen"}
    for path in ("/health", "/docs", "/openapi.json", "/api/tags", "/v1/models", f"{MEMORIES}/settings", "/config"):
        answer = await server.ask("GET", path, **held)
        assert b"canary" not in answer.body + str(answer.headers).encode()


async def test_below_a_prefix_everything_is_the_same(open_server):
    server = await open_server(root_path="/memory")
    for target in ("/memory/health", "/memory/health/", "//memory//health", "/health"):
        assert (await server.ask("GET", target)).status == 200
    assert (await server.ask("GET", "/memoryhealth")).status == 404


@pytest.mark.parametrize("target", ["/no/such/route", "/v1/nope", "/api", "/api/memoriesx", "/%00", "/..%2f..%2fetc"])
async def test_an_unknown_route_is_a_json_404(server, target):
    assert error_of(await server.ask("GET", target)) == (404, "not_found")


async def test_ollama_finds_what_it_expects_at_the_root(server):
    assert (await server.ask("GET", "/")).body == b"Mnemoir is running"
    assert (await server.get("/api/version")) == {"version": "0.12.0"}
    for model in (await server.get("/api/tags"))["models"]:
        assert model["name"] == model["model"]
    shown = await server.post("/api/show", {"name": "mnemoir"})
    assert all(value is not None for value in shown["model_info"].values())
    assert error_of(await server.ask("POST", "/api/show", {"model": "nope"})) == (404, "model_not_found")


async def test_what_is_exported_comes_back_as_it_was(open_server, server):
    said = {"messages": [{"role": "user", "content": "Rows daily", "name": "Mira"}], "infer": False}
    await server.post(
        MEMORIES, said | {"user_id": "mira", "metadata": {"a": 1}, "timestamp": "2024-01-01", "run_id": "r"}
    )
    await server.post(MEMORIES, said | {"user_id": "otto", "expiration_date": "2024-01-02"})
    out = (await server.ask("GET", "/api/export")).body
    assert len(out.splitlines()) == 2
    assert orjson.loads(out.splitlines()[0])["history"][0]["event"] == "ADD"
    imported = await server.post("/api/import?project=copy", out)
    assert (imported["imported"], imported["skipped"]) == (2, 0)
    copied = [orjson.loads(line) for line in (await server.ask("GET", "/api/export?project=copy")).body.splitlines()]
    kept = ("memory", "user_id", "created_at", "updated_at", "metadata", "run_id", "name", "expiration_date", "role")
    assert [[line.get(name) for name in kept] for line in copied] == [
        [orjson.loads(line).get(name) for name in kept] for line in out.splitlines()
    ]
    again = await server.post("/api/import?project=copy", out)
    assert (again["imported"], again["skipped"]) == (0, 2)


async def test_an_export_of_one_user_holds_only_that_user(server):
    for user in ("mira", "otto"):
        said = {"messages": [{"role": "user", "content": "x"}], "user_id": user, "infer": False}
        await server.post(MEMORIES, said)
    lines = (await server.ask("GET", "/api/export?user_id=otto")).body.splitlines()
    assert [orjson.loads(line)["user_id"] for line in lines] == ["otto"]


GOOD = b'{"memory": "x", "user_id": "mira", "created_at": "2024-01-01"}'


@pytest.mark.parametrize(
    ("bad", "status"),
    [
        (b"{", 400),
        (b"[]", 422),
        (b"{}", 422),
        (GOOD.replace(b"2024", b"never"), 422),
        (GOOD[:-1] + b', "id": "a"}\n' + GOOD[:-1] + b', "id": "a"}', 422),
    ],
)
async def test_one_bad_line_imports_nothing(server, bad, status):
    answer = await server.ask("POST", "/api/import", GOOD + b"\n" + bad)
    assert error_of(answer)[0] == status
    assert (await server.get(f"{MEMORIES}/mira"))["results"] == []
