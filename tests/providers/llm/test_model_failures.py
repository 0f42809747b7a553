"""Model servers that fail before their answer begins: retries of temporary failures, and translated errors."""

import asyncio
import re
from dataclasses import replace

import aiohttp
import pytest

from mnemoir.core.errors import (
    ProviderError,
    ProviderInvalidOutput,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
)
from mnemoir.core.messages import ImagePart, Message, ModelRequest, text_message
from mnemoir.providers.llm.ollama_chat import OllamaChat
from mnemoir.providers.llm.openai_chat import OpenAIChat
from mnemoir.providers.llm.openai_responses import OpenAIResponses
from mnemoir.providers.llm.remote_model import RemoteModel
from tests.providers.llm.conftest import SECRET, NewModel
from tests.scripted_llm import Answer, ScriptedLLM, closed_port_url, failure, gzip_bomb, html_page, redirect

REQUEST = ModelRequest(messages=(text_message("user", "Hello?"),))
WAYS = pytest.mark.parametrize("way", ["whole", "streamed"])


async def asked(model: RemoteModel, way: str, request: ModelRequest = REQUEST) -> str:
    if way == "whole":
        return (await model.ask(request)).text
    events = [event async for batch in model.stream(request) for event in batch]
    return "".join(event.text for event in events if hasattr(event, "text"))


@WAYS
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
async def test_a_temporary_failure_is_retried(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM, way: str, status: int
) -> None:
    llm.queue(failure(status), failure(status), Answer(text="at last"))
    assert await asked(new_model(any_model), way) == "at last"
    assert len(llm.requests) == 3


@WAYS
@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, ProviderRefused, "llm_bad_request"),
        (401, ProviderRefused, "llm_auth_failed"),
        (403, ProviderRefused, "llm_auth_failed"),
        (404, ProviderRefused, "llm_bad_request"),
        (422, ProviderRefused, "llm_bad_request"),
    ],
)
async def test_a_permanent_failure_is_not_retried(
    any_model: type[RemoteModel],
    new_model: NewModel,
    llm: ScriptedLLM,
    way: str,
    status: int,
    kind: type[ProviderError],
    code: str,
) -> None:
    llm.queue(failure(status, "the words of the server"))
    with pytest.raises(kind, match=f"127.0.0.1:.* answered {status}: the words of the server") as caught:
        await asked(new_model(any_model), way)
    assert (caught.value.code, caught.value.status, len(llm.requests)) == (code, status, 1)


@WAYS
async def test_the_last_failure_is_raised_with_its_wait(new_model: NewModel, llm: ScriptedLLM, way: str) -> None:
    llm.queue(*[failure(429, "slow down", Retry_After="0")] * 2, failure(429, "slow down", Retry_After="7"))
    with pytest.raises(ProviderRefused, match="slow down") as caught:
        await asked(new_model(OpenAIChat), way)
    error = caught.value
    assert (error.code, error.status, error.retry_after_s, len(llm.requests)) == ("llm_rate_limited", 429, 7.0, 3)


async def test_the_number_of_tries_is_a_setting(new_model: NewModel, llm: ScriptedLLM) -> None:
    llm.default = failure(500)
    with pytest.raises(ProviderUnavailable) as caught:
        await new_model(OpenAIChat, tries=5).ask(REQUEST)
    assert (caught.value.status, len(llm.requests)) == (500, 5)


async def test_the_wait_that_the_server_asks_for_is_respected(
    new_model: NewModel, llm: ScriptedLLM, planned_waits: list[float]
) -> None:
    llm.queue(failure(429, Retry_After="0.2"), Answer(text="ok"))
    await new_model(OpenAIChat).ask(REQUEST)
    assert (planned_waits, len(llm.requests)) == ([0.2], 2)


FOR_CLIENT = replace(REQUEST, for_client=True)


@WAYS
async def test_a_rate_limit_without_a_wait_is_retried_for_a_client(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM, way: str
) -> None:
    llm.queue(failure(429), failure(429), Answer(text="at last"))
    assert await asked(new_model(any_model), way, FOR_CLIENT) == "at last"
    assert len(llm.requests) == 3


@WAYS
async def test_a_failed_connection_is_retried_for_a_client(
    any_model: type[RemoteModel], new_model: NewModel, way: str, planned_waits: list[float]
) -> None:
    with pytest.raises(ProviderUnavailable):
        await asked(new_model(any_model, base_url=closed_port_url()), way, FOR_CLIENT)
    assert len(planned_waits) == 2


