"""A server at rest holds only what it needs: libraries and routes come with the first request that needs them."""

import subprocess
import sys

import pytest

from tests.serving import clean_environment, free_port

# of these a server has imported none that told only its health; when one is needed for that, think twice
UNUSED = (
    *("fastapi", "rich", "pygments", "yaml", "jwt", "webauthn", "cryptography", "OpenSSL", "prometheus_client"),
    *("json_repair", "imagesize", "stamina", "chromadb", "sentence_transformers", "mcp", "py3langid", "psycopg"),
    *("mnemoir.server.rest", "mnemoir.server.memories", "mnemoir.server.conversations", "mnemoir.server.sign_in"),
    *("mnemoir.server.openapi", "mnemoir.workflows.nodes.standard", "mnemoir.cli.conversations", "mnemoir.mcp"),
)
# the command itself, and a thread that asks for its health, prints the imported modules and ends it
SERVER = """
import os, signal, sys, threading, time, urllib.request
from mnemoir.cli import main

def ask(url):
    while True:
        try:
            urllib.request.urlopen(url, timeout=60).read()
        except OSError:
            time.sleep(0.01)
        else:
            break
    print(*sys.modules, file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGTERM)

sys.argv = ["mnemoir", "serve", *sys.argv[1:]]
threading.Thread(target=ask, args=[f"http://127.0.0.1:{sys.argv[3]}/health"], daemon=True).start()
main()
"""


@pytest.mark.slow  # a process of its own, which imports all of it
def test_a_server_that_tells_its_health_has_not_imported_what_other_requests_need(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", SERVER, "--port", str(free_port()), "--data-dir", str(tmp_path / "data")],
        env=clean_environment(MNEMOIR_LOG__LEVEL="error"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    imported = set(ran.stderr.split())
    assert "mnemoir.server.health" in imported, ran.stderr
    assert imported.intersection(UNUSED) == set()
