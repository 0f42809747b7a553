"""The environment variables of the settings.

Every setting has a variable named after its key (`server.port` is MNEMOIR_SERVER__PORT). Some have a short name too,
which other programs also use; the long name wins when both are set. An empty variable counts as unset.
"""

from collections.abc import Mapping

from mnemoir.settings.keys import KEYS, nearest

PREFIX = "MNEMOIR_"

PLAIN = {
    "HOST": "server.host",
    "PORT": "server.port",
    "ROOT_PATH": "server.root_path",
    "API_KEYS": "server.api_keys",
    "ADMIN_API_KEY": "server.admin_api_key",
    "STORAGE_BACKEND": "storage.backend",
    "WORKSPACE_ROOT": "storage.workspace_root",
    "DEFAULT_PROJECT": "memory.default_project",
    "MEMORY_MANAGEMENT_URL": "memory.management_url",
    "MEMORY_DECAY_DAYS": "memory.decay_days",
    "MEMORY_TOUCH_ON_NONE": "memory.touch_on_none",
    "MEMORY_LLM_PROVIDER": "llm.provider",
    "MEMORY_LLM_MODEL": "llm.model",
    "OPENAI_API_KEY": "llm.api_key",
    "OPENAI_BASE_URL": "llm.base_url",
    "OLLAMA_HOST": "llm.ollama_url",
}


def variable_of(key: str) -> str:
    """The long name of a setting's environment variable."""
    return PREFIX + key.upper().replace(".", "__")


NAMES = {variable_of(key): key for key in KEYS}


def read_environment(environ: Mapping[str, str]) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """The given settings, key to (value, variable), and a problem for each unknown variable with our prefix."""
    given: dict[str, tuple[str, str]] = {}
    problems: list[str] = []
    for variable, key in PLAIN.items():
        if environ.get(variable, "").strip():
            given[key] = (environ[variable], variable)
    for variable, value in environ.items():
        name = variable.upper()
        if not name.startswith(PREFIX) or not value.strip():
            continue
        if name in NAMES:
            given[NAMES[name]] = (value, variable)
        else:
            problems.append(_unknown(variable))
    return given, problems


def _unknown(variable: str) -> str:
    guess = nearest(variable, {name.lower(): name for name in NAMES})
    hint = f" Did you mean {guess.upper()}?" if guess else ""
    return (
        f"environment variable {variable}: is not a setting.{hint} "
        "A name is MNEMOIR_, the section, two underscores and the key, as in MNEMOIR_SERVER__PORT."
    )
