"""Model servers of a config tree: each protocol at its path, read by the rules of all answers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import aiohttp
import pytest

from mnemoir.core.errors import (
    ProviderError,
    ProviderInvalidOutput,
    ProviderRefused,
    ProviderUnavailable,
    SettingsError,
)
from mnemoir.core.events import Finished, ModelEvent, Passed, Text, Usage
from mnemoir.core.messages import ImagePart, Message, ModelRequest, text_message
from mnemoir.ports.llm import ChatModel, ModelServer, ModelServerKind
from mnemoir.providers.llm.endpoint import Timeouts
from mnemoir.providers.llm.model_servers import HttpModelServers
from tests.providers.llm.conftest import SECRET
from tests.scripted_llm import Answer, ScriptedLLM, closed_port_url, failure, html_page
from tests.wire.samples import joined

KINDS: tuple[ModelServerKind, ...] = get_args(ModelServerKind)
PATHS = {  # whole, streamed
    "openai-chat": ("/v1/chat/completions", "/v1/chat/completions"),
    "openai-completions": ("/v1/completions", "/v1/completions"),
    "koboldcpp": ("/api/v1/generate", "/api/extra/generate/stream"),
    "ollama-chat": ("/api/chat", "/api/chat"),
    "ollama-generate": ("/api/generate", "/api/generate"),
}
WAYS = pytest.mark.parametrize("way", ["whole", "streamed"])
AS_JSON = {"Content-Type": "application/json"}
NewModelServer = Callable[..., ChatModel]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> ModelServerKind:
    """Runs a test once with each protocol."""
    chosen: ModelServerKind = request.param
    return chosen


@pytest.fixture
def new_model_server(llm: ScriptedLLM, session: aiohttp.ClientSession) -> NewModelServer:
    """A model on the scripted server; `tries` is a setting, the rest are members of ModelServer."""

    def of(tries: int) -> HttpModelServers:
        timeouts = Timeouts(first_byte_s=20, between_bytes_s=20)
        return HttpModelServers(session, timeouts=timeouts, tries=tries, most_bytes=1024 * 1024)

    by_tries = {tries: of(tries) for tries in (1, 3)}

    def make(kind: ModelServerKind, *, tries: int = 1, **members: Any) -> ChatModel:
        given = {"name": "Main", "base_url": llm.url, "api_key": SECRET, **members}
        return by_tries[tries].model(ModelServer(kind=kind, **given))

    return make


def question(kind: ModelServerKind, way: str = "whole", **members: Any) -> ModelRequest:
    """What a workflow asks: options that say themselves whether to stream, where the protocol wants that there."""
    options = {"top_k": 3} if kind.startswith("ollama") else {"top_k": 3, "stream": way == "streamed"}
    given = {"messages": (text_message("user", "Hello?"),), "model": "m1", "options": options, **members}
    return ModelRequest(**given)


async def said(model: ChatModel, request: ModelRequest, way: str) -> Any:
    """The answer as one Reply, whichever way it came."""
    return await model.ask(request) if way == "whole" else joined(await streamed(model, request))


async def streamed(model: ChatModel, request: ModelRequest) -> list[ModelEvent]:
    return [event async for batch in model.stream(request) for event in batch]


@WAYS
async def test_each_protocol_is_asked_at_its_own_path(
    kind: ModelServerKind, new_model_server: NewModelServer, llm: ScriptedLLM, way: str
) -> None:
    llm.reply("Grüezi Alex.", reason="length")
    model = new_model_server(kind)
    reply = await said(model, question(kind, way), way)
    asked = llm.requests[0]
    assert (reply.text, model.provider) == ("Grüezi Alex.", kind)
    assert (asked.path, asked.headers["Authorization"]) == (PATHS[kind][way == "streamed"], f"Bearer {SECRET}")
    assert asked.body.get("model") == (None if kind == "koboldcpp" else "m1")


async def test_no_key_is_sent_where_there_is_none(new_model_server: NewModelServer, llm: ScriptedLLM) -> None:
    await new_model_server("openai-chat", api_key="").ask(question("openai-chat"))
    assert "Authorization" not in llm.requests[0].headers


@pytest.mark.parametrize("framing", [{"crlf": True}, {"bytewise": True}], ids=str)
async def test_framing_changes_nothing(
    kind: ModelServerKind, new_model_server: NewModelServer, llm: ScriptedLLM, framing: dict[str, bool]
) -> None:
    llm.reply("Grüezi Alex 😀.", **framing)
    assert (await said(new_model_server(kind), question(kind, "streamed"), "streamed")).text == "Grüezi Alex 😀."


async def test_an_equal_model_server_is_the_same_model(new_model_server: NewModelServer) -> None:
    assert new_model_server("openai-chat") is new_model_server("openai-chat")
    assert new_model_server("openai-chat") is not new_model_server("openai-chat", name="Other")


@pytest.mark.parametrize("url", ["", "localhost:5001", "file:///etc/passwd"])
def test_an_invalid_url_is_refused_with_the_endpoints_name(new_model_server: NewModelServer, url: str) -> None:
    with pytest.raises(SettingsError, match=r"'Main'.* base URL must look like"):
        new_model_server("openai-chat", base_url=url)


# --- answers without a text


EMPTY: Mapping[ModelServerKind, Sequence[str]] = {
    "openai-chat": ('{"choices":[{"message":{"content":null}}]}', '{"choices":[{"finish_reason":"content_filter"}]}'),
    "openai-completions": ('{"choices":[{"text":null}]}', '{"choices":[{"finish_reason":"length"}]}'),
    "koboldcpp": ('{"results":[{"text":null}]}', '{"results":[{}]}'),
    "ollama-chat": ('{"message":{},"done":true}', '{"message":{"content":null}}'),
    "ollama-generate": ('{"response":null,"done":true}', '{"response":""}'),
}


async def test_a_whole_answer_without_a_text_is_an_empty_text(
    kind: ModelServerKind, new_model_server: NewModelServer, llm: ScriptedLLM
) -> None:
    for body in EMPTY[kind]:
        llm.queue(Answer(body=body.encode(), headers=AS_JSON))
        assert (await new_model_server(kind).ask(question(kind))).text == ""


@WAYS
async def test_an_object_that_is_no_answer_is_an_error(
    kind: ModelServerKind, new_model_server: NewModelServer, llm: ScriptedLLM, way: str
) -> None:
    bodies = ("{}", '{"choices":[]}', '{"choices":null}', '{"choices":{}}', '{"choices":[{}]}', '{"done":true}')
    for body in bodies:
        llm.queue(Answer(body=body.encode(), headers=AS_JSON))
        with pytest.raises(ProviderInvalidOutput, match=r"^Endpoint Main .*sent an answer with"):
            await said(new_model_server(kind), question(kind, way), way)


async def test_a_stream_that_ends_properly_without_a_text_is_an_empty_answer(
    kind: ModelServerKind, new_model_server: NewModelServer, llm: ScriptedLLM
) -> None:
    llm.reply("")
    assert (await said(new_model_server(kind), question(kind, "streamed"), "streamed")).text == ""


async def test_an_unreadable_event_is_an_error(
    kind: ModelServerKind, new_model_server: NewModelServer, llm: ScriptedLLM
) -> None:
    llm.reply("One two", bad_after=1)
    with pytest.raises(ProviderInvalidOutput, match=r"^Endpoint Main .*not JSON"):
        await streamed(new_model_server(kind), question(kind, "streamed"))


@pytest.mark.parametrize("kind", ["openai-chat", "openai-completions", "koboldcpp"])
async def test_a_whole_answer_in_place_of_a_stream_is_accepted(
    kind: ModelServerKind, new_model_server: NewModelServer, llm: ScriptedLLM
) -> None:
    llm.reply("One two", usage=(7, 5))
    whole = await new_model_server(kind).ask(question(kind))
    llm.default = Answer(
        headers=AS_JSON,
        body=b'{"choices":[{"message":{"content":"One two"},"text":"One two"}],"results":[{"text":"One two"}]}',
    )
    events = await streamed(new_model_server(kind), question(kind, "streamed"))
    said = [event for event in events if not isinstance(event, Passed)]
    assert said == [Text(whole.text), Usage(), Finished()]


async def test_an_ollama_answer_without_done_is_accepted(new_model_server: NewModelServer, llm: ScriptedLLM) -> None:
    llm.queue(Answer(body=b'{"message":{"content":"hi"}}'), Answer(body=b'{"message":{"content":"hi"},"done":false}'))
    model = new_model_server("ollama-chat")
    assert (await model.ask(question("ollama-chat"))).text == "hi"
    with pytest.raises(ProviderUnavailable, match="before its answer was complete"):
        await model.ask(question("ollama-chat"))


# --- failures


@WAYS
@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        (html_page(), ProviderInvalidOutput),
        (Answer(body=b'{"choices": [{"mess', headers=AS_JSON), ProviderInvalidOutput),
        (Answer(body=b"[]", headers=AS_JSON), ProviderInvalidOutput),
        (Answer(body=b'{"error": "out of memory"}\n', headers=AS_JSON), ProviderUnavailable),
    ],
    ids=["html", "cut", "list", "error"],
)
async def test_a_clear_failure_is_an_error(
    kind: ModelServerKind,
    new_model_server: NewModelServer,
    llm: ScriptedLLM,
    way: str,
    answer: Answer,
    wrong: type[ProviderError],
) -> None:
    llm.default = answer
    with pytest.raises(wrong, match=r"^Endpoint Main \(127\.0\.0\.1:\d+\)"):
        await said(new_model_server(kind), question(kind, way), way)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "koboldcpp"])
async def test_a_body_that_ends_properly_but_early_is_an_error(
    kind: ModelServerKind, new_model_server: NewModelServer, llm: ScriptedLLM
) -> None:
    llm.reply("One two", end_after=1)
    with pytest.raises(ProviderUnavailable, match="ended before its answer was complete"):
        await streamed(new_model_server(kind), question(kind, "streamed"))


async def test_a_torn_connection_is_an_error(
    kind: ModelServerKind, new_model_server: NewModelServer, llm: ScriptedLLM
) -> None:
    llm.reply("One two", cut_after=1)
    with pytest.raises(ProviderUnavailable, match=r"^Endpoint Main"):
        await streamed(new_model_server(kind), question(kind, "streamed"))


@WAYS
async def test_a_refusal_names_the_endpoint_and_never_the_key(
    kind: ModelServerKind, new_model_server: NewModelServer, llm: ScriptedLLM, way: str
) -> None:
    llm.default = failure(401, f"wrong key {SECRET}")
    with pytest.raises(ProviderRefused, match=r"^Endpoint Main \(.*\) answered 401: wrong key") as caught:
        await said(new_model_server(kind), question(kind, way), way)
    assert SECRET not in caught.value.message
    assert len(llm.requests) == 1


@WAYS
async def test_a_temporary_failure_is_retried(
    kind: ModelServerKind, new_model_server: NewModelServer, llm: ScriptedLLM, way: str
) -> None:
    llm.queue(failure(503, Retry_After="0"), failure(502, Retry_After="0"), Answer(text="at last"))
    assert (await said(new_model_server(kind, tries=3), question(kind, way), way)).text == "at last"


async def test_an_unreachable_endpoint_fails_within_its_own_connect_timeout(new_model_server: NewModelServer) -> None:
    model = new_model_server("openai-chat", base_url=closed_port_url(), connect_timeout_s=0.1)
    with pytest.raises(ProviderUnavailable, match=r"^Endpoint Main \(127\.0\.0\.1:\d+\) could not be reached"):
        await model.ask(question("openai-chat"))


@pytest.mark.parametrize("kind", ["koboldcpp", "ollama-chat", "ollama-generate"])
async def test_a_linked_picture_is_refused_where_links_are_not_followed(
    kind: ModelServerKind, new_model_server: NewModelServer, llm: ScriptedLLM
) -> None:
    linked = Message(role="user", parts=(ImagePart(url="https://x.example/a.png"),))
    with pytest.raises(ProviderRefused, match=r"^Endpoint Main.*as data only"):
        await new_model_server(kind).ask(question(kind, messages=(linked,)))
    assert llm.requests == []
