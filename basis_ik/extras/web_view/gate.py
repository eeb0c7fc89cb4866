# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Access to the pages: the address they listen on, and the requests that are refused.

The page can move an arm, and any site open in a browser can send requests to it. Therefore a
request must name this server (`Host`, against DNS rebinding), and one made by a page must come
from this page (`Origin`). If other machines can connect, the path must begin with a random token.
"""

from __future__ import annotations

import contextlib
import errno
import secrets
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import rich
import viser
import websockets.asyncio.server
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from basis_ik.errors import BasisIkError

FIRST_PORT, TRIED_PORTS = 8080, 20
LARGEST_MESSAGE = 1 << 20  # bytes, from a browser
HANDSHAKE_TIMEOUT = 60.0  # [s]; a busy machine may need more than the usual 10 for TLS
OWN_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
OWN_PAGE = "hand"  # name of the page that is not viser's, and of its WebSocket


class GateError(BasisIkError):
    """The page cannot be served."""


class Gate(NamedTuple):
    """The rules for requests.

    Attributes:
        host: Address or name that the server listens on, as given.
        port: Its port.
        token: First part of every path; empty: none.
        encrypted: Whether TLS is spoken.
    """

    host: str
    port: int
    token: str = ""
    encrypted: bool = False

    @property
    def url(self) -> str:
        """The address to open."""
        wildcard = self.host in ("0.0.0.0", "::", "")
        name = socket.gethostname() if wildcard else self.host
        name = f"[{name}]" if ":" in name else name
        return f"{self._scheme('http')}://{name}:{self.port}/{self.token}"

    @property
    def own_page(self) -> str:
        """The path of the page that is not viser's."""
        return f"/{self.token}/{OWN_PAGE}" if self.token else f"/{OWN_PAGE}"

    def _scheme(self, plain: str) -> str:
        return f"{plain}s" if self.encrypted else plain

    def refusal(self, target: str, host: str, origin: str | None, reached: str) -> str | None:
        """Return why a request is refused, or None.

        Args:
            target: Path and query.
            host: The Host header.
            origin: The Origin header; a browser sends it with every modifying request of a page,
                and when it opens a WebSocket.
            reached: The local address that received the request.
        """
        try:
            named = urlsplit(f"//{host}")
            name, port = named.hostname or "", named.port or (443 if self.encrypted else 80)
        except ValueError:
            return "the header Host is malformed"
        if port != self.port or name not in self._names(reached):
            return "the header Host names another server"
        if origin is not None and origin != f"{self._scheme('http')}://{host}":
            return "another site asks"
        path, _, query = target.partition("?")
        first = path.removeprefix("/").partition("/")[0]
        if self.token and not secrets.compare_digest(first.encode(), self.token.encode()):
            return "the address lacks the token, which web_view has printed at its start"
        # A query could make viser's page connect to another server, or play back files.
        own = f"{self.socket(host)}/{self.token}".rstrip("/")
        given = parse_qs(query, keep_blank_values=True)
        if given.keys() - {"websocket"} or any(
            each.rstrip("/") != own for each in given.get("websocket", ())
        ):
            return "the address has a query"
        return None

    def socket(self, host: str) -> str:
        """Return the start of the addresses of this server's WebSockets, by its Host header."""
        return f"{self._scheme('ws')}://{host}"

    def inside(self, target: str) -> str:
        """Return the target of an accepted request, without the token."""
        return target[1 + len(self.token) :] if self.token else target

    def _names(self, reached: str) -> set[str]:
        """Return the valid names of this server."""
        names = {self.host.lower(), reached.lower()}
        if is_loopback(reached):
            names.add("localhost")
        if not is_loopback(self.host):
            own = socket.gethostname().lower()
            names |= {own, f"{own}.local"}
        return names


def is_loopback(host: str) -> bool:
    """Return whether only this machine can connect to a host."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Open a port.

    Args:
        host: Address or name to listen on.
        port: The port; 0: the first free one from `FIRST_PORT` on.

    Raises:
        GateError: The port is taken, none is free, or the host is not this machine.
    """
    ports = [port] if port else range(FIRST_PORT, FIRST_PORT + TRIED_PORTS)
    for each in ports:
        try:
            family = socket.getaddrinfo(host, each, type=socket.SOCK_STREAM)[0][0]
            return socket.create_server((host, each), family=family)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                reason = error.strerror or str(error)
                raise GateError(f"cannot listen on {host}, port {each}: {reason}") from None
    if port:
        raise GateError(f"port {port} is taken; give another one, or none: then a free one is used")
    raise GateError(f"ports {ports[0]} to {ports[-1]} are taken; give one by port:=...")


