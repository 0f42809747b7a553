"""What is found in 300 texts in four languages, against their labels; names are left out."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemoir.privacy.detection import Rules

LABEL = re.compile(r"\{([A-Z_]+):([^}]+)\}")
RULES = Rules(["US", "GB", "DE", "AT", "FR", "ES"], ["US", "GB", "DE", "AT", "FR", "ES", "IT"])


def labelled() -> Iterator[tuple[str, set[tuple[str, str]]]]:
    """Each text with its (kind, value) pairs."""
    for line in Path(__file__).with_name("labelled.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield LABEL.sub(r"\2", line), set(LABEL.findall(line))


def test_nearly_all_is_found_and_hardly_anything_else():
    texts, wanted, missed, false = 0, 0, [], []
    for text, labels in labelled():
        found = {(one.kind, text[one.start : one.end]) for one in RULES.find(text)}
        texts, wanted = texts + 1, wanted + len(labels)
        missed += [(text, label) for label in labels - found]
        false += [(text, label) for label in found - labels]
    assert texts >= 300
    assert len(missed) <= 0.05 * wanted, missed
    assert len(false) <= 0.02 * texts, false


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Number 219-09-8888 is taken", []),  # nothing beside it says what it is
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc+/=\n-----END RSA PRIVATE KEY-----\nend", ["SECRET"]),
        ("git@github.com:mnemoir/x.git", []),
        ("4111 1111 1111 1112", []),
        ("0171 2345678", ["PHONE"]),
        ("1.2.3.4 and 192.0.2.1", ["IP"]),
        ("upgraded from 10.4.2.1 to 10.4.3.0, see [11.6.2.1](https://example.org/#sec-11.6.2.1)", []),
        ("Server 203.0.113.77 and driver: 203.0.113.78, but § 203.0.113.77 and v203.0.113.77", ["IP"] * 2),
        ("Bestellnummer: 030 123456, order number 020 7946 0018, numéro de commande 01 23 45 67 89", []),
        ("https://cdn.example.org/s/files/1/0302/3968/6755/x.jpg, https://example.org/a/866/469/190/b", []),
        ("https://example.org/?tel=+49-30-901820 or call 030/123456", ["PHONE"] * 2),
        ("2025/0301/2345 and 030-12-3456-78-B", []),
        ("Tel. 030 123456/Fax 030 123457, phone number 020 7946 0018", ["PHONE"] * 3),
        ('{"ssn": "268-90-3154", "phone": "+1 201-555-0123"}', ["NATIONAL_ID", "PHONE"]),
        ("numéro de sécu : 256037587781267", ["NATIONAL_ID"]),
        ("mask 255.255.255.0 of group 239.255.255.250", []),
        ("a call from 10.4.2.1, http://10.4.2.1/x", ["IP"] * 2),
        ("commit 0603193 took 16850.87 ms, idle=16900.540, score 0.9935992", []),
        ("compare/0.1.2...0.1.3 on 54.0.2840.101", []),
        ("ISBN 84-376-0494-7", []),
        ("Tue Jul 01 2025 06:01:11", []),
        ("tel 0603193", ["PHONE"]),
        ("06.12345678 or 0612345678 or 030 1234-0", ["PHONE"] * 3),
    ],
)
def test_what_looks_alike(text, kinds):
    assert [one.kind for one in RULES.find(text)] == kinds


@pytest.mark.parametrize(
    "around", ["'{}'", "`{}`", "*{}*", "({}_", "-{}", "|{}|", "?to={}&cc=x", "https://{}/", "{{{}}}"]
)
def test_an_address_is_found_without_the_marks_around_it(around):
    text = around.format("mira.o'neill+x@example.org")
    assert [text[one.start : one.end] for one in RULES.find(text)] == ["mira.o'neill+x@example.org"]


def test_without_regions_and_countries_only_what_says_so_itself_is_found():
    rules, text = Rules(), "0171 2345678, +49 171 2345678, DNI 12345678Z"
    assert [(one.kind, text[one.start : one.end]) for one in rules.find(text)] == [("PHONE", "+49 171 2345678")]


def test_a_detector_adds_kinds_and_what_it_says_of_no_place_is_left_out():
    rules = Rules(detector=lambda text: [("PERSON", 0, 4), ("person", 0, 4), ("PERSON", 0, 9999)])
    assert [(one.kind, one.start, one.end) for one in rules.find("Mira likes tea")] == [("PERSON", 0, 4)]


def test_a_private_key_is_found_whole_with_its_head_and_also_without_its_end():
    body = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00FF\n\n" + ("a1B2+c3D4/" * 6 + "\n") * 80
    begin, end = "-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----"
    (found,) = Rules().find("x " * 1500 + begin + body + end + " bye")
    assert (found.start, found.end) == (3000, 3000 + len(begin + body + end))
    (cut,) = Rules().find("see " + begin + "a1B2+c3D4/\n" * 9)
    assert (cut.start, cut.end) == (4, 4 + len(begin + "a1B2+c3D4/\n" * 9))


def test_a_long_secret_is_found_whole_across_pieces():
    key = "eyJ" + "a1B2" * 9 + ".eyJ" + "c3D4" * 1200 + "." + "e5F6" * 40
    text = "x" * 3950 + " " + key + " end"
    (found,) = Rules().find(text)
    assert text[found.start : found.end] == key


@pytest.mark.slow
@pytest.mark.costly("it runs programs")
def test_nothing_is_loaded_for_it_while_it_is_off():
    code = "import sys, mnemoir.access.personal_data; print({'phonenumbers', 'stdnum'} & sys.modules.keys())"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
    )
