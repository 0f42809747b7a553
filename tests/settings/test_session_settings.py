"""The lists of headers and fields with session ids: their forms, and the check of their names."""

from pathlib import Path

import pytest

from mnemoir.cli.serve import server_options
from mnemoir.core.errors import SettingsError
from mnemoir.server import ServerOptions
from mnemoir.settings import load_settings

HEADERS, FIELDS = "MNEMOIR_SERVER__SESSION_HEADERS", "MNEMOIR_SERVER__SESSION_FIELDS"


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def options(yaml=None, **environ):
    if yaml is not None:
        Path("mnemoir.yaml").write_text(yaml, encoding="utf-8")
    return server_options(load_settings(None, {}, {"HOME": "/nowhere", **environ}))


def sources(told):
    return list(told.session_headers), list(told.session_fields)


def test_the_defaults_are_the_names_that_known_clients_send():
    told = sources(options())
    assert told == (
        ["X-Conversation-Id", "X-Session-Id", "X-OpenWebUI-Chat-Id", "X-Claude-Code-Session-Id"],
        ["conversation_id", "session_id", "metadata.session_id"],
    )
    assert told == sources(ServerOptions())


def test_they_are_lists_in_the_file_and_texts_with_commas_in_the_environment():
    yaml = "server: {session_headers: [X-Thread], session_fields: [a.b, c]}"
    assert sources(options(yaml)) == (["X-Thread"], ["a.b", "c"])
    told = sources(options(**{HEADERS: "X-One, X-Two", FIELDS: "metadata.chat_id"}))
    assert told == (["X-One", "X-Two"], ["metadata.chat_id"])


def test_an_empty_list_means_no_session_id():
    assert sources(options("server: {session_headers: [], session_fields: []}")) == ([], [])


def test_a_comma_alone_is_an_empty_list_in_the_environment():
    assert sources(options(**{HEADERS: ",", FIELDS: ","})) == ([], [])


@pytest.mark.parametrize("name", ["X Session", "X-Séance", "X-A:", '"X"', "X-A\r\nX-B", ""])
def test_a_header_that_no_client_can_send_stops_the_start(name):
    with pytest.raises(SettingsError, match=r"server\.session_headers .*must be names of HTTP headers"):
        load_settings(None, {"server.session_headers": [name]}, {})


@pytest.mark.parametrize("name", ["", " ", ".", "metadata.", ".session_id", "a..b"])
def test_a_field_without_a_name_stops_the_start(name):
    with pytest.raises(SettingsError, match=r"server\.session_fields .*must be names of fields"):
        load_settings(None, {"server.session_fields": [name]}, {})
