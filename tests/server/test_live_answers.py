"""Answers that go on without a reader: taken up again by event number, stopped, limited, and nobody else's."""

import asyncio
import re
from collections.abc import Sequence

import orjson
import pytest

from mnemoir.server import ServerOptions
from tests.remembering_model import learn_every_turn
from tests.scripted_llm import Answer, failure
from tests.server.server_kit import asks, error_of, hello, listening

CHAT = "/v1/chat/completions"
RESUMED = {"X-Mnemoir-Resume": "1"}
SAID = "One two three four"
_NUMBER = re.compile(rb"^id: (\d+)$", re.MULTILINE)


def text_of(stream: bytes) -> str:
    """What the model says in a stream, or in a part of one."""
    chunks = [orjson.loads(line[6:]) for line in stream.splitlines() if line.startswith(b"data: {")]
    return "".join(one["delta"].get("content", "") for chunk in chunks for one in chunk.get("choices", ()))


async def until(response, word: str) -> bytes:
    """What comes of a stream until that was said, with the number of the event."""
    came = block = b""
    while word not in text_of(came) or not block.startswith(b"id: "):
        block = await response.content.readuntil(b"\n\n")
        came += block
    return came


class Talk:
    """A conversation of Mira's on a server that listens."""

    def __init__(self, server, http, id: str = "tea") -> None:
        self.server, self.http, self.id = server, http, id
        self.answers = f"{server.url}/api/conversations/{id}/answers"

    async def ask(self, word: str = "One", **headers: str) -> bytes:
        """Ask a question, and leave when that word of the answer has come; what came."""
        response = await self.http.post(
            self.server.url + CHAT,
            json=hello(stream=True, user="mira", conversation_id=self.id, history="server"),
            headers=RESUMED | headers,
        )
        came = await until(response, word) if word else b""
        response.close()
        return came

    async def under_way(self) -> list[dict]:
        async with self.http.get(self.answers + "?user_id=mira") as response:
            found: list[dict] = (await response.json())["results"]
            return found

    async def take_up(self, **headers: str):
        """Another reader of the answer under way."""
        [answer] = await self.under_way()
        return self.http.get(f"{self.answers}/{answer['id']}?user_id=mira", headers=headers)

    async def read_on(self, llm, **headers: str) -> tuple[int, bytes]:
        """What another reader reads to the end when the model goes on, and the number it goes on behind."""
        async with await self.take_up(**headers) as response:
            assert response.status == 200
            llm.release()
            return int(response.headers["X-Mnemoir-After"]), await response.read()

    async def stop(self) -> None:
        [answer] = await self.under_way()
        async with self.http.delete(f"{self.answers}/{answer['id']}?user_id=mira") as response:
            assert response.status == 200

    async def has_ended(self) -> None:
        """The only place is free again."""
        while (await self.server.ask("POST", CHAT, hello())).status == 503:  # noqa: ASYNC110 - no answer tells it
            await asyncio.sleep(0.005)

    async def messages(self, wanted: int = 2) -> Sequence[tuple[str, str | None]]:
        """Its messages with what they ended with, once there are so many."""
        target = f"/api/conversations/{self.id}/messages?user_id=mira"
        async with asyncio.timeout(30):
            while len(found := (await self.server.get(target))["results"]) < wanted:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        return [(message["content"], message["finish_reason"]) for message in found]


@pytest.fixture
async def talk(listen, llm, http):
    """On a server with one place, whose model says two words and waits."""
    llm.reply(SAID, stall_after=2)
    return Talk(await listen(asks(llm), most_active_chats=1), http)


async def test_an_answer_goes_on_without_its_reader_and_is_taken_up_from_its_beginning(talk, llm):
    await talk.ask()
    after, came = await talk.read_on(llm)
    assert (after, text_of(came)) == (0, SAID)
    assert b"data: [DONE]" in came
    assert await talk.messages() == [("Hello", None), (SAID, "stop")]


async def test_an_answer_is_complete_although_nobody_reads_its_end(talk, llm):
    await talk.ask()
    assert len(await talk.under_way()) == 1
    llm.release()
    assert await talk.messages() == [("Hello", None), (SAID, "stop")]


