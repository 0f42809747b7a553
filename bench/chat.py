"""Costs of a chat through Mnemoir without memory, compared with a bare pass-through and a direct call.

At least three processes run: the upstream, the pass-through, the servers. CPU is a process's own user and system time
over all requests of a round; the servers' rounds alternate, so that all see the same load of the machine.
"""

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.report import median, ms, table
from bench.traffic import cpu, first_token, load, new_session, process, until_listening
from tests.serving import ServerProcess, free_port

ROUNDS = 11
REQUESTS = 300
STREAMS = 60
FIRST_TOKEN_CALLS = 100
PLAIN = "pass-through"
DIRECT = "direct"


@dataclass(frozen=True, slots=True)
class ChatServer:
    """A server that answers chats: its URL and its process."""

    url: str
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Seconds by server: CPU per request, one figure per round, and time to the first token, one per call."""

    whole: Mapping[str, list[float]] = field(default_factory=dict)
    streamed: Mapping[str, list[float]] = field(default_factory=dict)
    first_token: Mapping[str, list[float]] = field(default_factory=dict)


async def measure(servers: Mapping[str, ChatServer], direct: str, model: str = "mnemoir") -> Costs:
    """Run all rounds. One of the servers is the baseline."""
    whole, streamed, tokens = (dict[str, list[float]]((name, []) for name in (*servers, DIRECT)) for _ in range(3))
    async with new_session() as session:
        for number in range(ROUNDS + 1):
            for stream, count, kept in ((False, REQUESTS, whole), (True, STREAMS, streamed)):
                for name, server in servers.items():
                    before = cpu(server.pid)
                    await load(session, server.url, count, stream=stream, model=model)
                    if number:  # the first round warms up
                        kept[name].append((cpu(server.pid) - before) / count)
        for _ in range(FIRST_TOKEN_CALLS):
            for name, url in ((DIRECT, direct), *((name, server.url) for name, server in servers.items())):
                tokens[name].append(await first_token(session, url, model))
    return Costs(whole=whole, streamed=streamed, first_token=tokens)


def ratio(ours: Sequence[float], plain: Sequence[float]) -> float:
    """The median ratio of ours to the baseline, round by round."""
    return median([mine / theirs for mine, theirs in zip(ours, plain, strict=True)])


def print_tables(costs: Costs, title: str) -> None:
    """Print CPU per request and time to first token, with ratios to the pass-through and the direct call."""
    rows = []
    for label, used in (("JSON", costs.whole), ("100-piece stream", costs.streamed)):
        plain = used[PLAIN]
        for name in (name for name in used if name not in (PLAIN, DIRECT)):
            figures = [ms(median(plain)), ms(median(used[name])), f"{ratio(used[name], plain):.2f}", "3.00"]
            rows.append([f"{label}, {name}", *figures])
    table(f"CPU a chat request, {title} (medians of rounds)", ["", PLAIN, "ours", "ratio", "at most"], rows)
    direct = median(costs.first_token[DIRECT])
    rows = [
        [name, ms(median(took)), ms(median(took) - direct), "" if name in (PLAIN, DIRECT) else "2.50 ms"]
        for name, took in costs.first_token.items()
    ]
    table("time to first token (median)", ["", "time", "added to direct", "at most"], rows)


def run() -> None:
    """Run the whole benchmark."""
    upstream, passing = free_port(), free_port()
    direct = f"http://127.0.0.1:{upstream}"
    settings = {
        "MEMORY_LLM_PROVIDER": "openai-chat",
        "OPENAI_API_KEY": "bench",
        "OPENAI_BASE_URL": f"{direct}/v1",
        "MNEMOIR_LOG__LEVEL": "warning",
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        process("bench.upstream", str(upstream)),
        process("bench.passthrough", str(passing), direct) as plain,
    ):
        for port in (upstream, passing):
            asyncio.run(until_listening(port))
        with (
            ServerProcess(Path(folder) / "traced", environment=settings) as traced,
            ServerProcess(Path(folder) / "bare", environment={**settings, "MNEMOIR_RUNS__ENABLED": "false"}) as bare,
        ):
            servers = {
                PLAIN: ChatServer(f"http://127.0.0.1:{passing}", plain.pid),
                "mnemoir": ChatServer(traced.url, traced.pid),
                "mnemoir without run traces": ChatServer(bare.url, bare.pid),
            }
            print_tables(asyncio.run(measure(servers, direct)), "no memory")
