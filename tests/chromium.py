"""The browser of the tests and pictures: one on the path, else Debian's where this is root, else Playwright's own.

python -m tests.chromium      install one where there is none; the status is 1 when that failed, too
"""

import os
import shutil
import subprocess
import sys

from playwright.sync_api import Error, sync_playwright

# the one without a screen first: it starts and draws for two thirds of the processor time
_NAMES = ("chromium-headless-shell", "chromium")
_DEBIAN = (
    ("apt-get", "update", "-qq"),
    ("apt-get", "install", "-y", "-qq", "--no-install-recommends", _NAMES[0], "fonts-liberation"),
)
_OWN = ((sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"),)
_NONE = """There is no browser, and none could be installed: see above. Tests of the web UI need the program
chromium-headless-shell or chromium, or what `playwright install --with-deps --only-shell chromium` installs."""


def chromium() -> str | None:
    """The browser on the path; None leaves the choice to Playwright, which then starts its own."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def is_there() -> bool:
    """Whether a browser can be started."""
    if chromium():
        return True
    try:
        with sync_playwright() as playwright:
            playwright.chromium.launch().close()
    except Error:
        return False
    return True


def is_provided() -> bool:
    """Whether there is a browser, installed by this call if need be; what goes wrong is printed."""
    if is_there():
        return True
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Debian's chromium-headless-shell", file=sys.stderr)
        if _succeed(*_DEBIAN) and is_there():
            return True
    print("Fetching Playwright's Chromium", file=sys.stderr)
    return _succeed(*_OWN) and is_there()


def main() -> None:
    """Provide one, or end the process with status 1."""
    if not is_provided():
        sys.exit(_NONE)


def _succeed(*commands: tuple[str, ...]) -> bool:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    return all(
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode == 0
        for command in commands
    )


if __name__ == "__main__":
    main()