async def test_a_reader_goes_on_behind_the_event_that_it_read_last(talk, llm):
    first = await talk.ask("two")
    number = int(_NUMBER.findall(first)[-1])
    after, came = await talk.read_on(llm, **{"Last-Event-ID": str(number)})
    assert after == number
    assert text_of(first) + text_of(came) == SAID


@pytest.mark.parametrize(("number", "status"), [("999", 200), ("-1", 422), ("one", 422)])
async def test_a_number_that_no_event_has_begins_anew_and_one_that_is_none_is_refused(talk, number, status):
    await talk.ask("two")
    async with await talk.take_up(**{"Last-Event-ID": number}) as response:
        assert response.status == status
        if status == 200:
            assert response.headers["X-Mnemoir-After"] == "0"
            assert text_of(await until(response, "two")).split() == ["One", "two"]


async def test_two_readers_and_the_first_one_read_the_same(talk, llm):
    body = hello(stream=True, user="mira", conversation_id="tea", history="server")
    async with talk.http.post(talk.server.url + CHAT, json=body, headers=RESUMED) as first:
        begun = await until(first, "One")
        async with await talk.take_up() as second, await talk.take_up() as third:
            llm.release()
            read = [begun + await first.read(), await second.read(), await third.read()]
    assert [text_of(one) for one in read] == [SAID] * 3


async def test_the_list_names_run_and_question(talk):
    await talk.ask()
    [answer] = await talk.under_way()
    [(_, _)] = await talk.messages(1)
    [question] = (await talk.server.get("/api/conversations/tea/messages?user_id=mira"))["results"]
    assert answer == {
        "id": "chatcmpl-" + answer["run_id"].removeprefix("run_"),
        "run_id": answer["run_id"],
        "question_id": question["id"],
    }


async def test_stopped_it_tells_its_readers_and_keeps_what_came(talk, llm):
    await talk.ask("two")
    async with await talk.take_up() as reader:
        await until(reader, "two")
        await talk.stop()
        assert b'"code":"cancelled"' in await reader.read()
    await llm.disconnected.wait()
    assert await talk.messages() == [("Hello", None), ("One two ", "incomplete")]
    assert await talk.under_way() == []


async def test_of_a_stopped_answer_no_memory_is_made(listen, llm, http):
    talk = Talk(await listen(asks(llm) | {"embedding.provider": "openai"}), http)
    seen = learn_every_turn(llm)
    llm.reply(SAID, stall_after=2)
    await talk.ask(**{"X-Memory": "on"})
    await talk.stop()
    await talk.messages()
    whole = {"messages": [{"role": "user", "content": "I live in Graz."}], "user": "mira", "memoryEnabled": True}
    await talk.server.post(CHAT, hello() | whole)
    while not (await talk.server.get("/api/memories/mira"))["results"]:  # noqa: ASYNC110 - no answer tells it
        await asyncio.sleep(0.005)
    assert seen == [["I live in Graz."]]


@pytest.mark.parametrize("target", ["/api/conversations/tea?user_id=mira", "/api/conversations?user_id=mira"])
async def test_forgetting_the_conversation_ends_it_and_leaves_no_words(talk, llm, target):
    await talk.ask("two")
    async with talk.http.delete(talk.server.url + target) as response:
        assert response.status == 200
    await talk.has_ended()
    await talk.server.parts.chats.recorder.aclose()  # all that is written behind answers
    assert (await talk.server.ask("GET", "/api/conversations/tea?user_id=mira")).status == 404
    assert (await talk.server.get("/api/runs?conversation=tea"))["results"] == []


@pytest.mark.real_time
async def test_without_a_reader_it_ends_after_a_time(listen, llm, http):
    llm.reply(SAID, stall_after=2)
    talk = Talk(await listen(asks(llm), resume_s=0.2), http)
    await talk.ask("two")
    await llm.disconnected.wait()
    assert await talk.messages() == [("Hello", None), ("One two ", "incomplete")]


@pytest.mark.real_time
async def test_with_a_reader_it_goes_on_for_any_time(listen, llm, http):
    llm.queue(Answer(text=SAID, stall_after=2), Answer(text=SAID, stall_after=2))
    server = await listen(asks(llm), resume_s=0.2)
    read, unread = Talk(server, http, "read"), Talk(server, http, "unread")
    await read.ask()
    async with await read.take_up() as reader:
        await unread.ask()
        await llm.disconnected.wait()  # the later one has ended
        llm.release()
        assert text_of(await reader.read()) == SAID


