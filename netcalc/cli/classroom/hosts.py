"""The names by which a class is reached: a request for any other is refused before all pages.

A page from elsewhere can give its own name the address of this machine, once it is loaded: for the
browser the class is then a part of that page. Its requests still carry that name.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from http.client import responses
from typing import Any

from tornado.httputil import HTTPServerRequest
from tornado.routing import AnyMatches, Matcher, Router, Rule, RuleRouter
from tornado.web import Application, RequestHandler

from netcalc.printable import printable

_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?")
_SHOWN = 100
_MISDIRECTED = 421


def plain_name(typed: str) -> str | None:
    """Return a name or an address as browsers send it; None if it is neither."""
    try:
        return str(ipaddress.ip_address(typed.removeprefix("[").removesuffix("]")))
    except ValueError:
        pass
    try:
        name = typed.removesuffix(".").encode("idna").decode().lower()
    except UnicodeError:
        return None
    return name if _NAME.fullmatch(name) else None


def own_names(address: str, names: Iterable[str]) -> set[str]:
    """Return the names of a class at an address, beside the address itself.

    Parameters
    ----------
    address : str
        Where the class is served.
    names : iterable of str
        What the teacher adds.
    """
    at, machine = ipaddress.ip_address(address), socket.gethostname().lower()
    own = {plain for name in names if (plain := plain_name(name))}
    if at.is_loopback or at.is_unspecified:
        own.add("localhost")
    if not at.is_loopback:
        own |= {machine, f"{machine.partition('.')[0]}.local"}
    return own


class _Own(Matcher):
    def __init__(self, names: set[str]) -> None:
        self._names = names

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        """Return a result for a name of the class, or the address that the browser reached."""
        name = plain_name(request.host_name)
        connection: Any = request.connection
        here = connection.stream.socket.getsockname()[0]
        is_own = name is not None and (name in self._names or name == plain_name(here))
        return {} if is_own else None


class _Elsewhere(RequestHandler):
    def prepare(self) -> None:
        """Refuse all, whatever is asked for."""
        host = printable(self.request.host_name[:_SHOWN])
        self.set_status(_MISDIRECTED)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.finish(
            f"{_MISDIRECTED} {responses[_MISDIRECTED]}: the class is not served by the name {host}."
            " Open the address that netcalc classroom printed."
            f" If {host} is a name of the class, as that of a proxy, start it with --name {host}\n"
        )


def refusing_others(pages: Application, names: set[str]) -> Router:
    """Return what leads to the pages of a class by its own names, and nowhere by others."""
    elsewhere = Application([(r".*", _Elsewhere)])
    return RuleRouter([Rule(_Own(names), pages), Rule(AnyMatches(), elsewhere)])
