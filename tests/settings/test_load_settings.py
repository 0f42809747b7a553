"""The sources of settings and their priority."""

from pathlib import Path

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.settings import load_settings
from mnemoir.settings.keys import KEYS, NAMES, PLAIN, variable_of


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def load(yaml=None, *, overrides=None, **environ):
    environ = {"HOME": str(Path.cwd() / "home"), **environ}
    if yaml is not None:
        Path("mnemoir.yaml").write_text(yaml, encoding="utf-8")
    return load_settings(None, overrides or {}, environ)


def test_with_nothing_given_it_serves_this_machine_only_from_the_users_data_directory():
    settings = load()
    assert (settings.server.host, settings.server.port) == ("127.0.0.1", 6060)
    assert settings.storage.backend == "sqlite"
    assert settings.storage.data_dir == Path.cwd() / "home/.local/share/mnemoir"
    assert settings.storage.workspace_root == Path("/workspace")
    assert settings.memory.default_project == "default"
    assert settings.memory.management_url == "http://localhost:6060/api/memories"
    assert (settings.memory.decay_days, settings.llm.provider) == (None, "auto")


def test_each_source_wins_over_the_one_before_it():
    yaml = "server: {port: 1001, host: 127.0.0.2, heartbeat_s: 3}"
    assert load(yaml).server.port == 1001
    assert load(yaml, PORT="1002").server.port == 1002
    assert load(yaml, PORT="1002", MNEMOIR_SERVER__PORT="1003").server.port == 1003
    last = load(yaml, PORT="1002", MNEMOIR_SERVER__PORT="1003", overrides={"server": {"port": 1004}})
    assert (last.server.port, last.server.host, last.server.heartbeat_s) == (1004, "127.0.0.2", 3)


def test_an_override_may_have_a_dotted_key_and_none_in_it_means_not_given():
    settings = load(overrides={"server.port": 1004, "server.host": None, "storage": {"data_dir": Path("here")}})
    assert (settings.server.port, settings.server.host) == (1004, "127.0.0.1")
    assert settings.storage.data_dir == Path.cwd() / "here"


def test_the_working_directorys_file_wins_over_the_users_and_a_named_one_over_both():
    user = Path("config/mnemoir")
    user.mkdir(parents=True)
    (user / "mnemoir.yaml").write_text("server: {port: 1}")
    environ = {"XDG_CONFIG_HOME": str(Path("config").absolute())}
    assert load_settings(None, {}, environ).server.port == 1
    Path("mnemoir.yaml").write_text("server: {port: 2}")
    assert load_settings(None, {}, environ).server.port == 2
    Path("named.yaml").write_text("server: {port: 3}")
    named = load_settings(Path("named.yaml"), {}, environ)
    assert (named.server.port, named.source.file) == (3, Path("named.yaml"))


def test_the_users_file_is_found_below_the_home_directory_too():
    user = Path("home/.config/mnemoir")
    user.mkdir(parents=True)
    (user / "mnemoir.yaml").write_text("server: {port: 7}")
    assert load().server.port == 7


def test_xdg_directories_count_only_when_absolute():
    assert load(XDG_DATA_HOME="relative").storage.data_dir == Path.cwd() / "home/.local/share/mnemoir"
    assert load(XDG_DATA_HOME="/data").storage.data_dir == Path("/data/mnemoir")


PLAIN_VALUES = {
    "HOST": ("0.0.0.0", "0.0.0.0"),
    "PORT": ("8000", 8000),
    "ROOT_PATH": ("memory/", "/memory"),
    "API_KEYS": ("one, two", ["one", "two"]),
    "ADMIN_API_KEY": ("three", "three"),
    "STORAGE_BACKEND": ("File", "file"),
    "WORKSPACE_ROOT": ("/work", Path("/work")),
    "DEFAULT_PROJECT": ("etienne", "etienne"),
    "MEMORY_MANAGEMENT_URL": ("http://box:1/api/memories/", "http://box:1/api/memories"),
    "MEMORY_DECAY_DAYS": ("6.5", 6.5),
    "MEMORY_TOUCH_ON_NONE": ("true", True),
    "MEMORY_LLM_PROVIDER": ("openai-chat", "openai-chat"),
    "MEMORY_LLM_MODEL": ("gpt-5-mini", "gpt-5-mini"),
    "OPENAI_API_KEY": ("sk-1", "sk-1"),
    "OPENAI_BASE_URL": ("http://127.0.0.1:9/v1/", "http://127.0.0.1:9/v1"),
    "OLLAMA_HOST": ("0.0.0.0:11500", "http://127.0.0.1:11500"),
    "HTTP_PROXY": ("proxy.example:3128", "http://proxy.example:3128"),
    "HTTPS_PROXY": ("https://proxy.example", "https://proxy.example"),
    "NO_PROXY": ("a.example b.example", ["a.example", "b.example"]),
}


