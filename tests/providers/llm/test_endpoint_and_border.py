"""Endpoints print no secret, and every error of the HTTP client is translated."""

import inspect
from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import aiohttp
import pytest
from aiohttp import client_exceptions, http_exceptions

from mnemoir.core.clock import utc_now
from mnemoir.core.errors import ProviderError, SettingsError
from mnemoir.providers.llm.border import provider_error_of, provider_errors
from mnemoir.providers.llm.endpoint import Endpoint
from mnemoir.providers.llm.exchange import _retry_after

ENDPOINT = Endpoint(
    base_url="https://someone:pass-word@api.example/v1/",
    api_key="sk-canary-1234567890",
    model="gpt-5-mini",
    extra_headers={"X-Gateway-Key": "gw-canary-123"},
)
SECRETS = ("sk-canary-1234567890", "pass-word", "gw-canary-123", "someone")


def test_an_endpoint_prints_without_its_secrets() -> None:
    shown = f"{ENDPOINT!r} {ENDPOINT} {ENDPOINT.place} {ENDPOINT.url('/responses')}"
    assert not [secret for secret in SECRETS if secret in shown]
    assert repr(ENDPOINT) == "Endpoint(api.example, model='gpt-5-mini')"


def test_the_path_goes_behind_the_base_url() -> None:
    assert str(ENDPOINT.url("/responses")) == "https://api.example/v1/responses"
    assert str(Endpoint(base_url="http://host:11434").url("/api/chat")) == "http://host:11434/api/chat"
    assert str(Endpoint(base_url="http://h/v1?a=1").url("/x")) == "http://h/v1/x?a=1"


def test_a_key_goes_before_user_and_password() -> None:
    assert ENDPOINT.headers()["Authorization"] == "Bearer sk-canary-1234567890"
    assert replace(ENDPOINT, api_key=None).headers()["Authorization"].startswith("Basic ")
    assert "Authorization" not in Endpoint(base_url="http://h").headers()


def test_secrets_are_taken_out_of_any_text() -> None:
    assert ENDPOINT.redacted_text("a sk-canary-1234567890 b pass-word gw-canary-123") == (
        "a [redacted] b [redacted] [redacted]"
    )


@pytest.mark.parametrize("url", ["", "localhost:11434", "ftp://h", "http://", "/v1", "http://[::1"])
def test_a_base_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="base URL"):
        Endpoint(base_url=url)


@pytest.mark.parametrize("members", [{"api_key": "a\nb"}, {"extra_headers": {"X": "a\r\nb"}}])
def test_a_line_break_in_a_header_is_refused(members: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="line break") as caught:
        Endpoint(base_url="http://h", **members)
    assert "a\nb" not in str(caught.value)


FOREIGN = [
    kind
    for module in (client_exceptions, http_exceptions)
    for _, kind in inspect.getmembers(module, inspect.isclass)
    if issubclass(kind, Exception) and kind.__module__.startswith("aiohttp")
]


@pytest.mark.parametrize("kind", [*FOREIGN, TimeoutError, ConnectionResetError, BrokenPipeError, OSError])
def test_every_error_of_the_http_client_is_translated(kind: type[Exception]) -> None:
    foreign = kind.__new__(kind)  # their constructors differ; only the class decides
    if isinstance(foreign, aiohttp.ClientConnectorError):
        foreign._os_error = OSError(111, "Connect call failed")
    if isinstance(foreign, aiohttp.ClientResponseError):
        foreign.status = 407
    error = provider_error_of(foreign, ENDPOINT)
    assert isinstance(error, ProviderError)
    assert error.message.startswith("api.example ")
    assert not [secret for secret in SECRETS if secret in error.message]


def test_our_own_errors_are_not_translated() -> None:
    with pytest.raises(ZeroDivisionError), provider_errors(ENDPOINT):
        raise ZeroDivisionError


@pytest.mark.parametrize(("value", "expected"), [("3", 3.0), ("-1", 0.0), ("", None), (None, None), ("soon", None)])
def test_retry_after_is_read_in_seconds(value: str | None, expected: float | None) -> None:
    assert _retry_after(value) == expected


def test_retry_after_may_be_a_date() -> None:
    soon = _retry_after(format_datetime(utc_now() + timedelta(seconds=30), usegmt=True))
    assert soon is not None
    assert 25 < soon <= 30
