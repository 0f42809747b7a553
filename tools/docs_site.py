"""`make docs`: the documentation as a site with search, in `site/`. A dead link or a page without a place ends it.

Pages link to other files of the checkout, such as examples. They are laid out with all that they may link to, at the
places that they have there, so that every link holds as it stands. Nothing is fetched.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SITE = ROOT / "site"
_LAID_OUT = (
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "mnemoir.example.yaml", "docs", "examples"),
    "src/mnemoir/providers/embedding/minilm/NOTICE",
)


def build(site: Path) -> int:
    """The status of mkdocs, which names what is wrong; `site` is replaced when it is 0."""
    with tempfile.TemporaryDirectory(prefix="mnemoir-docs-") as folder:
        pages, made = Path(folder) / "pages", Path(folder) / "made"
        for name in _LAID_OUT:
            _copy(ROOT / name, pages / name)
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(made)]
        # the theme's own advertisement would be the only line of a build without faults
        environment = os.environ | {"MNEMOIR_DOCS": str(pages), "NO_MKDOCS_2_WARNING": "true"}
        command += ["--config-file", str(ROOT / "mkdocs.yml")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.stderr.writelines(line for line in done.stderr.splitlines(True) if not line.startswith("INFO"))
        else:
            shutil.rmtree(site, ignore_errors=True)
            shutil.copytree(made, site)
        return done.returncode


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)


if __name__ == "__main__":
    status = build(SITE)
    if status == 0:
        print(f"The documentation is in {SITE.name}/. Look at it by: python3 -m http.server --directory {SITE.name}")
    sys.exit(status)