@WAYS
@pytest.mark.parametrize(("request_", "times"), [(REQUEST, 3), (FOR_CLIENT, 1)], ids=["inner", "client's"])
async def test_a_connection_that_broke_after_the_request_is_not_retried_for_a_client(
    new_model: NewModel, way: str, request_: ModelRequest, times: int
) -> None:
    connections = []

    async def read_and_close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(await reader.readuntil(b"\r\n\r\n"))
        writer.close()

    server = await asyncio.start_server(read_and_close, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(ProviderUnavailable):
            await asked(new_model(OpenAIChat, base_url=url), way, request_)
    assert len(connections) == times


async def test_a_failure_in_the_body_is_not_retried_for_a_client(new_model: NewModel, llm: ScriptedLLM) -> None:
    llm.default = Answer(body=b'{"status":"failed","output":[],"error":{"code":"server_error","message":"oops"}}')
    with pytest.raises(ProviderUnavailable, match="oops"):
        await new_model(OpenAIResponses).ask(FOR_CLIENT)
    assert len(llm.requests) == 1


async def test_an_account_without_credit_is_not_retried(new_model: NewModel, llm: ScriptedLLM) -> None:
    llm.queue(failure(429, "You exceeded your current quota", code="insufficient_quota"))
    with pytest.raises(ProviderRefused, match="exceeded your current quota") as caught:
        await new_model(OpenAIChat).ask(REQUEST)
    assert (caught.value.code, len(llm.requests)) == ("llm_rate_limited", 1)


async def test_a_failure_in_the_body_is_retried(new_model: NewModel, llm: ScriptedLLM) -> None:
    failed = b'{"status":"failed","output":[],"error":{"code":"server_error","message":"oops"}}'
    llm.queue(Answer(body=failed), Answer(text="ok"))
    assert (await new_model(OpenAIResponses).ask(REQUEST)).text == "ok"


@WAYS
async def test_a_key_that_the_server_repeats_is_not_passed_on(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM, way: str
) -> None:
    llm.queue(failure(401, f"wrong key {SECRET} " + "x" * 5000))
    with pytest.raises(ProviderRefused) as caught:
        await asked(new_model(any_model), way)
    assert SECRET not in str(caught.value) + repr(caught.value)
    assert "[redacted]" in caught.value.message
    assert len(caught.value.message) < 2_100


@WAYS
async def test_a_closed_port_is_reported_with_its_address(
    any_model: type[RemoteModel], new_model: NewModel, way: str
) -> None:
    url = closed_port_url()
    with pytest.raises(ProviderUnavailable, match=f"{url[7:]} could not be reached"):
        await asked(new_model(any_model, base_url=url.replace("//", "//user:secret-word@")), way)


async def test_refused_connections_end_within_the_connect_timeout(
    new_model: NewModel, planned_waits: list[float]
) -> None:
    model = new_model(OpenAIChat, base_url=closed_port_url(), backoff_s=5.0, timeouts={"connect_s": 0.2})
    with pytest.raises(ProviderUnavailable):
        await model.ask(REQUEST)
    assert sum(planned_waits) <= 0.2


async def test_an_unresolvable_host_name_is_reported(new_model: NewModel) -> None:
    with pytest.raises(ProviderUnavailable, match=r"nowhere\.invalid could not be reached"):
        await new_model(OpenAIChat, base_url="http://nowhere.invalid/v1").ask(REQUEST)


async def test_a_server_without_tls_is_reported(new_model: NewModel, llm: ScriptedLLM) -> None:
    with pytest.raises(ProviderUnavailable, match="could not be reached"):
        await new_model(OpenAIChat, base_url=llm.openai_url.replace("http:", "https:")).ask(REQUEST)


@pytest.mark.real_time
@WAYS
async def test_silence_ends_at_the_first_byte_limit(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM, way: str
) -> None:
    llm.reply("never", silent=True)
    with pytest.raises(ProviderTimeout, match=r"gave no answer in 0\.1 s"):
        await asked(new_model(any_model, timeouts={"first_byte_s": 0.1}), way)
    await llm.disconnected.wait()
    assert len(llm.requests) == 1


@WAYS
@pytest.mark.parametrize(
    "answer",
    [
        html_page(),
        Answer(body=b""),
        Answer(body=b'{"choices": [{"mess', headers={"Content-Type": "application/json"}),
        Answer(body=b"[]", headers={"Content-Type": "application/json"}),
        Answer(body=b'{"choices": [], "message": null, "done": true}', headers={"Content-Type": "application/json"}),
    ],
    ids=["html", "nothing", "cut", "list", "empty"],
)
async def test_garbage_with_status_200_is_reported(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM, way: str, answer: Answer
) -> None:
    llm.queue(answer)
    with pytest.raises(ProviderInvalidOutput, match=r"127\.0\.0\.1"):
        await asked(new_model(any_model), way)
    assert len(llm.requests) == 1


@WAYS
async def test_a_redirect_is_not_followed(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM, way: str
) -> None:
    async with ScriptedLLM() as other:
        llm.queue(redirect(f"{other.url}/v1/chat/completions"))
        with pytest.raises(ProviderRefused, match=r"redirect \(307\), which is not followed"):
            await asked(new_model(any_model), way)
        assert other.requests == []


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("https://new.example/v1/chat/completions", "It leads to https://new.example/v1/chat/completions. "),
        ("https://me:hidden@new.example:8443/x?key=hidden#hidden", "It leads to https://new.example:8443/x. "),
        ("//new.example/x", "It leads to http://new.example/x. "),
        ("/elsewhere", "/elsewhere. "),
        ("http://[", "go along. Set"),
        ("", "go along."),
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_where_a_redirect_leads_is_told_without_what_may_be_secret(
    new_model: NewModel, llm: ScriptedLLM, status: int, location: str, told: str
) -> None:
    llm.queue(Answer(status=status, body=b"", headers={"Location": location}))
    with pytest.raises(ProviderRefused, match=re.escape(told)) as caught:
        await new_model(OpenAIChat).ask(REQUEST)
    assert "hidden" not in caught.value.message
    assert len(llm.requests) == 1


async def test_an_error_page_is_cut_and_shown_in_the_error(new_model: NewModel, llm: ScriptedLLM) -> None:
    llm.default = html_page(502)
    with pytest.raises(ProviderUnavailable, match=r"answered 502: It works!$"):
        await new_model(OpenAIChat).ask(REQUEST)


@WAYS
async def test_a_gzip_bomb_stops_at_the_limit(
    any_model: type[RemoteModel], new_model: NewModel, llm: ScriptedLLM, way: str
) -> None:
    llm.queue(gzip_bomb(256 * 1024 * 1024, media_type="text/plain"))
    with pytest.raises(ProviderInvalidOutput, match="more than"):
        await asked(new_model(any_model, most_bytes=1024 * 1024), way)


@pytest.mark.real_time
async def test_a_whole_answer_may_have_a_time_limit(new_model: NewModel, llm: ScriptedLLM) -> None:
    llm.reply("One two", endless=True)
    # on a busy machine its beginning may not have come by then, either
    with pytest.raises(ProviderTimeout, match=r"(did not finish its answer|gave no answer) in 0\.2 s"):
        await asked(new_model(OpenAIChat, timeouts={"total_s": 0.2}), "streamed")


async def test_a_request_that_is_not_json_is_refused_before_sending(new_model: NewModel, llm: ScriptedLLM) -> None:
    linked = Message(role="user", parts=(ImagePart(url="https://x.example/a.png"),))
    with pytest.raises(ProviderRefused, match="as data only"):
        await new_model(OllamaChat).ask(ModelRequest(messages=(linked,)))
    with pytest.raises(ProviderRefused, match="cannot be written as JSON"):
        await new_model(OpenAIChat).ask(ModelRequest(messages=(text_message("user", "\ud800"),)))
    assert llm.requests == []


async def test_a_closed_session_is_a_provider_error(new_model: NewModel, session: aiohttp.ClientSession) -> None:
    model = new_model(OpenAIChat)
    await session.close()
    with pytest.raises(ProviderUnavailable, match="is stopping"):
        await model.ask(REQUEST)


async def test_a_server_that_does_not_speak_http_is_reported(new_model: NewModel) -> None:
    async def rude(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"220 mail.example ESMTP\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(rude, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ProviderError, match=f"127.0.0.1:{port}"):
            await new_model(OpenAIChat, base_url=f"http://127.0.0.1:{port}", tries=1).ask(REQUEST)


async def test_a_refused_call_does_not_affect_the_next_one(new_model: NewModel, llm: ScriptedLLM) -> None:
    model = new_model(OpenAIChat)
    llm.queue(failure(401), Answer(text="welcome"))
    with pytest.raises(ProviderRefused):
        await model.ask(REQUEST)
    assert (await model.ask(REQUEST)).text == "welcome"
