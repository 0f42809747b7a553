"""Compressed bodies within the limit, other encodings by name, and answers without frames to HTTP/1.0."""

import gzip
import random
import zlib
from collections.abc import Callable
from contextlib import suppress

import orjson
import pytest

from mnemoir.core.errors import InvalidRequest
from mnemoir.server.door.encodings import TooMuch, decode_body, encodings_of
from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import asks, error_of, hello, succeeded
from tests.server.test_connections import CHAT, connected

SAID = {"messages": [{"role": "user", "content": "Likes tea"}], "user_id": "mira", "infer": False}
MEMORIES = "/api/memories"
MOST = 1024 * 1024


def raw_deflate(body: bytes) -> bytes:
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return squeezed.compress(body) + squeezed.flush()


# what a Content-Encoding may say, and how the body is made so
WAYS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "GZip": gzip.compress,
    "deflate": zlib.compress,
    " deflate ": raw_deflate,
    "identity": bytes,
    "": bytes,
    "identity, gzip": gzip.compress,
    "deflate, gzip": lambda body: gzip.compress(zlib.compress(body)),
}


@pytest.mark.parametrize("way", list(WAYS))
async def test_a_body_is_read_however_it_is_packed(server, way):
    added = succeeded(await server.ask("POST", MEMORIES, WAYS[way](orjson.dumps(SAID)), content_encoding=way))
    assert added["message"] == "Added 1 memories successfully"


async def test_chats_and_imports_are_read_packed_too(open_server):
    async with ScriptedLLM() as llm:
        server = await open_server(asks(llm))
        llm.reply("Hello.")
        chat = await server.ask("POST", CHAT, gzip.compress(orjson.dumps(hello())), content_encoding="gzip")
        assert succeeded(chat)["choices"][0]["message"]["content"] == "Hello."
    line = b'{"memory": "Likes tea", "user_id": "mira", "created_at": "2026-01-01"}\n'
    packed = gzip.compress(line) + gzip.compress(line.replace(b"tea", b"cocoa"))  # as `cat a.gz b.gz` has it
    assert succeeded(await server.ask("POST", "/api/import", packed, content_encoding="gzip"))["imported"] == 2


@pytest.mark.parametrize("target", [CHAT, MEMORIES, "/api/generate"])
@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "gzip, br", "gzip, gzip, gzip", "x" * 500, "*"])
async def test_another_encoding_is_refused_by_its_name(server, target, encoding):
    answer = await server.ask("POST", target, gzip.compress(orjson.dumps(SAID)), content_encoding=encoding)
    assert error_of(answer) == (415, "unsupported_encoding")
    named = "3 times" if encoding.startswith("gzip, gzip") else encoding.rpartition(" ")[2][:40]
    assert named.encode() in answer.body
    assert (await server.get(f"{MEMORIES}/mira"))["total"] == 0


BROKEN = {
    "no gzip": ("gzip", orjson.dumps(SAID)),
    "cut off": ("gzip", gzip.compress(orjson.dumps(SAID))[:-9]),
    "cut within": ("deflate", zlib.compress(orjson.dumps(SAID))[:-5]),
    "wrong sum": ("gzip", gzip.compress(orjson.dumps(SAID))[:-8] + b"\0" * 8),
    "something behind": ("deflate", zlib.compress(orjson.dumps(SAID)) + b"x"),
}


@pytest.mark.parametrize("name", list(BROKEN))
async def test_a_body_that_is_not_what_it_says_is_refused(server, name):
    encoding, body = BROKEN[name]
    answer = await server.ask("POST", MEMORIES, body, content_encoding=encoding)
    assert error_of(answer) == (400, "invalid_encoding")


@pytest.mark.parametrize("bomb", ["gzip", "deflate", "twice", "members"])
def test_a_bomb_is_given_up_at_the_limit(bomb):
    zeros = b"\0" * (MOST + 1)
    packed, encodings = {
        "gzip": (gzip.compress(zeros), ["gzip"]),
        "deflate": (zlib.compress(zeros), ["deflate"]),
        "twice": (gzip.compress(gzip.compress(zeros)), ["gzip", "gzip"]),
        "members": (gzip.compress(zeros[: MOST // 2 + 1]) * 2, ["gzip"]),
    }[bomb]
    with pytest.raises(TooMuch):
        decode_body(packed, encodings, MOST)
    assert decode_body(gzip.compress(zeros[:MOST]), ["gzip"], MOST) == zeros[:MOST]


async def test_a_bomb_is_too_large_to_the_client(open_server):
    server = await open_server(max_body_bytes=100_000)
    packed = gzip.compress(b" " * 200_000 + orjson.dumps(SAID))
    assert len(packed) < 1000
    for target in (MEMORIES, CHAT):
        answer = await server.ask("POST", target, packed, content_encoding="gzip")
        assert error_of(answer) == (413, "payload_too_large")


def test_any_bytes_are_read_or_refused():
    known = random.Random(26)
    for _ in range(300):
        body = known.randbytes(known.randrange(64))
        packed = [gzip.compress(body), zlib.compress(body), raw_deflate(body), body][known.randrange(4)]
        packed = packed[: known.randrange(len(packed) + 1)] if known.random() < 0.5 else packed
        with suppress(InvalidRequest, TooMuch):  # and nothing else
            assert len(decode_body(packed, [("gzip", "deflate")[known.randrange(2)]], 64)) <= 64


def test_all_headers_of_one_name_count():
    told = [(b"content-encoding", b"deflate"), (b"accept-encoding", b"br"), (b"content-encoding", b"gzip")]
    assert encodings_of({"headers": told}) == ["gzip", "deflate"]


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_to_http_1_0_comes_without_frames_and_ends_with_the_connection(listen, stream):
    async with ScriptedLLM() as llm:
        server = await listen(asks(llm))
        llm.reply("Hello.")
        body = orjson.dumps(hello(stream=stream))
        async with connected(server.url) as (reader, writer):
            head = f"POST {CHAT} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            told, _, answer = (await reader.read()).partition(b"\r\n\r\n")
    assert (told[:12], b"connection: close" in told.lower()) == (b"HTTP/1.1 200", True)
    assert b"transfer-encoding" not in told.lower()
    assert answer.endswith(b"data: [DONE]\n\n") if stream else orjson.loads(answer)["choices"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "OPTIONS"])
async def test_other_requests_of_http_1_0_are_answered_whole(listen, method):
    server = await listen()
    for target in ("/health", "/api/export", "/api/memories?user_id=mira", "/nowhere"):
        async with connected(server.url) as (reader, writer):
            writer.write(f"{method} {target} HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n".encode())
            told, _, answer = (await reader.read()).partition(b"\r\n\r\n")
        assert b"transfer-encoding" not in told.lower()
        assert method != "HEAD" or not answer
