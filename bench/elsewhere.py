"""The time of the answer to an id that lies elsewhere, beside that to one that is nowhere.

Both are asked in turn of one server in this process, which of them first by the toss of a coin, and compared by their
medians. The interval holds 95 of 100 ratios of medians of as many samples drawn anew.
"""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path

from bench.report import table
from mnemoir.app.parts import Parts, open_parts
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import load_settings
from tests.server.server_kit import Server

PAIRS = 400
DRAWS = 500
_SAID = {"messages": [{"role": "user", "content": "Plays the cello"}], "user_id": "mira"}
_NOBODYS = {
    "talk": "klat",
    "key": "00000000",
    "run": "run_" + "0" * 16,
    "job": "job_" + "0" * 32,
    "memory": "mem_" + "0" * 32,
    "change": "chg_" + "0" * 32,
}
ROUTES = (
    ("memory", "GET", "/api/memories/{memory}/history"),
    ("memory, deleted", "DELETE", "/api/memories/{memory}"),
    ("conversation", "GET", "/api/conversations/{talk}"),
    ("its messages", "GET", "/api/conversations/{talk}/messages"),
    ("run", "GET", "/api/runs/{run}"),
    ("job", "GET", "/api/events/{job}"),
    ("file of a message", "GET", "/api/conversations/talk/attachments/{file}"),
    ("change, undone", "POST", "/api/memories/changes/{change}/undo"),
    ("key", "POST", "/api/keys/{key}/rotate"),
)


async def filled(server: Server, admin: Mapping[str, str]) -> dict[str, str]:
    """The ids of one of each, all of Mira's."""
    added = await server.post("/api/memories", _SAID | {"infer": False}, **admin)
    job = await server.post("/api/memories", _SAID | {"infer": False, "async_mode": True}, **admin)
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    talk = {"user": "mira", "conversation_id": "talk", "model": "mnemoir"}
    content = [{"type": "text", "text": "Look at this"}, picture]
    answer = await server.ask(
        "POST", "/v1/chat/completions", talk | {"messages": [{"role": "user", "content": content}]}, **admin
    )
    files = (await server.get("/api/files?user_id=mira", **admin))["attachments"]
    changes = (await server.get("/api/memories/changes?user_id=mira", **admin))["results"]
    return {
        "change": changes[-1]["id"],
        "memory": added["results"][0]["id"],
        "job": job["event_id"],
        "talk": "talk",
        "run": answer.headers["x-workflow-run-id"],
        "file": files[0]["name"],
        "key": admin["x_api_key"].split("_")[2],
    }


async def took(server: Server, method: str, path: str, key: str) -> float:
    """Seconds of one answer, which must be a refusal."""
    began = time.perf_counter()
    answer = await server.ask(method, path, {} if method == "POST" else None, x_api_key=key)
    seconds = time.perf_counter() - began
    assert answer.status == 404, (method, path, answer.status, answer.body)
    return seconds


def nowhere(name: str, id: str) -> str:
    """An id of the same form that nothing has."""
    if name in _NOBODYS:
        return _NOBODYS[name]
    stem, dot, ending = id.partition(".")
    return "0" * len(stem) + dot + ending


def interval(elsewhere: list[float], none: list[float]) -> tuple[float, float]:
    """The bounds of the middle 95 of 100 ratios of medians, drawn with the seed 1."""
    dice = random.Random(1)

    def drawn(samples: list[float]) -> float:
        return statistics.median(dice.choices(samples, k=len(samples)))

    ratios = sorted(drawn(elsewhere) / drawn(none) for _ in range(DRAWS))
    return ratios[DRAWS // 40], ratios[-DRAWS // 40 - 1]


async def compared(parts: Parts) -> list[tuple[str, ...]]:
    """A row for each route, asked by another user's key, and by one of another tenant for keys."""
    make = parts.access.api_keys.create
    admin = {"x_api_key": make(role="admin", by="bench")[1]}
    noa = make(role="admin", user="noa", by="bench")[1]
    acme = make(role="admin", tenant="acme", by="bench")[1]
    server = Server(app=create_app(parts, ServerOptions()), parts=parts)
    hers, dice = await filled(server, admin), random.Random(1)
    rows: list[tuple[str, ...]] = []
    for label, method, path in ROUTES:
        name = path.partition("{")[2].partition("}")[0]
        asker = acme if name == "key" else noa
        samples: tuple[list[float], list[float]] = ([], [])
        for pair in range(PAIRS + 20):
            ids = (hers[name], nowhere(name, hers[name]))
            for which in dice.sample((0, 1), 2):
                seconds = await took(server, method, path.replace(f"{{{name}}}", ids[which]), asker)
                if pair >= 20:  # those before warm up
                    samples[which].append(seconds)
        there, none = map(statistics.median, samples)
        low, high = interval(*samples)
        ratio = f"{there / none:.3f}"
        rows.append((label, f"{there * 1e6:.0f} µs", f"{none * 1e6:.0f} µs", ratio, f"{low:.3f} to {high:.3f}"))
    return rows


async def measure(folder: Path) -> None:
    """Print the table."""
    settings = {"storage.data_dir": str(folder), "llm.provider": "offline", "log.level": "error"}
    parts = await open_parts(load_settings(None, settings, environ={}))
    async with aclosing(parts):
        await parts.start()
        rows = await compared(parts)
    header = ("an id of", "elsewhere", "nowhere", "ratio", "95 of 100")
    table(f"answers to foreign and unknown ids, medians of {PAIRS} each, in turn", header, rows)


def run() -> None:
    """Run the whole benchmark."""
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(measure(Path(name)))


if __name__ == "__main__":
    run()
