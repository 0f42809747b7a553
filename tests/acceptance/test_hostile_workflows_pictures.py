"""Pictures that claim too much, and addresses in chats: nothing is decoded here, and nothing is fetched."""

import asyncio
from base64 import b64encode

import psutil
import pytest

from tests.acceptance.hostile_trees import JSON, QUICK_S, Hosted, asking, hosted
from tests.workflows.nodes.pictures import gif, jpeg, png

DESCRIBE = {"type": "ImageProcessor", "title": "see", "endpointName": "Main", "prompt": "What is there?"}
MIB = 1024 * 1024


def data_url(content: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{b64encode(content).decode()}"


def showing(url: str) -> list[JSON]:
    """What a user says with a picture."""
    return [{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {"url": url}}]


@pytest.fixture
async def host(tmp_path):
    async with hosted(tmp_path, server__max_body_mib=48) as served:
        yield served


REFUSED = {
    "60,000 pixels a side": (lambda: data_url(png(60_000, 60_000)), 413, "60000 x 60000 pixels"),
    "a wide one": (lambda: data_url(jpeg(65_000, 1), "jpeg"), 413, "65000 x 1 pixels"),
    "30 MiB": (lambda: data_url(png(filler=bytes(30 * MIB))), 413, f"{20 * MIB} are allowed"),
    "a page called a picture": (lambda: data_url(b"<html><script>alert(1)</script>"), 400, "no PNG"),
    "a drawing with a script": (lambda: data_url(b"<svg onload='x()'/>", "svg+xml"), 400, "no PNG"),
    "a page": (lambda: "data:text/html;base64,PGI+", 400, "no picture in a data URL"),
    "half of a header": (lambda: data_url(png()[:20]), 400, "no PNG"),
    "no base64": (lambda: "data:image/png;base64,%%%%", 400, "not valid base64"),
    "no pixels": (lambda: data_url(png(0, 0)), 400, "no PNG"),
}


@pytest.mark.slow
@pytest.mark.real_time
async def test_a_picture_that_claims_too_much_or_is_none_is_refused_and_no_model_asked(host):
    for picture, (make, status, why) in REFUSED.items():
        (told_status, told), longest_s = await host.beside(DESCRIBE, said=showing(make()))
        assert (told_status, why in told) == (status, True), (picture, told)
        assert longest_s < QUICK_S, picture
    assert host.llm.requests == []


PASSED = {
    "100,000 moving pictures": lambda: data_url(
        gif()[:-1] + b"\x21\xf9\x04\x00\x00\x00\x00\x00" * 10**5 + b";", "gif"
    ),
    "a picture that is an archive too": lambda: data_url(png() + b"PK\x03\x04" + b"PK\x05\x06" + bytes(18)),
}


@pytest.mark.real_time
@pytest.mark.parametrize("picture", PASSED)
async def test_what_a_picture_holds_behind_its_size_is_passed_on_as_it_is(host, picture):
    before = psutil.Process().memory_info().rss
    (status, _), longest_s = await host.beside(DESCRIBE, said=showing(PASSED[picture]()))
    assert (status, longest_s < QUICK_S) == (200, True)
    sent = host.llm.requests[0].body["messages"][-1]["content"]
    assert sent[-1]["image_url"]["url"] == PASSED[picture]()
    assert psutil.Process().memory_info().rss - before < 64 * MIB


@pytest.mark.real_time
async def test_a_body_over_the_limit_is_refused_before_any_picture_is_looked_at(host):
    (status, _), longest_s = await host.beside(DESCRIBE, said=showing(data_url(bytes(38 * MIB))))
    assert (status, longest_s < QUICK_S, host.llm.requests) == (413, True, [])


@pytest.fixture
async def stranger():
    """A server nobody configured, and how often it was called."""
    called: list[str] = []

    def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        called.append("called")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], called


WEB = (
    "http://127.0.0.1:PORT/a.png",
    "HTTP://LOCALHOST:PORT/a.png",
    "http://0:PORT/",
    "http://0177.1:PORT/",
    "http://2130706433:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://good\\@127.0.0.1:PORT/",
    "http://user:pass@127.0.0.1:PORT/",
    "https://127.0.0.1:PORT/a.png",
    "http://169.254.169.254/latest/meta-data/",
)
READERS = [DESCRIBE, asking(acceptImages=True), asking("{messages}", acceptImages=True, jinja2=False)]


@pytest.mark.parametrize("node", READERS, ids=range(len(READERS)))
async def test_an_address_of_a_picture_is_passed_on_and_never_called(host, stranger, node):
    port, called = stranger
    for url in (address.replace("PORT", str(port)) for address in WEB):
        assert (await host.run(node, said=showing(url)))[0] == 200
        assert host.llm.requests[-1].body["messages"][-1]["content"][-1]["image_url"]["url"] == url
    assert called == []


async def test_a_server_that_takes_no_addresses_gets_none_fetched_for_it(host, stranger):
    port, called = stranger
    host.write("Endpoints/Main.json", {"endpoint": host.llm.url, "apiTypeConfigFileName": "Ollama"})
    for node in (DESCRIBE, asking(acceptImages=True)):
        status, told = await host.run(node, said=showing(f"http://127.0.0.1:{port}/a.png"))
        assert (status, "takes pictures as data only" in told) == (400, True)
    assert (called, host.llm.requests) == ([], [])


OTHER_PLACES = ("file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/a", "/etc/passwd", "../a.png", "//h/a")


async def test_an_address_that_is_not_of_the_web_is_refused(host):
    host.workflow(DESCRIBE)
    for url in (*OTHER_PLACES, "\\\\host\\a.png", "javascript:alert(1)", "jar:http://h/!/a", ""):
        message = {"role": "user", "content": "Look.", "images": [url]}
        assert (await host.ask(showing(url)))[0] == 400, url
        assert await status_of(host, "/api/chat", messages=[message]) == 400, url
        assert await status_of(host, "/api/generate", prompt="Look.", images=[url]) == 400, url
    assert host.llm.requests == []


async def status_of(host: Hosted, path: str, **body: object) -> int:
    sent = {"model": "ann", "stream": False, **body}
    async with host.session.post(f"{host.url}{path}", json=sent) as answer:
        return answer.status
