"""What the secrets filter stops, and all it lets through."""

import json
from pathlib import Path

import pytest

from mnemoir.privacy.secrets import holds_secret, secret_spans

CONVERSATIONS = Path(__file__).resolve().parents[3] / "shared" / "data" / "locomo-dev.json"

SECRETS = [
    "Card number is 4111 1111 1111 1111",
    "Pays with 5500-0000-0000-0004, expires 12/27",
    "Amex 378282246310005",
    "OpenAI key is sk-proj-abcDEF123456ghiJKL7890",
    "Uses sk-abcdefghijklmnopqrstuvwx",
    "GitHub token ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AWS access key AKIAIOSFODNN7EXAMPLE",
    "Slack token xoxb-123456789012-abcdefghij",
    "Token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9",
    "Key: -----BEGIN RSA PRIVATE KEY----- MIIE",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "Password is hunter2",
    "Wifi password: correct-horse-battery",
    "The password for the bank is Tr0ub4dor",
    "PIN is 4921",
    "API key is 9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "secret = Zx81KqP09-vbnMMa22",
    "Database is postgres://admin:s3cret@db.example.com/prod",
    "Passwort ist Sommer2024",
    'Sends {"password": "hunter2-Blue!"} to the server',
    "DB_PASSWORD=hunter2",
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzq9LmT2vXw",
    '"client_secret":"a8f5f167f44f4964e6c998dee827110c"',
    "clientSecret: a8f5f167f44f4964e6c998dee827110c",
    "Authorization: Bearer a8f5f167f44f4964e6c998dee827110c",
    "-H 'Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=='",
    "The password for the wifi at my mother's house is hunter2X",
    "Das Passwort lautet Winter!Garten77",
    "La password è Limone.Giallo88",
    "Het wachtwoord is Fiets3nDijk!",
    "A palavra-passe é Sardinha_2times9",
    "Le mdp c'est Lavande!2031",
]
PLAIN = [
    "Forgets passwords all the time",
    "Password manager is Bitwarden",
    "The key to happiness is gratitude",
    "Works as a key account manager",
    "Secret ingredient is cinnamon",
    "Thinks the password is too short",
    "His password is strong",
    "Phone number is 0664 1234567",
    "Order 1234567890123456 has arrived",
    "Ran 42.195 km in 3:59:59 on 2026-03-03",
    "The token of appreciation is a watch",
    "Collects ISBN 978-3-16-148410-0",
    "Her PIN is on the fridge",
    "Born on 1990-05-03, moved 2015-06-01",
    "Key is under the mat",
    "The secret is out",
    "The password is case-sensitive, and an 8-character one is too short",
    "Het wachtwoord is 4-cijferig",
    "My password is [SECRET_1]",
    "password: ********",
    "password: <your-password>",
    "password: ${DB_PASSWORD}",
    'password = os.environ.get("DB_PASSWORD")',
    "password = req.body.password;",
    "WHERE password = :password",
    "PASSWORD_RESET_TIMEOUT=3600",
    "[Set the password](https://example.org/docs/v2#set-the-password)",
    "password reset: https://example.org/reset?id=1",
    "key: `short-option-groups`",
    "Authorization: Bearer YOUR_ACCESS_TOKEN",
    "The class is sk-estimator-doc-link",
    "pypi-jsonschema-specifications",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_stopped(text):
    assert holds_secret(text)


@pytest.mark.parametrize("text", PLAIN)
def test_a_sentence_about_secrets_is_none(text):
    assert not holds_secret(text)


def test_of_a_json_object_the_value_alone_is_the_secret_with_its_closing_marks():
    text = '{"user": "root", "password": "hunter2-Blue!"}'
    assert [text[start:end] for start, end in secret_spans(text)] == ["hunter2-Blue!"]


def test_a_thousand_sentences_of_all_kinds_hold_no_secret():
    people = ["Anna", "my boss", "the neighbour", "our teacher", "her 3-year-old"]
    deeds = ["lost the key", "told a secret", "paid by card", "forgot the password", "bought a token", "ran 10 km"]
    places = ["in Graz", "on 2026-03-03", "at 10:30", "for 1,250.00 euros", "with room key 214", "at No. 4/12"]
    ends = ["again.", "and laughed!", "because of rule 4.1?", "- that was it", "(twice)", "over 12 345 678 steps."]
    sentences = [f"{p} {d} {w} {e}" for p in people for d in deeds for w in places for e in ends]
    assert len(sentences) >= 1000
    assert [text for text in sentences if holds_secret(text)] == []


@pytest.mark.skipif(not CONVERSATIONS.exists(), reason="the development conversations are not on this machine")
def test_real_conversations_hold_no_secret():
    found = [
        turn["text"]
        for sample in json.loads(CONVERSATIONS.read_text(encoding="utf-8"))
        for session in sample.get("conversation", sample).values()
        if isinstance(session, list)
        for turn in session
        if isinstance(turn, dict) and "text" in turn
    ]
    assert len(found) > 1000
    assert [text for text in found if holds_secret(text)] == []
