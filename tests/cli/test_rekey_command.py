"""`mnemoir discussions rekey`: discussions get another key, a first one or none, beside no or a running server."""

import json
from functools import partial

import pytest

from mnemoir.storage.discussions.client_keys import fernet_key_of, folder_name, plain_content, sealed_content
from tests.cli.command_process import run_here
from tests.server.served_tree import served

OLD, NEW = "the former key", "the new key"


def entries(*texts):
    return json.dumps([{"text_block": text, "hash": f"{text} hash"} for text in texts]).encode()


@pytest.fixture
def root(tmp_path):
    return tmp_path / "Public" / "DiscussionIds"


@pytest.fixture
def rekey(tmp_path, capsys):
    settings = served(tmp_path, "http://127.0.0.1:9", user={"encryptUsingApiKey": True})
    environment = {
        "MNEMOIR_WORKFLOWS__CONFIG_DIR": settings["workflows.config_dir"],
        "MNEMOIR_WORKFLOWS__USERS": "Ann",
        "MNEMOIR_STORAGE__DATA_DIR": str(tmp_path / "data"),
        "MNEMOIR_PREVIOUS_KEY": OLD,
        "MNEMOIR_NEW_KEY": NEW,
    }
    return partial(run_here, "discussions", "rekey", cwd=tmp_path, capsys=capsys, **environment)


def put(root, key, id, *texts):
    place = root / folder_name(key) / id / "memories.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(sealed_content(entries(*texts), fernet_key_of(key, "Ann")))


def texts_of(root, key, id):
    content = (root / folder_name(key) / id / "memories.json").read_bytes()
    return [one["text_block"] for one in json.loads(plain_content(content, fernet_key_of(key, "Ann"), "it"))]


def test_all_discussions_of_a_key_get_the_other_one(rekey, root):
    put(root, OLD, "tea", "It is green.")
    put(root, OLD, "cups", "It is blue.")
    done = rekey("--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"moved": ["cups", "tea"], "left": {}})
    assert texts_of(root, NEW, "tea") == ["It is green."]
    assert not (root / folder_name(OLD) / "tea").exists()
    assert OLD not in done.stdout + done.stderr


@pytest.mark.slow
def test_only_those_that_are_named_and_none_over_another(rekey, root):
    put(root, OLD, "tea", "It is green.")
    put(root, OLD, "cups", "It is blue.")
    put(root, NEW, "cups", "It is red.")
    assert json.loads(rekey("tea", "--json").stdout)["moved"] == ["tea"]
    done = rekey("--json")
    assert done.returncode == 1
    assert list(json.loads(done.stdout)["left"]) == ["cups"]
    assert (texts_of(root, NEW, "cups"), texts_of(root, OLD, "cups")) == (["It is red."], ["It is blue."])


def test_plain_ones_get_a_key_and_lose_it_again(rekey, root):
    (root / "tea").mkdir(parents=True)
    (root / "tea" / "memories.json").write_bytes(entries("It is green."))
    assert json.loads(rekey("--from-plain", "--json").stdout)["moved"] == ["tea"]
    assert texts_of(root, NEW, "tea") == ["It is green."]
    assert not (root / "tea").exists()
    assert json.loads(rekey("--to-plain", "--json", MNEMOIR_PREVIOUS_KEY=NEW).stdout)["moved"] == ["tea"]
    assert json.loads((root / "tea" / "memories.json").read_bytes())[0]["text_block"] == "It is green."


def test_damaged_ones_stay_and_are_named(rekey, root):
    put(root, OLD, "tea", "It is green.")
    place = root / folder_name(OLD) / "tea" / "memories.json"
    place.write_bytes(place.read_bytes()[:-8])
    done = rekey()
    assert done.returncode == 1
    assert "tea" in done.stdout
    assert place.exists()


@pytest.mark.parametrize(
    ("arguments", "more", "told"),
    [
        (["--from-plain", "--to-plain"], {}, "exclude each other"),
        ([], {"MNEMOIR_NEW_KEY": OLD}, "Both keys are the same"),
        (["--user", "Bob"], {}, "must name one of the users served here: Ann"),
        ([], {"MNEMOIR_WORKFLOWS__CONFIG_DIR": ""}, "No config tree is served"),
    ],
)
def test_what_makes_no_sense_is_refused(rekey, arguments, more, told):
    done = rekey(*arguments, **more)
    assert done.returncode != 0
    assert told in " ".join(done.stderr.split())


def test_a_user_whose_discussions_are_not_encrypted_gets_no_key(rekey, tmp_path):
    user = tmp_path / "Public/Configs/Users/ann.json"
    user.write_text(json.dumps(json.loads(user.read_text()) | {"encryptUsingApiKey": False}))
    assert "has no encryptUsingApiKey" in " ".join(rekey("--from-plain").stderr.split())
