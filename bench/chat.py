"""Costs of a chat through Mnemoir without memory, compared with a bare pass-through and a direct call.

At least three processes run: the upstream, the pass-through, the servers. CPU is a process's own user and system time
over all requests of a round; the servers' rounds alternate, so that all see the same load of the machine.
"""

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from bench import figures
from bench.report import median, ms, table
from bench.traffic import body, cpu, first_token, new_session, process, send_all, until_idle, until_listening
from tests.serving import ServerProcess, free_port

ROUNDS = 7
AT_ONCE = 16
FIRST_TOKEN_CALLS = 100
LONG_HISTORY = 170  # messages, which are 33 kB
PLAIN = "pass-through"
DIRECT = "direct"


@dataclass(frozen=True, slots=True)
class ChatServer:
    """A server that answers chats: its URL and its process."""

    url: str
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of requests: how many make a round, and the greatest ratio of their CPU to the pass-through's."""

    bodies: Callable[[str], Iterator[bytes]]  # by the name of the model
    requests: int
    most: float


def _equal(*, stream: bool = False, history: int = 3) -> Callable[[str], Iterator[bytes]]:
    def bodies(model: str) -> Iterator[bytes]:
        sent = body(stream=stream, model=model, history=history)
        while True:
            yield sent

    return bodies


_chats = count()


def _kept(model: str) -> Iterator[bytes]:
    for number in _chats:
        more = {"memoryEnabled": True, "user": f"user-{number % 8}", "conversation_id": f"talk-{number}"}
        yield body(stream=False, model=model, history=1, **more)


KINDS = {
    "JSON": Kind(bodies=_equal(), requests=400, most=2.8),
    "stream of 33 events": Kind(bodies=_equal(stream=True), requests=150, most=2.1),
    "history of 33 kB": Kind(bodies=_equal(history=LONG_HISTORY), requests=200, most=5.0),
}
THROUGH_A_NODE = {
    name: replace(kind, most=most) for (name, kind), most in zip(KINDS.items(), (4.0, 3.0, 7.0), strict=True)
}
KEPT = "kept, with memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Seconds by server: CPU per request of each kind, one figure per round, and to the first token, one per call."""

    kinds: Mapping[str, Mapping[str, list[float]]]
    first_token: Mapping[str, list[float]] = field(default_factory=dict)


async def measure(
    servers: Mapping[str, ChatServer],
    direct: str,
    model: str = "mnemoir",
    kinds: Mapping[str, Kind] = KINDS,
) -> Costs:
    """Run all rounds, in each of them every kind on every server in turn. One of the servers is the baseline."""
    used = {kind: {name: list[float]() for name in servers} for kind in kinds}
    tokens = {name: list[float]() for name in (DIRECT, *servers)}
    async with new_session() as session:
        for number in range(ROUNDS + 1):
            for name, kind in kinds.items():
                for place, server in servers.items():
                    before, bodies = cpu(server.pid), kind.bodies(model)
                    sent = [next(bodies) for _ in range(kind.requests)]
                    await send_all(session, server.url, sent, at_once=AT_ONCE)
                    if name == KEPT:
                        await until_idle(server.pid)
                    if number:  # the first round warms up
                        used[name][place].append((cpu(server.pid) - before) / kind.requests)
        for _ in range(FIRST_TOKEN_CALLS):
            for name, url in ((DIRECT, direct), *((name, server.url) for name, server in servers.items())):
                tokens[name].append(await first_token(session, url, model))
    return Costs(kinds=used, first_token=tokens)


def ratio(ours: Sequence[float], plain: Sequence[float]) -> float:
    """The median ratio of ours to the baseline, round by round."""
    return median([mine / theirs for mine, theirs in zip(ours, plain, strict=True)])


def print_tables(costs: Costs, title: str, kinds: Mapping[str, Kind] = KINDS) -> None:
    """Print CPU per request and time to first token, with ratios to the pass-through and the direct call."""
    rows = []
    for label, used in costs.kinds.items():
        for name in (name for name in used if name != PLAIN):
            found = figures.keep(f"{title}: {label}, {name}", ratio(used[name], used[PLAIN]))
            most = f"{kinds[label].most:.2f}"
            rows.append([f"{label}, {name}", ms(median(used[PLAIN])), ms(median(used[name])), f"{found:.2f}", most])
    table(f"CPU a chat request, {title} (medians of rounds)", ["", PLAIN, "ours", "ratio", "at most"], rows)
    direct = median(costs.first_token[DIRECT])
    rows = [
        [name, ms(median(took)), ms(median(took) - direct), "" if name in (PLAIN, DIRECT) else "2.50 ms"]
        for name, took in costs.first_token.items()
    ]
    table("time to first token (median)", ["", "time", "added to direct", "at most"], rows)


def run() -> None:
    """Run the whole benchmark; the commit before, where there is one, answers beside this one."""
    upstream, passing = free_port(), free_port()
    direct = f"http://127.0.0.1:{upstream}"
    settings = {
        "MEMORY_LLM_PROVIDER": "openai-chat",
        "OPENAI_API_KEY": "bench",
        "OPENAI_BASE_URL": f"{direct}/v1",
        "MNEMOIR_LOG__LEVEL": "warning",
    }
    kinds = {**KINDS, KEPT: Kind(bodies=_kept, requests=100, most=75.0)}
    with ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        running.enter_context(process("bench.upstream", str(upstream)))
        plain = running.enter_context(process("bench.passthrough", str(passing), direct))
        for port in (upstream, passing):
            asyncio.run(until_listening(port))
        servers = {PLAIN: ChatServer(f"http://127.0.0.1:{passing}", plain.pid)}
        wanted = {"mnemoir": settings, "mnemoir without run traces": {**settings, "MNEMOIR_RUNS__ENABLED": "false"}}
        if figures.beside is not None:
            wanted["the commit before"] = {**settings, "PYTHONPATH": str(figures.beside / "src")}
        for number, (name, environment) in enumerate(wanted.items()):
            server = running.enter_context(ServerProcess(folder / str(number), environment=environment))
            servers[name] = ChatServer(server.url, server.pid)
        print_tables(asyncio.run(measure(servers, direct, kinds=kinds)), "no config tree", kinds)
