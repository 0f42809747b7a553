"""How the web UI is served: which requests get a page, what a page may do, and that no other file can be had.

Over a folder of built files made here; `tests/acceptance/test_wheel.py` looks at those that are shipped.
"""

import gzip
import re

import pytest
import structlog

from mnemoir.server.door.routing import Routing
from mnemoir.server.door.ui import PAGES
from tests.narrowing import present
from tests.server.conftest import OpenServer
from tests.server.route_table import layer_of
from tests.server.server_kit import Server, error_of

KEY = "a-key-of-sixteen-or-more"
HTML = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
INDEX = (
    '<!doctype html><html lang="en"><head><base href="/" /><meta property="csp-nonce" nonce="MNEMOIR_NONCE">'
    '<script type="module" src="./assets/app-1a2b.js" nonce="MNEMOIR_NONCE"></script></head></html>'
)
SCRIPT = "console.log('ä');" * 200
BUILT = {
    "index.html": INDEX.encode(),
    "assets/app-1a2b.js": SCRIPT.encode(),
    "assets/style-3c4d.css": b"body{color:red}" * 100,
    "assets/font-5e6f.woff2": bytes(range(256)) * 4,
    "manifest.webmanifest": b"{}",
    "icon.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
}
POLICY = (
    r"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[A-Za-z0-9_-]{16,}'; img-src 'self' blob:; "
    r"font-src 'self'; connect-src 'self'; manifest-src 'self'; "
    r"base-uri 'self'; form-action 'none'; frame-ancestors 'none'"
)


@pytest.fixture
def built(tmp_path):
    folder = tmp_path / "static"
    for name, body in BUILT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
    (tmp_path / "secret.txt").write_text("canary")
    return folder


@pytest.fixture
def serve_built(open_server: OpenServer, built):
    """A whole server whose pages are those of `built`; options by name."""

    async def start(static=built, **options) -> Server:
        server = await open_server(**options)
        layer_of(server, Routing).ui._static = static  # looked through when the first file is asked for
        return server

    return start


@pytest.fixture
async def site(serve_built: OpenServer) -> Server:
    return await serve_built()


@pytest.mark.parametrize("path", sorted(PAGES))
async def test_a_browser_gets_the_page_at_every_address_of_it(site, path):
    answer = await site.ask("GET", path, **HTML)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"assets/app-1a2b.js" in answer.body


@pytest.mark.parametrize("keys", [[], [KEY]])
async def test_a_browser_at_an_address_without_a_page_gets_one_that_says_so_and_others_get_json(serve_built, keys):
    site = await serve_built(api_keys=keys)
    answer = await site.ask("GET", "/nonsense/of/mine", **HTML)
    assert (answer.status, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert re.fullmatch(POLICY, answer.headers["content-security-policy"])
    for path, headers in (("/nonsense", {"accept": "*/*"}), ("/api/nonsense", HTML), ("/v1/nonsense", HTML)):
        assert error_of(await site.ask("GET", path, **headers))[0] == (401 if keys else 404)
    assert (await site.ask("GET", "/health", **HTML)).headers["content-type"] == "application/json"
    assert (await site.ask("GET", "/metrics", **HTML)).headers["content-type"] == "application/json"


async def test_files_of_pages_are_logged_at_debug_only(site):
    with structlog.testing.capture_logs() as log:
        for path in ("/", "/assets/app-1a2b.js", "/health"):
            await site.ask("GET", path, **HTML)
    told = [(line["log_level"], line["route"]) for line in log if line["event"] == "request"]
    assert told == [("info", "/"), ("debug", "/assets"), ("info", "/health")]


@pytest.mark.parametrize("accept", [{}, {"accept": "*/*"}, {"accept": "application/json"}, {"accept": ""}])
async def test_who_does_not_ask_for_html_is_told_that_it_runs(site, accept):
    answer = await site.ask("GET", "/", **accept)
    assert (answer.status, answer.body) == (200, b"Mnemoir is running")


async def test_the_answer_at_the_root_is_known_to_depend_on_what_is_asked_for(site):
    for headers in (HTML, {}):
        assert "Accept" in (await site.ask("GET", "/", **headers)).headers["vary"]


async def test_a_page_may_do_exactly_this(site):
    headers = (await site.ask("GET", "/", **HTML)).headers
    assert re.fullmatch(POLICY, headers["content-security-policy"])
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"


async def test_each_page_has_a_nonce_of_its_own_and_is_kept_by_nobody(site):
    answers = [await site.ask("GET", "/", **HTML) for _ in range(3)]
    nonces = {
        present(re.search(r"'nonce-([^']+)'", answer.headers["content-security-policy"]))[1] for answer in answers
    }
    assert len(nonces) == 3
    for answer in answers:
        found = set(re.findall(r'nonce="([^"]*)"', answer.body.decode()))
        assert found <= nonces
        assert len(found) == 1
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("assets/app-1a2b.js", "text/javascript; charset=utf-8"),
        ("assets/style-3c4d.css", "text/css; charset=utf-8"),
        ("assets/font-5e6f.woff2", "font/woff2"),
        ("icon.svg", "image/svg+xml"),
        ("manifest.webmanifest", "application/manifest+json"),
    ],
)
async def test_a_file_comes_as_it_was_built_and_as_what_it_is(site, name, kind):
    answer = await site.ask("GET", f"/{name}")
    assert (answer.body, answer.headers["content-type"]) == (BUILT[name], kind)
    assert "content-encoding" not in answer.headers


