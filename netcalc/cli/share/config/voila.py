"""Settings of Voila that no option on a command line can hold. Voila reads this file."""

import hashlib
import os
from pathlib import Path
from typing import Any

from netcalc.cli.serving import pages

c = get_config()  # type: ignore[name-defined]  # noqa: F821 - Voila puts it here


def prepare(handler: Any, **given: Any) -> None:
    """Prepare the page of a lesson.

    Reading the token sets the cookie without which the page's call to end its kernel is refused.
    The list of lessons sets it too, but a lesson may be opened by its own address.
    """
    _ = handler.xsrf_token
    root = Path(handler.settings["contents_manager"].root_dir)
    pages.prepare(given["notebook"], root / handler.path_args[0].strip("/"), root)


def list_lessons(page_config: dict[str, Any], **given: Any) -> dict[str, Any]:
    """Give the page of a folder its lessons, with their titles."""
    folder = Path(given["settings"]["contents_manager"].root_dir) / given["notebook_path"].strip(
        "/"
    )
    if folder.is_dir():
        page_config["lessons"], page_config["others"] = pages.listed(folder)
    return page_config


c.VoilaConfiguration.prelaunch_hook = prepare
c.VoilaConfiguration.page_config_hook = list_lessons
# A page that waits says so every few seconds: it is how it knows that the kernel does not start.
c.VoilaConfiguration.http_keep_alive_timeout = 5

# An open page goes on after a new start with the same token, and with no other.
c.Voila.cookie_secret = hashlib.sha256(os.environ["JUPYTER_TOKEN"].encode()).digest()
