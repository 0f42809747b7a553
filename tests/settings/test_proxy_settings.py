"""Proxies as the settings read them: from the variables that other programs read, and without their passwords."""

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.core.proxies import Proxies
from mnemoir.settings import load_settings
from mnemoir.settings.addresses import without_password

PROXY, OTHER = "http://proxy.example:3128", "http://other.example:3128"


def proxies(**environ: str) -> Proxies:
    return load_settings(None, {}, {"HOME": "/nowhere", **environ}).http.proxies


def refusal(**environ: str) -> str:
    with pytest.raises(SettingsError) as caught:
        proxies(**environ)
    return caught.value.message


def test_both_spellings_are_read_and_the_small_one_counts():
    assert proxies(HTTP_PROXY=PROXY).http == PROXY
    assert proxies(http_proxy=PROXY).http == PROXY
    assert proxies(HTTP_PROXY=OTHER, http_proxy=PROXY, https_proxy=OTHER, HTTPS_PROXY=PROXY) == Proxies(
        http=PROXY, https=OTHER
    )
    assert proxies(MNEMOIR_HTTP__HTTP_PROXY=PROXY, http_proxy=OTHER).http == PROXY
    assert proxies(HTTP_PROXY="  ", http_proxy="").are_none


def test_exceptions_are_split_at_commas_and_blanks():
    told = proxies(no_proxy="a.example, .b.example  10.0.0.0/8,,*", NO_PROXY="c.example").direct
    assert told == ("a.example", ".b.example", "10.0.0.0/8", "*")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("proxy.example:3128", PROXY),
        (" http://proxy.example:3128/ ", PROXY),
        ("https://proxy.example", "https://proxy.example"),
        ("http://me:hidden-314@proxy.example:3128", "http://me:hidden-314@proxy.example:3128"),
        ("http://[::1]:3128", "http://[::1]:3128"),
    ],
)
def test_a_proxy_may_be_written_as_other_programs_take_it(written, read):
    assert proxies(HTTPS_PROXY=written).https == read


@pytest.mark.parametrize(
    "wrong",
    [
        *("socks5://me:hidden-314@proxy.example", "socks5h://me:hidden-314@proxy.example", "SOCKS://hidden-314"),
        *("ftp://me:hidden-314@proxy.example", "http://me:hidden-314@", "http://me:hidden-314@proxy.example:99999"),
        *(
            "http://me:hidden-314@proxy.example/path",
            "http://me:hidden-314@pro xy.example",
            "http://hidden-314:x y@h",
        ),
    ],
)
def test_a_wrong_proxy_is_named_without_what_it_says(wrong):
    told = refusal(HTTP_PROXY=wrong)
    assert "HTTP_PROXY" in told
    assert "hidden-314" not in told
    assert ("SOCKS" in told) == wrong.lower().startswith("socks")


@pytest.mark.parametrize("name", ["ALL_PROXY", "all_proxy"])
def test_a_proxy_for_everything_is_refused_by_its_name(name):
    told = refusal(**{name: "http://me:hidden-314@proxy.example"})
    assert name in told
    assert "HTTP_PROXY and HTTPS_PROXY" in told
    assert "hidden-314" not in told


def test_a_password_is_in_no_text_of_the_settings():
    settings = load_settings(None, {}, {"HOME": "/nowhere", "HTTP_PROXY": "http://me:hidden-314@proxy.example"})
    assert "hidden-314" not in f"{settings!r}{settings.http.proxies!r}{settings.model_dump_json()}"
    assert without_password("http://me:hidden-314@proxy.example:3128") == PROXY