async def test_a_file_named_after_its_content_is_kept_for_ever_and_others_are_asked_for_again(site):
    kept = (await site.ask("GET", "/assets/app-1a2b.js")).headers["cache-control"]
    assert kept == "public, max-age=31536000, immutable"
    assert (await site.ask("GET", "/icon.svg")).headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("accepted", ["gzip", "gzip, deflate, br", "br;q=1, gzip;q=0.5"])
async def test_texts_are_sent_compressed_to_who_can_read_that(site, accepted):
    answer = await site.ask("GET", "/assets/app-1a2b.js", accept_encoding=accepted)
    assert answer.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in answer.headers["vary"]
    assert gzip.decompress(answer.body) == BUILT["assets/app-1a2b.js"]
    assert int(answer.headers["content-length"]) == len(answer.body) < len(SCRIPT)


@pytest.mark.parametrize("accepted", ["", "br", "identity", "gzip;q=0", "br, gzip; q=0.0"])
async def test_who_cannot_read_it_gets_it_plain(site, accepted):
    answer = await site.ask("GET", "/assets/app-1a2b.js", accept_encoding=accepted)
    assert answer.body == BUILT["assets/app-1a2b.js"]


@pytest.mark.parametrize("target", ["/", "/runs", "/assets/app-1a2b.js", "/icon.svg"])
async def test_head_tells_the_same_without_the_body(site, target):
    told = await site.ask("HEAD", target, accept_encoding="gzip", **HTML)
    whole = await site.ask("GET", target, accept_encoding="gzip", **HTML)
    assert (told.status, told.body) == (200, b"")
    for name in ("content-type", "content-length", "cache-control"):
        assert told.headers[name] == whole.headers[name]


@pytest.mark.parametrize(
    "target",
    [
        "/assets/../secret.txt",
        "/assets/../../secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/assets/..%5c..%5csecret.txt",
        "/assets/%252e%252e/secret.txt",
        "/..%2fsecret.txt",
        "//secret.txt",
        "/assets/%00app-1a2b.js",
        "/assets/app-1a2b.js%00.html",
        "/assets",
        "/assets/",
        "/index.html",
        "/assets/.",
        "/static/index.html",
        "/assets/APP-1a2b.js",
    ],
)
async def test_nothing_but_what_was_built_can_be_had(site, target):
    for headers in (HTML, {}):
        answer = await site.ask("GET", target, **headers)
        assert (answer.status, b"canary" in answer.body, answer.body in BUILT.values()) == (404, False, False)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_page_is_there_to_be_read_only(site, method):
    for target in ("/", "/memories", "/assets/app-1a2b.js", "/ui"):
        assert error_of(await site.ask(method, target, **HTML))[0] in (404, 405)


async def test_ui_leads_to_the_page(site):
    for target in ("/ui", "/ui/", "/ui/memories"):
        answer = await site.ask("GET", target, **HTML)
        assert (answer.status, answer.headers["location"]) == (307, "/")


async def test_below_a_prefix_the_page_and_its_files_are_there_too(serve_built):
    site = await serve_built(root_path="/memory")
    page = await site.ask("GET", "/memory/", **HTML)
    assert b'<base href="/memory/" />' in page.body
    assert (await site.ask("GET", "/memory/assets/app-1a2b.js")).body == BUILT["assets/app-1a2b.js"]
    assert (await site.ask("GET", "/memory/ui")).headers["location"] == "/memory/"


async def test_a_prefix_cannot_break_out_of_the_page(serve_built):
    site = await serve_built(root_path='/a"><script>alert(1)</script>')
    assert b"<script>alert" not in (await site.ask("GET", "/", **HTML)).body


async def test_a_server_with_keys_shows_the_page_and_nothing_else_without_one(serve_built):
    site = await serve_built(api_keys=[KEY])
    for target in ("/", "/runs", "/assets/app-1a2b.js", "/icon.svg", "/api/ui"):
        assert (await site.ask("GET", target, **HTML)).status == 200, target
    for target in ("/api/memories/mira", "/api/runs", "/api/status", "/v1/models", "/ready", "/v1/none"):
        assert error_of(await site.ask("GET", target, **HTML)) == (401, "unauthorized")
    assert (await site.ask("GET", "/")).body == b"Mnemoir is running"


@pytest.mark.parametrize("keys", [[], [KEY]])
async def test_what_is_told_without_a_key_is_what_a_page_must_know_to_begin(serve_built, keys):
    site = await serve_built(api_keys=keys)
    told = await site.get("/api/ui")
    assert told.keys() == {"version", "project", "user", "needs_key"}
    assert told["needs_key"] is bool(keys)
    assert (await site.ask("GET", "/api/ui")).headers["cache-control"] == "no-store"


async def test_a_server_whose_pages_were_not_built_says_how_to_build_them(serve_built, tmp_path):
    site = await serve_built(static=tmp_path / "nothing")
    for target in ("/", "/memories"):
        answer = await site.ask("GET", target, **HTML)
        assert answer.headers["content-type"].startswith("text/plain")
        assert b"make ui" in answer.body
    assert (await site.ask("GET", "/")).body == b"Mnemoir is running"
    assert (await site.ask("GET", "/health")).status == 200
