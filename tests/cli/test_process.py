"""What other programs of the same user can find out about the server's process."""

import subprocess
import sys

import pytest

PARENT = """
import ctypes, os, subprocess, sys
from mnemoir.cli.process import close_to_others
if os.geteuid() == 0:  # root may read everything
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # a change of the user closes a process by itself
if sys.argv[1] == "closed":
    assert close_to_others()
read = subprocess.run(["cat", f"/proc/{os.getpid()}/environ"], capture_output=True, text=True, env={})
print("canary" in read.stdout, read.returncode)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such protection")
@pytest.mark.parametrize(("state", "told"), [("open", "True 0"), ("closed", "False 1")])
def test_a_program_that_the_server_starts_cannot_read_its_environment(state, told):
    environment = {"API_KEYS": "canary", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", PARENT, state], capture_output=True, text=True, env=environment)
    assert (done.stdout.strip(), done.stderr) == (told, "")