class _Server(viser.ViserServer):
    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse: any browser could otherwise make viser open a public tunnel."""
        return None


class OwnPage(NamedTuple):
    """A page beside viser's."""

    text: str
    """Its HTML."""
    serve: Callable[[Any], Awaitable[None]]
    """Serves one of its WebSockets until that is closed."""


def open_server(
    host: str, port: int, own: OwnPage, certificate: str = ""
) -> tuple[viser.ViserServer, Gate]:
    """Serve viser's page, and one beside it, behind a gate.

    Args:
        host: Address or name to listen on; a token is required if others can connect.
        port: The port; 0: the first free one from `FIRST_PORT` on.
        own: The page beside viser's.
        certificate: File with a certificate and its private key (PEM) for TLS; empty: none.

    Raises:
        GateError: See `listen`; the certificate cannot be used; or this version of viser starts its
            server in another way.
    """
    tls = _read_certificate(certificate) if certificate else None
    listening = listen(host, port)
    token = "" if is_loopback(host) else secrets.token_urlsafe(16)
    gate = Gate(host, listening.getsockname()[1], token, tls is not None)
    rich.get_console().quiet = True  # viser would print an address without the token
    with _guarded(listening, gate, own, tls) as guards:
        server = _Server(host=host, port=gate.port, verbose=False)
    if not guards:
        server.stop()
        raise GateError("this version of viser cannot be guarded: pip install 'viser>=1.1,<1.2'")
    return server, gate


def _read_certificate(file: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(file)
    except OSError as error:  # also of what is in the file
        reason = error.strerror or str(error)
        remedy = "give a PEM file with a certificate and its private key"
        raise GateError(f"cannot use the certificate {file}: {reason}; {remedy}") from None
    return context


@contextlib.contextmanager
def _guarded(
    listening: socket.socket, gate: Gate, own: OwnPage, tls: ssl.SSLContext | None
) -> Iterator[list[str]]:
    """Put a gate before the server that viser starts in this context; viser has no hook for it.

    Yields:
        One entry for each guarded server.
    """
    original: Any = websockets.asyncio.server.serve
    guards: list[str] = []

    def serve(handler: Any, host: str, port: int, *, process_request: Any, **options: Any) -> Any:
        guards.append(f"{host}:{port}")
        options |= {"max_size": LARGEST_MESSAGE, "sock": listening, "ssl": tls}
        options["open_timeout"] = HANDSHAKE_TIMEOUT
        guarded = _guarded_by(gate, process_request, own.text)

        async def handle(connection: Any) -> None:
            is_own = urlsplit(connection.request.path).path == gate.own_page
            await (own.serve if is_own else handler)(connection)

        return original(handle, process_request=guarded, **options)

    websockets.asyncio.server.serve = serve
    try:
        yield guards
    finally:
        websockets.asyncio.server.serve = original


def _guarded_by(gate: Gate, handle: Callable[[Any, Request], Response | None], text: str) -> Any:
    """Return a handler that refuses requests by a gate's rules.

    It answers those for our own page, and passes on all others.
    """

    def guarded(connection: Any, request: Request) -> Response | None:
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        refused: str | None = "one header Host is needed, and at most one Origin"
        if len(hosts) == 1 and len(origins) <= 1:
            origin = origins[0] if origins else None
            refused = gate.refusal(request.path, hosts[0], origin, connection.local_address[0])
        if refused is not None:
            return _response(HTTPStatus.FORBIDDEN, "text/plain", f"web_view: {refused}\n")
        if urlsplit(request.path).path == gate.own_page:
            if request.headers.get("Upgrade") == "websocket":
                return None
            response: Response | None = _response(HTTPStatus.OK, "text/html; charset=utf-8", text)
            policy = f"connect-src {gate.socket(hosts[0])}; frame-ancestors 'self'; {OWN_POLICY}"
        else:
            response = handle(connection, Request(gate.inside(request.path), request.headers))
            connect = f"connect-src 'self' {gate.socket(hosts[0])} data: blob:"
            policy = f"{connect}; frame-ancestors 'none'"
        if response is not None:
            response.headers["Content-Security-Policy"] = policy
            response.headers["Referrer-Policy"] = "no-referrer"
            response.headers["Cache-Control"] = "no-store"
        return response

    return guarded


def _response(status: HTTPStatus, kind: str, text: str) -> Response:
    body = text.encode()
    headers = Headers({"Content-Type": kind, "Content-Length": str(len(body))})
    return Response(status, status.phrase, headers, body)
