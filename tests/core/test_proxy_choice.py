"""Which addresses go through a proxy, and which are asked directly."""

import pytest

from mnemoir.core.proxies import Proxies
from tests.each_case import check_each

HTTP, HTTPS = "http://proxy.example:3128", "http://secure.example:3129"
BOTH = Proxies(http=HTTP, https=HTTPS)
PUBLIC = (
    "api.openai.com",
    "models.example",
    "8.8.8.8",
    "2606:4700::1111",
    "[2606:4700::1111]",
    "example.com.",
    "a.b",
)
PRIVATE = (
    *("localhost", "LOCALHOST", "model.localhost", "127.0.0.1", "127.8.9.1", "::1", "[::1]", "0.0.0.0", "127.1"),
    *("2130706433", "0x7f000001", "0x7f.1", "017700000001", "::ffff:127.0.0.1", "64:ff9b::7f00:1"),
    *("10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.1.1", "fe80::1", "fe80::1%eth0", "fd12::1", "100.64.0.7"),
    *("ollama", "gpu-box", "nas.local", "NAS.Local.", "llm.corp.internal", "pi.home.arpa", ""),
)
DIRECT = {
    "*": ("api.openai.com", "8.8.8.8"),
    "openai.com": ("openai.com", "api.openai.com", "OPENAI.com."),
    ".openai.com": ("api.openai.com",),
    "*.openai.com": ("api.openai.com",),
    "8.8.8.0/24": ("8.8.8.8",),
    "8.8.8.8": ("8.8.8.8",),
    "2606:4700::/32": ("2606:4700::1111", "[2606:4700::1111]"),
    "[2606:4700::1111]": ("2606:4700::1111",),
    "api.openai.com:443": ("api.openai.com",),
    " api.openai.com ": ("api.openai.com",),
}
NOT_DIRECT = {
    "openai.com": ("notopenai.com", "openai.com.example"),
    "api.openai.com:8443": ("api.openai.com",),
    "8.8.8.0/24": ("8.8.9.8", "api.openai.com"),
    "8.8.8.8": ("18.8.8.8",),
    "": ("api.openai.com",),
    ".": ("api.openai.com",),
    "rubbish/99": ("8.8.8.8", "api.openai.com"),
    "com:443:1": ("api.openai.com",),
}


def test_what_is_on_the_internet_goes_through_the_proxy_of_its_scheme():
    def check(host):
        ways = (BOTH.proxy_of("http", host, 80), BOTH.proxy_of("https", host, 443))
        assert (ways, Proxies(http=HTTP).proxy_of("https", host, 443)) == ((HTTP, HTTPS), None)

    check_each(PUBLIC, check)


def test_this_machine_and_what_is_private_are_asked_directly():
    def check(host):
        too = Proxies(http=HTTP, private_too=True)
        assert (BOTH.proxy_of("http", host, 80), too.proxy_of("http", host, 80)) == (None, HTTP)

    check_each(PRIVATE, check)


def test_what_is_excepted_is_asked_directly():
    def check(entry, host):
        excepting = Proxies(https=HTTPS, direct=("other.example", entry), private_too=True)
        assert excepting.proxy_of("https", host, 443) is None

    check_each([(entry, host) for entry, hosts in DIRECT.items() for host in hosts], check)


def test_what_only_looks_like_it_is_not():
    def check(entry, host):
        assert Proxies(https=HTTPS, direct=(entry,)).proxy_of("https", host, 443) == HTTPS

    check_each([(entry, host) for entry, hosts in NOT_DIRECT.items() for host in hosts], check)


@pytest.mark.parametrize("private_too", [False, True])
def test_a_typed_address_goes_through_a_proxy_only_as_a_name_of_the_internet(private_too):
    proxies = Proxies(http=HTTP, private_too=private_too)
    for host in (*PRIVATE, "8.8.8.8", "[2606:4700::1111]", "134744072", "0x08.0x08.0x08.0x08"):
        assert (proxies.proxy_of("http", host, 80, is_typed=True), host) == (None, host)
    assert proxies.proxy_of("http", "api.openai.com", 80, is_typed=True) == HTTP


def test_proxies_do_not_print_their_password():
    assert "secret" not in f"{Proxies(http='http://me:secret@proxy.example')!r}"
