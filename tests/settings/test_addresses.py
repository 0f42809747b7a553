"""Addresses in the forms that people write."""

import pytest

from mnemoir.settings import Server, Settings, load_settings
from mnemoir.settings.addresses import http_url, ollama_address

OLLAMA = {
    "box": "http://box:11434",
    "box:1234": "http://box:1234",
    ":1234": "http://127.0.0.1:1234",
    "127.0.0.1": "http://127.0.0.1:11434",
    "0.0.0.0": "http://127.0.0.1:11434",
    "0.0.0.0:80": "http://127.0.0.1:80",
    "http://box": "http://box:80",
    "https://box": "https://box:443",
    "https://box:8443/ollama/": "https://box:8443/ollama",
    "::1": "http://[::1]:11434",
    "[::1]:1234": "http://[::1]:1234",
    "[::]": "http://[::1]:11434",
    " box ": "http://box:11434",
}


@pytest.mark.parametrize("raw", OLLAMA)
def test_an_ollama_host_is_read_as_ollama_reads_it(raw):
    assert ollama_address(raw) == OLLAMA[raw]


def test_a_normalised_ollama_address_stays_the_same():
    assert [ollama_address(url) for url in OLLAMA.values()] == list(OLLAMA.values())


@pytest.mark.parametrize("raw", ["ftp://box", "box:port", "box:99999", "http://a b", "me:pw@box"])
def test_an_invalid_ollama_host_is_refused(raw):
    with pytest.raises(ValueError, match="must "):
        ollama_address(raw)


def test_a_url_loses_its_final_slash_only():
    assert http_url(" https://box:8/v1/ ") == "https://box:8/v1"


def test_the_address_to_open_is_one_a_browser_can_reach():
    assert Server(host="0.0.0.0", port=80, root_path="m").url == "http://127.0.0.1:80/m"
    assert Server(host="::1").url == "http://[::1]:6060"


def embedding(**environ: str) -> tuple[str, str | None]:
    settings: Settings = load_settings(None, {}, {"OPENAI_API_KEY": "sk-1", **environ})
    key = settings.embedding_key
    return settings.embedding_url, key.get_secret_value() if key else None


def test_the_language_models_key_is_sent_to_its_own_address_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    openai = {"MNEMOIR_EMBEDDING__PROVIDER": "openai"}
    assert embedding(**openai) == ("https://api.openai.com/v1", "sk-1")
    assert embedding(**openai, MNEMOIR_EMBEDDING__BASE_URL="http://box/v1") == ("http://box/v1", None)
    assert embedding(**openai, MNEMOIR_EMBEDDING__API_KEY="sk-2") == ("https://api.openai.com/v1", "sk-2")
    assert embedding(MNEMOIR_EMBEDDING__PROVIDER="ollama", OLLAMA_HOST="box") == ("http://box:11434", None)
