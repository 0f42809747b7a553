"""Where files may not grow (`ulimit -f`), health says so, also of a file that its own small writes do not reach."""

import resource
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
import requests

from tests.serving import ServerProcess

Write = Callable[[ServerProcess, int], requests.Response]
WORDS = "I row on the lake. " * 200


@pytest.fixture
def server(tmp_path):
    with ServerProcess(tmp_path / "data") as running:
        yield running


def limit(server: ServerProcess, most: int) -> None:
    """The most bytes that a file of the server may have from now on."""
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def add_memory(server: ServerProcess, number: int) -> requests.Response:
    said: Any = {"messages": [{"role": "user", "content": f"{number} {WORDS}"}], "user_id": "mira", "infer": False}
    return requests.post(f"{server.url}/api/memories", json=said, timeout=60)


def begin_conversation(server: ServerProcess, number: int) -> requests.Response:
    said: Any = {"id": f"talk-{number}", "user_id": "mira", "messages": [{"role": "user", "content": WORDS * 5}]}
    return requests.post(f"{server.url}/api/conversations", json=said, timeout=60)


def until_refused(server: ServerProcess, write: Write) -> requests.Response:
    return next(answer for number in count() if (answer := write(server, number)).status_code >= 400)


def health(server: ServerProcess) -> list[tuple[int, bool]]:
    """The status of both routes, and whether they name the limit."""
    answers = [requests.get(f"{server.url}{path}", timeout=60) for path in ("/health", "/ready")]
    return [(answer.status_code, "ulimit -f" in answer.text) for answer in answers]


@pytest.mark.costly("it runs programs")
@pytest.mark.parametrize("write", [add_memory, begin_conversation])
@pytest.mark.parametrize("most", [400_000, 700_000])
def test_health_tells_that_a_file_may_not_grow(server, write, most):
    assert health(server) == [(200, False)] * 2
    limit(server, most)
    refused = until_refused(server, write)
    assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
    assert f"{most:,} bytes at most (ulimit -f)" in refused.json()["detail"]
    for _ in range(3):
        assert health(server) == [(503, True)] * 2
        time.sleep(0.01)
    limit(server, resource.RLIM_INFINITY)
    assert health(server) == [(200, False)] * 2
    assert write(server, 9999).status_code < 300


@pytest.mark.costly("it runs programs")
@pytest.mark.parametrize("most", [16_000, 600, 0])
def test_where_nothing_can_be_written_health_is_no_internal_error(server, most):
    limit(server, most)
    until_refused(server, add_memory)
    assert health(server) == [(503, True)] * 2
    chat: Any = {"model": "mnemoir", "messages": [{"role": "user", "content": WORDS}], "conversation_id": "tea"}
    assert requests.post(f"{server.url}/v1/chat/completions", json=chat, timeout=60).status_code == 200
    assert "status=500" not in server.log.read_text()


@pytest.mark.slow  # a server that no other one is forked from, which imports all of it
def test_byte_code_of_what_is_imported_late_is_never_cut(tmp_path):
    cache = tmp_path / "byte code"
    started = {"PYTHONPYCACHEPREFIX": str(cache), "PYTHONDONTWRITEBYTECODE": ""}
    with ServerProcess(tmp_path / "data", environment=started, forked=False) as running:
        written = set(cache.rglob("*.pyc"))
        limit(running, 600)
        assert health(running)[1] == (503, True)  # the first request that needs the REST application
        assert written
        assert set(cache.rglob("*.pyc")) == written
