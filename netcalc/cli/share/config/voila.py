"""Settings of Voila that no option on a command line can hold. Voila reads this file."""

import hashlib
import os
from typing import Any

c = get_config()  # type: ignore[name-defined]  # noqa: F821 - Voila puts it here


def give_xsrf_cookie(handler: Any, **notebook: Any) -> None:
    """Set the cookie without which the page's call to end its kernel is refused.

    The list of lessons sets it; a lesson that is opened by its own address has none, and its
    kernel stayed. Reading the token is what sets it.
    """
    _ = handler.xsrf_token


c.VoilaConfiguration.prelaunch_hook = give_xsrf_cookie

# An open page goes on after a new start with the same token, and with no other.
c.Voila.cookie_secret = hashlib.sha256(os.environ["JUPYTER_TOKEN"].encode()).digest()
