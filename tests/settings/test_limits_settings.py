"""The settings of rate limits, and of the proxies that may say where a request comes from."""

import pytest

from mnemoir.cli.serve import server_options
from mnemoir.core.errors import SettingsError
from mnemoir.settings import load_settings


def options_of(**environ):
    return server_options(load_settings(None, {}, {"HOME": "/nowhere", **environ}))


def test_limits_are_off_until_switched_on():
    assert options_of().rate_limits == {}
    assert options_of(MNEMOIR_LIMITS__ENABLED="true").rate_limits == {
        "chat": (20, 120),
        "add": (60, 600),
        "search": (100, 1200),
        "read": (200, 3000),
        "admin": (20, 120),
    }


@pytest.mark.parametrize("bucket", ["chat", "add", "search", "read", "admin"])
def test_each_size_has_its_setting(bucket):
    sizes = {
        f"MNEMOIR_LIMITS__{bucket.upper()}_{name}": value for name, value in (("BURST", "7"), ("PER_MINUTE", "8"))
    }
    found = options_of(MNEMOIR_LIMITS__ENABLED="true", **sizes).rate_limits
    assert [name for name, size in found.items() if size == (7, 8)] == [bucket]


def test_a_bucket_of_adds_has_room_for_one_with_inference():
    with pytest.raises(SettingsError, match=r"limits\.add_burst"):
        options_of(MNEMOIR_LIMITS__ADD_BURST="3")


def test_trusted_proxies_are_addresses_and_networks():
    sent = "127.0.0.1, ::1,10.0.0.0/8"
    found = options_of(MNEMOIR_SERVER__TRUSTED_PROXIES=sent).trusted_proxies
    assert (options_of().trusted_proxies, found) == ((), ("127.0.0.1/32", "::1/128", "10.0.0.0/8"))


@pytest.mark.parametrize("proxy", ["proxy.example.com", "10.0.0.1/8", "*", "127.0.0.1:80"])
def test_a_trusted_proxy_that_is_none_is_refused(proxy):
    with pytest.raises(
        SettingsError, match=r"trusted_proxies.* must be IP addresses, or networks such as 10\.0\.0\.0/8"
    ):
        options_of(MNEMOIR_SERVER__TRUSTED_PROXIES=proxy)
