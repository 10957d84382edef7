"""Settings of Voila that no option on a command line can hold. Voila reads this file."""

import hashlib
import os
from pathlib import Path
from typing import Any

from netcalc import language
from netcalc.cli import lesson_pages
from netcalc.language import notebooks

c = get_config()  # type: ignore[name-defined]  # noqa: F821 - Voila puts it here


def list_lessons(page_config: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """Give the page of a folder its lessons, with their titles, and the words around them."""
    page_config["words"] = notebooks.words()
    folder = Path(settings["settings"]["contents_manager"].root_dir) / settings[
        "notebook_path"
    ].strip("/")
    if folder.is_dir():
        page_config["lessons"], page_config["others"] = lesson_pages.listed(folder)
    return page_config


language.use(language.choose())
c.VoilaExporter.language_code = language.current().partition("_")[0]
lesson_pages.compile_templates_once()
c.VoilaConfiguration.prelaunch_hook = lesson_pages.prepare_page
c.VoilaConfiguration.page_config_hook = list_lessons
c.VoilaConfiguration.http_keep_alive_timeout = lesson_pages.KEEP_ALIVE_S

# An open page goes on after a new start with the same token, and with no other.
c.Voila.cookie_secret = hashlib.sha256(os.environ["JUPYTER_TOKEN"].encode()).digest()

# Jupyter's own check of the Host header, which Voila lifts: names of this machine alone.
c.Voila.tornado_settings = {"allow_remote_access": False}
