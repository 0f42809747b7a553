"""Pictures are checked before they are sent on, and never decoded."""

import tracemalloc

import pytest

from mnemoir.core.errors import InvalidRequest, TooLarge
from mnemoir.core.messages import ImagePart
from mnemoir.workflows.prompting.images import MOST_BYTES, check_image
from tests.workflows.nodes.pictures import bmp, gif, image, jpeg, png, webp

KINDS = [png, jpeg, gif, webp, bmp]


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_of_each_format_is_accepted(kind):
    check_image(image(kind(640, 480)), 1)


@pytest.mark.parametrize("url", ["https://example.org/a.png", "http://10.0.0.1/a", "HTTPS://example.org/a.png"])
def test_a_web_address_is_accepted_unchanged(url):
    check_image(ImagePart(url=url), 1)


def test_the_size_of_a_jpeg_is_found_behind_camera_data():
    check_image(image(jpeg(640, 480, camera_data=4)), 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [(60_000, 60_000), (16_385, 1), (1, 16_385)])
def test_a_picture_that_claims_to_be_huge_is_refused(kind, size):
    with pytest.raises((TooLarge, InvalidRequest), match="Picture 3 of the conversation"):
        check_image(image(kind(*size)), 3)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/a.png",
        "/etc/passwd",
        "",
        "data:text/html;base64,QUJD",
        "data:image/png,%89PNG",
        "data:image/png;base64",
        "iVBORw0KGgo=",
    ],
)
def test_other_addresses_than_data_and_web_urls_are_refused(url):
    with pytest.raises(InvalidRequest, match="no picture in a data URL"):
        check_image(ImagePart(url=url), 1)


@pytest.mark.parametrize("spoilt", ["!", "=AAA", "é"])
def test_invalid_base64_is_refused_at_any_position(spoilt):
    whole = image(png(filler=bytes(3 * 1024 * 1024)))
    for url in (whole.url + spoilt, whole.url[:2_000_000] + spoilt + whole.url[2_000_000:]):
        with pytest.raises(InvalidRequest, match="not valid base64"):
            check_image(ImagePart(url=url), 1)


@pytest.mark.parametrize(
    "content",
    [b"", b"<svg width='9' height='9'/>", b"%PDF-1.7", b"\xff\xd8\xff\xd9", png()[:20], png(0, 5), b"GIF89a", b"BM"],
)
def test_a_picture_without_a_readable_size_is_refused(content):
    with pytest.raises(InvalidRequest, match=r"whose size can be read|not valid base64"):
        check_image(image(content), 1)


def test_a_picture_of_too_many_bytes_is_refused_before_any_is_read():
    with pytest.raises(TooLarge, match=f"{MOST_BYTES} are allowed"):
        check_image(ImagePart(url="data:image/png;base64," + "!" * (30 * 1024 * 1024)), 1)


def test_checking_a_large_picture_needs_little_memory():
    large = image(png(filler=bytes(10 * 1024 * 1024)))
    tracemalloc.start()
    try:
        check_image(large, 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 * 1024 * 1024
