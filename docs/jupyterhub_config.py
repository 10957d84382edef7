"""JupyterHub for a class that comes back: accounts, saved work, limits, the lessons in each home.

Run: ``jupyterhub -f docs/jupyterhub_config.py``, as docs/classroom.md says. A setting that is
another one for your class goes into a file of your own, after ``load_subconfig`` of this one.
"""

import os
import sys
from pathlib import Path

c = get_config()  # noqa: F821 - JupyterHub puts it here

# Nobody else's machine reaches this; name your address, with the two files of a certificate:
# c.JupyterHub.ssl_cert, c.JupyterHub.ssl_key.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"

# Who may enter: accounts of this machine, by their groups.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.allowed_groups = {"students", "teachers"}
c.PAMAuthenticator.admin_groups = {"teachers"}

# Limits. The first two hold for all processes of a student where the spawner keeps them, as that
# of systemd does; the others for each process, with any spawner of this machine.
c.Spawner.mem_limit = "1G"
c.Spawner.cpu_limit = 1.0
MEMORY_BYTES, PROCESSOR_S, PROCESSES = 1 << 30, 3600, 256
c.JupyterHub.active_server_limit = 40
c.JupyterHub.concurrent_spawn_limit = 10

# One live run at a time on the machine: all that measure share a folder in which they wait.
TURNS = Path(os.environ.get("NETCALC_TURNS", "/srv/netcalc-turns"))
TURNS.mkdir(parents=True, exist_ok=True)
TURNS.chmod(0o1777)
c.Spawner.environment = {
    "NETCALC_TURNS": str(TURNS),
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),  # `netcalc`
}

# As the student: brings the lessons up to date, keeps what the student changed, takes the limits.
START = f"""
import os, resource, sys
from pathlib import Path
from netcalc.cli.lab import copy_lessons, find_lessons
Path.home().chmod(0o700)  # the work of one is not that of another
copy_lessons(find_lessons(), Path.home() / "netcalc-lessons")
resource.setrlimit(resource.RLIMIT_DATA, ({MEMORY_BYTES},) * 2)
resource.setrlimit(resource.RLIMIT_CPU, ({PROCESSOR_S}, {PROCESSOR_S} + 10))
if {os.getuid() == 0}:  # otherwise the students are one account, and what else runs in it counts
    resource.setrlimit(resource.RLIMIT_NPROC, ({PROCESSES},) * 2)
os.nice(5)  # the hub stays quick
os.execv(sys.executable, [sys.executable, "-P", "-m", "jupyterhub.singleuser", *sys.argv[1:]])
"""
c.Spawner.cmd = [sys.executable, "-P", "-c", START]
c.Spawner.default_url = "/lab/tree/netcalc-lessons/00_start_here.ipynb"
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
c.Spawner.args = [
    "--MappingKernelManager.cull_idle_timeout=1200",
    "--ServerApp.shutdown_no_activity_timeout=1800",
    # A message to a kernel is judged before it is taken apart.
    "--ServerApp.kernel_websocket_connection_class=netcalc.cli.lesson_pages.PromptConnection",
    # Nothing is asked of a server elsewhere.
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
]
