"""A model server with minimal costs, which answers every chat with the same bytes.

`python -m bench.upstream PORT`. A streamed answer has 33 events, written one by one; below `/slow` they are 20 ms
apart, like a model's. Below `/waiting` a whole answer comes after 100 ms. Memory learns nothing from it.
"""

import asyncio
import sys
from functools import partial

import orjson
from aiohttp import web

PIECES = 31  # of words; an event before them gives the role, one behind them the reason of the end
PIECE_S = 0.02
WAIT_S = 0.1
_USAGE = {"prompt_tokens": 10, "completion_tokens": PIECES, "total_tokens": PIECES + 10}
_EXTRACTION = b"memory_facts"  # in a request that asks what is to be remembered


def _whole(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return orjson.dumps(
        {
            "id": "chatcmpl-bench",
            "object": "chat.completion",
            "created": 0,
            "model": "bench",
            "choices": [choice],
            "usage": _USAGE,
        }
    )


_WHOLE, _NOTHING = _whole("word " * PIECES), _whole('{"facts": []}')


def _chunk(delta: dict[str, str], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    body = {
        "id": "chatcmpl-bench",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "bench",
        "choices": [choice],
    }
    return b"data: " + orjson.dumps(body) + b"\n\n"


_STREAM = [_chunk({"role": "assistant", "content": ""}), *[_chunk({"content": "word "})] * PIECES, _chunk({}, "stop")]


async def chat(request: web.Request, *, piece_s: float) -> web.StreamResponse:
    """The fixed answer, whole or streamed as requested."""
    asked = await request.read()
    if not orjson.loads(asked).get("stream"):
        return web.Response(body=_NOTHING if _EXTRACTION in asked else _WHOLE, content_type="application/json")
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for piece in _STREAM:
        await response.write(piece)
        await asyncio.sleep(piece_s)  # even 0 makes the server send each piece separately
    await response.write(b"data: [DONE]\n\n")
    return response


async def waiting(request: web.Request) -> web.StreamResponse:
    """The fixed answer, whole, after 100 ms."""
    await request.read()
    await asyncio.sleep(WAIT_S)
    return web.Response(body=_WHOLE, content_type="application/json")


def main() -> None:
    """Serve until the process is ended."""
    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", partial(chat, piece_s=0))
    app.router.add_post("/slow/v1/chat/completions", partial(chat, piece_s=PIECE_S))
    app.router.add_post("/waiting/v1/chat/completions", waiting)
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=lambda *_: None)


if __name__ == "__main__":
    main()