def test_every_plain_name_has_an_example_here():
    assert set(PLAIN_VALUES) == set(PLAIN)


@pytest.mark.parametrize("name", PLAIN_VALUES)
def test_a_plain_environment_variable_sets_its_key(name):
    raw, expected = PLAIN_VALUES[name]
    assert unwrapped(load(**{name: raw}), PLAIN[name]) == expected


@pytest.mark.parametrize("name", PLAIN_VALUES)
def test_the_long_name_sets_the_same_key(name):
    raw, expected = PLAIN_VALUES[name]
    assert unwrapped(load(**{variable_of(PLAIN[name]): raw}), PLAIN[name]) == expected


def unwrapped(settings, key):
    value = settings
    for part in key.split("."):
        value = getattr(value, part)
    if isinstance(value, tuple):
        return [item if isinstance(item, str) else item.get_secret_value() for item in value]
    return value.get_secret_value() if hasattr(value, "get_secret_value") else value


def test_every_setting_can_be_set_by_one_environment_variable():
    assert {variable_of(key) for key in KEYS} == set(NAMES)
    assert "MNEMOIR_LLM__TIMEOUTS__CONNECT_S" in NAMES
    assert load(MNEMOIR_LLM__TIMEOUTS__CONNECT_S="1.5").llm.timeouts.connect_s == 1.5


def test_an_empty_variable_or_value_counts_as_not_given():
    settings = load("llm: {model: '', api_key: }\nserver:", PORT=" ", OPENAI_API_KEY="", MNEMOIR_NONSENSE="")
    assert (settings.server.port, settings.llm.model, settings.llm.api_key) == (6060, None, None)


def test_yaml_texts_name_environment_variables():
    yaml = """
    llm: {api_key: "${MY_KEY}", model: "${MY_MODEL:-small}-v1", base_url: "${NOWHERE:-}"}
    server: {port: "${MY_PORT}", cors_origins: ["https://${MY_HOST}", "http://$${literal}"]}
    """
    settings = load(yaml, MY_KEY="sk-secret", MY_PORT="81", MY_HOST="box")
    assert settings.llm.api_key is not None
    assert settings.llm.api_key.get_secret_value() == "sk-secret"
    assert (settings.llm.model, settings.llm.base_url) == ("small-v1", "https://api.openai.com/v1")
    assert (settings.server.port, settings.server.cors_origins) == (81, ("https://box", "http://${literal}"))


def test_a_variable_that_is_not_set_and_has_no_default_is_reported_with_its_key():
    with pytest.raises(SettingsError, match=r"mnemoir.yaml: llm.model names the environment variable GONE, which"):
        load("llm: {model: '${GONE}'}")


def test_values_of_the_environment_are_not_expanded():
    assert load("llm: {model: '${A}'}", A="${B}").llm.model == "${B}"


@pytest.mark.parametrize("raw", ["0", "-3", "", "0.0"])
def test_no_decay_has_several_spellings(raw):
    settings = load(MEMORY_DECAY_DAYS=raw)
    assert (settings.memory.decay_days, settings.warnings) == (None, ())


@pytest.mark.parametrize("raw", ["six", "nan", "inf"])
def test_non_numeric_decay_days_mean_no_decay_and_a_warning(raw):
    settings = load("memory: {decay_days: 4}", MEMORY_DECAY_DAYS=raw)
    assert settings.memory.decay_days is None
    assert settings.warnings == (f"MEMORY_DECAY_DAYS is {raw!r}, which is not a number of days: no memory decays.",)


def test_by_default_chats_use_the_memory_service_on_the_servers_own_port():
    assert load(PORT="8000").memory.management_url == "http://localhost:8000/api/memories"
    elsewhere = load(PORT="8000", MEMORY_MANAGEMENT_URL="http://box/api/memories")
    assert elsewhere.memory.management_url == "http://box/api/memories"


def test_a_section_that_is_given_in_part_keeps_its_own_defaults_for_the_rest():
    timeouts = load("embedding: {timeouts: {connect_s: 5}}").embedding.timeouts
    assert (timeouts.connect_s, timeouts.first_byte_s, timeouts.total_s) == (5, 30, 60)


def test_the_source_holds_the_origin_of_each_given_key():
    given = load("log: {level: debug}", PORT="1").source.given
    assert given["log.level"] == "mnemoir.yaml"
    assert given["server.port"] == "environment variable PORT"
    assert "server.host" not in given


def test_the_tree_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        load().server.port = 1
