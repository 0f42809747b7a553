"""Environment variables that a module's process inherits from the server.

Any variable may hold a key, because settings can name any of them. So a module gets only variables that are known to
hold none.
"""

from collections.abc import Mapping

_PASSED = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "LD_LIBRARY_PATH",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "OPENBLAS_NUM_THREADS",
        "MCPO_URL",
    }
)
OWN_PREFIX = "MODULE_"  # of variables that an operator sets for modules


def module_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables above, those of the locale, and all that begin with MODULE_."""
    return {name: value for name, value in environ.items() if name in _PASSED or name.startswith((OWN_PREFIX, "LC_"))}
