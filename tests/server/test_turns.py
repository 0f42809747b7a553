"""Turns by key: a crowd's steps lie between another key's and the next one only in a bounded number."""

import asyncio
import contextlib
import socket

from mnemoir.server.door.options import ServerOptions
from mnemoir.server.door.turns import AT_ONCE, Turns
from mnemoir.server.run import bind, run, serve
from tests.server.test_fair_share import keyed

CROWD = 50 * AT_ONCE


async def worked(turns: Turns, key: str, done: list[str], steps: int = 1) -> None:
    for _ in range(steps):
        await turns.take(key)
        done.append(key)


async def test_another_key_s_step_comes_before_all_but_a_few_of_a_crowd_s():
    turns, done = Turns(), list[str]()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(CROWD):
            tasks.create_task(worked(turns, "loud", done))
        tasks.create_task(worked(turns, "quiet", done, steps=5))
    quiet = [place for place, key in enumerate(done) if key == "quiet"]
    assert quiet[0] <= AT_ONCE
    assert quiet[-1] <= 6 * AT_ONCE
    assert len(done) == CROWD + 5


async def test_a_crowd_of_one_key_has_its_turns_in_the_order_in_which_it_came():
    turns, done = Turns(), list[int]()

    async def numbered(number: int) -> None:
        await turns.take("loud")
        done.append(number)

    await asyncio.gather(*map(numbered, range(CROWD)))
    assert done == list(range(CROWD))


async def test_who_left_takes_no_turn_from_those_behind():
    turns, done = Turns(), list[str]()
    waiting = [asyncio.create_task(worked(turns, "loud", done)) for _ in range(CROWD)]
    await asyncio.sleep(0)
    for task in waiting[AT_ONCE:-1]:
        task.cancel()
    await waiting[-1]
    assert len(done) == AT_ONCE + 1


async def test_where_there_is_one_key_nobody_waits():
    turns, done = Turns(lambda: False), list[str]()
    for _ in range(CROWD):
        taking = turns.take("only")
        try:
            taking.send(None)
        except StopIteration:
            done.append("only")
    assert len(done) == CROWD


async def test_a_request_of_another_key_is_answered_before_a_crowd_s_that_came_first(open_server):
    server = await open_server()
    keys, answered = keyed(server, "loud", "quiet"), list[str]()

    async def asked(name: str) -> None:
        await server.ask("GET", "/v1/models", **keys[name])
        answered.append(name)

    await asyncio.gather(*[asked("loud") for _ in range(CROWD)], asked("quiet"))
    assert answered.index("quiet") <= CROWD // 4


def test_connections_that_wait_are_accepted_several_in_a_round():
    """As many rounds as connections would let a crowd's connections keep the one behind them waiting for ever."""
    assert run(rounds_until_accepted(160)) < 160


async def rounds_until_accepted(count: int) -> int:
    """The rounds of the loop in which a server has answered so many clients that connected before it listened."""
    loop, rounds, answered = asyncio.get_running_loop(), 0, 0
    started, done = asyncio.Event(), asyncio.Event()

    async def app(scope, receive, send) -> None:
        nonlocal answered
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        answered += 1
        if answered == count:
            done.set()

    def next_round() -> None:
        nonlocal rounds
        rounds += 1
        if not done.is_set():
            loop.call_soon(next_round)

    with bind("127.0.0.1", 0) as listener:
        listener.listen(2 * count)
        clients = [connected(listener.getsockname()) for _ in range(count)]
        serving = asyncio.create_task(
            serve(app, ServerOptions(), listener=listener, on_started=lambda _: started.set())
        )
        await started.wait()
        next_round()
        await done.wait()
        for client in clients:
            client.close()
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving
    return rounds


def connected(address: tuple[str, int]) -> socket.socket:
    client = socket.create_connection(address)
    client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return client
