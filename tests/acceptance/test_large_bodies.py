"""64 MiB sent to a real server, told beforehand or in pieces: refused at the limit, its memory hardly moved."""

import contextlib
import socket
from pathlib import Path

import pytest
import requests

from tests.serving import ServerProcess

MIB = 1024 * 1024
PIECE = b"x" * 65_536
PATHS = ["/v1/chat/completions", "/api/chat", "/api/memories", "/api/memories/search"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with ServerProcess(
        tmp_path_factory.mktemp("large") / "data", environment={"MNEMOIR_SERVER__DEBUG_PROCESS": "true"}
    ) as running:
        for query in ("warm", "up"):
            body = {"query": query, "user_id": "mira"}
            requests.post(f"{running.url}/api/memories/search", json=body, timeout=60).raise_for_status()
        yield running


def peak_after(server: ServerProcess, path: str, headers: bytes, piece: bytes, count: int) -> tuple[bytes, int]:
    """The first line of the answer, and by how many bytes the most memory the process had exceeds what it had."""
    process = Path(f"/proc/{server.pid}")
    (process / "clear_refs").write_text("5")  # the peak is counted anew from here
    before = resident(process, "VmRSS")
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        client.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\n".encode() + headers + b"\r\n\r\n")
        with contextlib.suppress(ConnectionError):  # the server may close as soon as it knows enough
            for _ in range(count):
                client.sendall(piece)
        answer = b""
        with contextlib.suppress(ConnectionError):
            answer = client.recv(4096)
    return answer.split(b"\r\n")[0], resident(process, "VmHWM") - before


def resident(process: Path, line: str) -> int:
    status = dict(part.split(":", 1) for part in (process / "status").read_text().splitlines())
    return int(status[line].split()[0]) * 1024


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the kernel tells no peak of a process")
@pytest.mark.parametrize("path", PATHS)
def test_a_body_whose_length_is_told_is_refused_unread(server, path):
    answer, grown = peak_after(server, path, b"Content-Length: 67108864", PIECE, 1024)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert grown <= 8 * MIB


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the kernel tells no peak of a process")
@pytest.mark.parametrize("path", PATHS)
def test_a_body_in_pieces_is_read_up_to_the_limit_and_no_further(server, path):
    piece = b"10000\r\n" + PIECE + b"\r\n"
    answer, grown = peak_after(server, path, b"Transfer-Encoding: chunked", piece, 1024)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert grown <= (10 + 8) * MIB