async def test_at_most_four_of_a_user_go_on_and_the_oldest_ends(listen, llm, http):
    llm.queue(*[Answer(text=SAID, stall_after=2)] * 5)
    server = await listen(asks(llm))
    talks = [Talk(server, http, f"talk-{n}") for n in range(5)]
    for talk in talks:
        await talk.ask()
    await llm.disconnected.wait()
    assert [message for message, _ in await talks[0].messages()] == ["Hello", "One two "]
    assert [len(await talk.under_way()) for talk in talks] == [0, 1, 1, 1, 1]


async def test_it_holds_its_place_until_it_has_ended(talk):
    await talk.ask()
    assert error_of(await talk.server.ask("POST", CHAT, hello())) == (503, "overloaded")
    await talk.stop()
    await talk.has_ended()


async def test_nobody_else_finds_it(talk):
    await talk.ask()
    [answer] = await talk.under_way()
    branch = {"message_id": answer["question_id"], "id": "other"}
    assert (await talk.server.ask("POST", "/api/conversations/tea/branch?user_id=mira", branch)).status == 201
    for target, code in (
        ("tea/answers/{}?user_id=noah", "conversation_not_found"),
        ("tea/answers/{}?user_id=mira&project=other", "conversation_not_found"),
        ("tea/answers/{}", "conversation_not_found"),
        ("other/answers/{}?user_id=mira", "answer_not_found"),
    ):
        for method in ("GET", "DELETE"):
            answered = await talk.server.ask(method, "/api/conversations/" + target.format(answer["id"]))
            assert error_of(answered) == (404, code)
    listed = await talk.server.ask("GET", "/api/conversations/tea/answers?user_id=noah")
    assert error_of(listed) == (404, "conversation_not_found")
    assert len(await talk.under_way()) == 1


@pytest.mark.parametrize(
    ("path", "resume", "more"),
    [
        (CHAT, "true", {}),
        (CHAT, "1", {"conversation_id": None}),
        (CHAT, "1", {"store": False}),
        ("/api/chat", "1", {}),
    ],
    ids=["another value", "no conversation", "not to be kept", "Ollama's protocol"],
)
async def test_any_other_chat_ends_with_its_client(listen, llm, http, path, resume, more):
    server = await listen(asks(llm))
    llm.reply(SAID, stall_after=2)
    body = hello(stream=True, user="mira", conversation_id="tea") | more
    response = await http.post(server.url + path, json=body, headers={"X-Mnemoir-Resume": resume})
    await response.content.readany()
    response.close()
    await llm.disconnected.wait()


async def test_a_model_that_refuses_is_told_by_the_status(talk, llm):
    llm.clear()
    llm.queue(failure(500))
    body = hello(stream=True, user="mira", conversation_id="tea")
    refused = await talk.server.ask("POST", CHAT, body, x_mnemoir_resume="1")
    assert refused.status == 502
    assert await talk.under_way() == []


async def test_an_answer_that_has_broken_off_is_not_found_when_its_readers_are_told(talk, llm):
    llm.clear()
    llm.reply(SAID, cut_after=2)
    body = hello(stream=True, user="mira", conversation_id="tea")
    async with talk.http.post(talk.server.url + CHAT, json=body, headers=RESUMED) as response:
        while b'"error"' not in await response.content.readuntil(b"\n\n"):
            pass
        assert await talk.under_way() == []


async def test_an_answer_that_breaks_off_tells_all_its_readers(talk, llm):
    llm.clear()
    llm.reply(SAID, stall_after=2, cut_after=2)
    await talk.ask()
    _, came = await talk.read_on(llm)
    assert text_of(came).split() == ["One", "two"]
    assert b'"error"' in came
    assert await talk.messages() == [("Hello", None), ("One two ", "incomplete")]


@pytest.mark.real_time
async def test_an_orderly_stop_ends_it_and_keeps_it_as_incomplete(open_server, llm, http):
    options = ServerOptions(graceful_s=1)
    server = await open_server(asks(llm))
    llm.reply(SAID, stall_after=2)
    async with listening(server.app, options) as url:
        talk = Talk(type(server)(app=server.app, parts=server.parts, url=url), http)
        await talk.ask("two")
    assert await talk.messages() == [("Hello", None), ("One two ", "incomplete")]
