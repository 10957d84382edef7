"""Settings of the server of JupyterLab that no option on a command line may hold."""

import hashlib
import os

c = get_config()  # type: ignore[name-defined]  # noqa: F821 - Jupyter puts it here

# An open page goes on after a new start with the same token, and with no other.
c.ServerApp.cookie_secret = hashlib.sha256(os.environ["JUPYTER_TOKEN"].encode()).digest()
