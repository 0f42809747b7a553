"""Errors about wrong settings: origin, key, value and allowed values, and never a secret."""

from pathlib import Path

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.settings import Settings, load_settings

CANARY = "sk-canary-0123456789"


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def complaint(yaml=None, *, overrides=None, **environ):
    if yaml is not None:
        Path("mnemoir.yaml").write_text(yaml, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_settings(None, overrides or {}, {"HOME": "/nowhere", **environ})
    return caught.value.message


WRONG_VALUES = [
    ("server: {port: 99999}", "mnemoir.yaml: server.port is '99999' and must be less than or equal to 65535."),
    ("server: {port: many}", "mnemoir.yaml: server.port is 'many' and must be a whole number."),
    ("server: {metrics: perhaps}", "mnemoir.yaml: server.metrics is 'perhaps' and must be true or false."),
    ("server: {host: 'http://x'}", "server.host is 'http://x' and must be a host name or an IP address alone"),
    ("server: {host: 'x:80'}", "the port is a setting of its own"),
    ("server: {cors_origins: 5}", "server.cors_origins is '5' and must be a list, or one text with commas."),
    ("server: {cors_origins: [5]}", "server.cors_origins is a list and must be text; put it in quotes."),
    ("storage: {backend: sqlit}", "must be one of 'sqlite', 'file' or 'postgres' (did you mean 'sqlite'?)."),
    ("server: {public_url: memory.org}", "server.public_url is 'memory.org' and must be a URL that starts with"),
    ("auth: {session_hours: 0}", "mnemoir.yaml: auth.session_hours is '0' and must be greater than 0."),
    ("memory: {default_project: ../x}", "memory.default_project is '../x' and must be 1 to 128 letters"),
    ("memory: {decay_days: six}", "mnemoir.yaml: memory.decay_days is 'six' and must be a number."),
    ("retention: {memories_days: 0}", "retention.memories_days is '0' and must be greater than or equal to 1."),
    ("memory: {search_limit: 0}", "memory.search_limit is '0' and must be greater than or equal to 1."),
    ("memory: {management_url: ftp://x}", "must be a URL that starts with http:// or https:// and names a host."),
    ("llm: {model: 5}", "llm.model is '5' and must be text; put it in quotes."),
    ("llm: {base_url: 'http://x:99999'}", "must have a port between 0 and 65535."),
    ("llm: {base_url: 'http://x/v1?a=b'}", "must end with its path, without ? or #."),
    ("llm: {timeouts: {total_s: .nan}}", "llm.timeouts.total_s is 'nan' and must be"),
    ("auth: {jwt: 5}", "mnemoir.yaml: auth.jwt is '5' and must be a list"),
    ("auth: {jwt: keycloak}", "must be a list of objects; in one text, write it as JSON."),
    ("auth: {jwt: [{issuer: 'https://i'}]}", "mnemoir.yaml: auth.jwt[1].audience is missing."),
    ("auth: {jwt: [{issuer: i, audience: m}]}", "auth.jwt[1] needs jwks_url or jwks_file"),
    ("auth: {jwt: [{issuer: i, audience: m, algorithms: HS256}]}", "auth.jwt[1].algorithms must be"),
    (
        "auth: {jwt: [{issuer: i, audience: m, algorithms: [none]}]}",
        "auth.jwt[1].algorithms[1] must be one of 'RS256'",
    ),
    ("auth: {jwt: [{issuer: i, audience: m, jwks_url: 'http://far/k'}]}", "auth.jwt[1].jwks_url must be a URL that"),
    ("auth: {jwt: [{issuer: i, audience: m, role_map: {a: god}}]}", "auth.jwt[1].role_map.a must be one of 'read'"),
    ("auth: {oidc: [{id: A/B}]}", "auth.oidc[1].id must be 1 to 32 small letters, digits or dashes"),
    ("auth: {oidc: [{id: a, colour: blue}]}", "auth.oidc[1].colour is not known there."),
    ("pii: {policy: {models: hide}}", "must be one of 'off', 'tag', 'redact' or 'block'."),
    ("pii: {countries: [Norway]}", "must be ISO codes of countries with two letters, such as DE"),
    ("pii: {detector: a b}", "must name an entry point of mnemoir.detectors, or a function as module:function"),
    ("log: {level: loud}", "must be one of 'debug', 'info', 'warning' or 'error'."),
    ("server: 5", "mnemoir.yaml: server is a section; write its keys below it: host, port,"),
    ("- a\n- b", "mnemoir.yaml: must hold sections such as 'server:', not a single value or a list."),
]


@pytest.mark.parametrize(("yaml", "expected"), WRONG_VALUES, ids=[yaml for yaml, _ in WRONG_VALUES])
def test_a_wrong_value_is_named_with_its_file_key_and_what_is_allowed(yaml, expected):
    assert expected in complaint(yaml)


def test_an_unknown_key_is_named_with_the_nearest_and_all_allowed_ones():
    message = complaint("server: {prot: 1}")
    assert "mnemoir.yaml: server.prot is not a setting. Did you mean server.port?" in message
    assert "Allowed in server: host, port, public_url" in message
    assert f"The sections are: {', '.join(Settings.model_fields)}." in complaint("colour: blue")
    assert "Allowed in llm.timeouts: connect_s" in complaint("llm: {timeouts: {conect_s: 1}}")


def test_the_address_that_clients_look_for_is_no_setting():
    assert load_settings(None, {}, environ={"MNEMOIR_URL": "http://127.0.0.1:8000"}).server.port == 6060


def test_an_unknown_variable_of_ours_is_named_with_the_nearest_one():
    message = complaint(MNEMOIR_SERVER__PROT="1")
    assert (
        "environment variable MNEMOIR_SERVER__PROT: is not a setting. Did you mean MNEMOIR_SERVER__PORT?" in message
    )


def test_variables_of_other_programs_are_ignored():
    assert load_settings(None, {}, {"HOME": "/nowhere", "PROT": "1", "MNEMOIRE": "x"}).server.port == 6060


def test_a_wrong_variable_is_named_as_it_was_set():
    assert "environment variable PORT: server.port is '0x' and must be" in complaint(PORT="0x")
    assert "environment variable MNEMOIR_SERVER__PORT: server.port" in complaint(MNEMOIR_SERVER__PORT="0x")
    assert "environment variable OLLAMA_HOST: llm.ollama_url is 'x:99999' and" in complaint(OLLAMA_HOST="x:99999")


def test_a_wrong_option_is_reported_with_the_origin_command_line():
    assert "command line: server.port is '-1' and" in complaint(overrides={"server.port": -1})
    assert "command line: server.hots is not a setting" in complaint(overrides={"server": {"hots": "x"}})


def test_all_problems_are_reported_at_once():
    message = complaint("server: {prot: 1, port: x}", PORT="", STORAGE_BACKEND="tape", MNEMOIR_X="1")
    assert message.startswith("4 settings are wrong:\n- ")
    assert len(message.splitlines()) == 5


def test_a_named_file_must_exist():
    with pytest.raises(SettingsError, match=r"gone.yaml: cannot be read: No such file"):
        load_settings(Path("gone.yaml"), {}, {})


SECRETS = [
    {"yaml": f"llm: {{api_key: [{CANARY}]}}"},
    {"yaml": f"llm: {{api_key: '{CANARY} with spaces'}}"},
    {"yaml": f"llm: {{apikey: {CANARY}}}"},
    {"yaml": f"server: {CANARY}"},
    {"yaml": f"auth: {{oidc: [{{id: a, client_secret: '{CANARY} with spaces'}}]}}"},
    {"MNEMOIR_AUTH__OIDC": f'[{{"client_secret": "{CANARY}"}}'},
    {"MNEMOIR_AUTH__OIDC": f'[{{"client_secret": ["{CANARY}"]}}]'},
    {"yaml": f"llm: {{base_url: 'http://me:{CANARY}@box/v1'}}"},
    {"yaml": f"llm:\n  api_key: {CANARY}: '"},
    {"yaml": f'llm:\n  api_key: "{CANARY}\\q"'},
    {"API_KEYS": f"{CANARY}\x07"},
    {"OPENAI_API_KEY": f"{CANARY}é"},
    {"MNEMOIR_LLM__API_KEYS": CANARY},
    {"OLLAMA_HOST": f"http://me:{CANARY}@box"},
]


@pytest.mark.parametrize("given", SECRETS, ids=str)
def test_no_error_contains_a_secret(given):
    assert CANARY not in complaint(**given)


def test_no_printed_form_of_the_settings_shows_a_secret():
    environ = {"OPENAI_API_KEY": CANARY, "API_KEYS": f"{CANARY},b", "MNEMOIR_EMBEDDING__API_KEY": CANARY}
    settings = load_settings(None, {}, environ)
    printed = [
        repr(settings),
        str(settings),
        settings.model_dump_json(),
        str(settings.model_dump()),
        repr(settings.source),
    ]
    assert not [text for text in printed if CANARY in text]


ODD_FILES = {
    "key twice": ("server: {port: 1}\nserver: {port: 2}", "line 2: the key server is there twice"),
    "inner key twice": ("server:\n  port: 1\n  port: 2", "line 3: the key port is there twice"),
    "alias": ("server: &a {port: 1}\nlog: *a", "line 2: aliases are not supported"),
    "python object": ("server: !!python/object/apply:os.getcwd []", "line 1: could not determine a constructor"),
    "mapping as key": ("? {a: b}\n: c", "line 1: a key must be a plain word"),
    "depth": ("[" * 5000 + "]" * 5000, "line 1: nested too deeply"),
    "control character": ("server: \x01", "is not valid YAML: ReaderError"),
    "impossible date": ("server: {host: 2024-99-99}", "is not valid YAML: ValueError"),
}


@pytest.mark.parametrize("name", ODD_FILES)
def test_an_invalid_settings_file_is_refused_with_its_line(name):
    yaml, expected = ODD_FILES[name]
    assert expected in complaint(yaml)


def test_an_alias_bomb_is_refused():
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert "aliases are not supported" in complaint("\n".join(lines))


def test_a_huge_file_is_not_read():
    assert "is larger than 1048576 bytes" in complaint("#" * 1_100_000)


def test_norway_is_a_country_in_yaml_too():
    Path("mnemoir.yaml").write_text("pii: {countries: [NO, se], regions: 'at, de'}", encoding="utf-8")
    pii = load_settings(None, {}, {"HOME": "/nowhere"}).pii
    assert (pii.countries, pii.regions) == (("NO", "SE"), ("AT", "DE"))
