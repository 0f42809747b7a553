"""A disk that fails under a server: an error the client can read, the old memories whole, the next request served."""

import apsw
import orjson
import pytest

from mnemoir.server import ServerOptions, create_app
from tests.failing_calls import failing_calls
from tests.scripted_llm import Answer
from tests.server.server_kit import Server, asks, error_of, hello
from tests.storage.sqlite.faulty_disk import Disk, faulty_disk

MEMORIES = "/api/memories"
SETTINGS = f"{MEMORIES}/settings"
LOG = "mnemoir.db-wal"


@pytest.fixture
def disk():
    with faulty_disk() as disk:
        yield disk


@pytest.fixture
async def server(disk: Disk, open_server, llm):
    """A server over that disk; nothing of its own writes in the background here."""
    return await open_server(asks(llm) | {"embedding.provider": "openai"})


def said(*texts: str) -> dict:
    return {"messages": [{"role": "user", "content": text} for text in texts], "user_id": "mira", "infer": False}


async def stored(server: Server) -> list[str]:
    return sorted(memory["memory"] for memory in (await server.get(f"{MEMORIES}/mira"))["results"])


async def save(server: Server):
    return await server.ask("POST", MEMORIES, said("New"))


async def delete_one(server: Server):
    (old,) = [m for m in (await server.get(f"{MEMORIES}/mira"))["results"] if m["memory"] == "Old"]
    return await server.ask("DELETE", f"{MEMORIES}/{old['id']}")


async def delete_all(server: Server):
    return await server.ask("DELETE", f"{MEMORIES}?user_id=mira")


async def edit_settings(server: Server):
    return await server.ask("PUT", SETTINGS, {"searchLimit": 7})


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError])
@pytest.mark.parametrize("change", [save, delete_one, delete_all, edit_settings])
@failing_calls
async def test_a_change_that_fails_at_any_write_or_sync_is_told_changes_nothing_and_can_be_repeated(
    disk, server, change, error, failing
):
    await server.post(MEMORIES, said("Old", "Older"))
    with disk.noting() as calls:
        await change(server)
    await delete_all(server)
    await server.ask("PUT", SETTINGS, {"searchLimit": 9})
    await server.post(MEMORIES, said("Old", "Older"))
    for attempt in failing(disk, calls, error):
        before, limit = await stored(server), (await server.get(SETTINGS))["searchLimit"]
        with attempt:
            answer = await change(server)
        if not attempt.struck:
            continue
        assert error_of(answer) == (503, "storage_unavailable")
        assert b"Traceback" not in answer.body
        # all was deleted, and then the log could not be emptied: the next time finishes it
        may_be = [before, []] if change is delete_all else [before]
        assert await stored(server) in may_be
        assert (await server.get(SETTINGS))["searchLimit"] == limit
    assert answer.status == 200
    assert await server.parts.memory.database.check_integrity() == []
    await server.post(MEMORIES, said("Next"))
    assert "Next" in await stored(server)


@pytest.mark.parametrize("stream", [True, False])
async def test_a_full_disk_takes_no_answer_from_a_chat_that_would_be_remembered(disk, server, llm, stream):
    llm.queue(Answer(text="Good morning."))
    disk.arm(1, apsw.FullError)
    answer = await server.ask("POST", "/v1/chat/completions", hello(stream=stream, memoryEnabled=True))
    disk.disarm()
    assert answer.status == 200
    assert b"morning." in answer.body


async def test_a_save_is_answered_only_when_it_is_on_the_disk(disk, server):
    """What is written and synced, and the first byte of the answer, in the order they happened."""
    app = create_app(server.parts, ServerOptions())

    async def noting(scope, receive, send) -> None:
        async def sent(message) -> None:
            disk.calls.append(message["type"])
            await send(message)

        await app(scope, receive, sent)

    for n in range(5):
        disk.arm(0, apsw.IOError)
        answer = await Server(app=noting, parts=server.parts).ask("POST", MEMORIES, said(f"Said {n}"))
        assert len(orjson.loads(answer.body)["results"]) == 1
        before = disk.calls[: disk.calls.index("http.response.start")]
        assert f"write {LOG}" in before
        assert before[-1] == f"sync {LOG}"
