# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Access to web_view's page."""

import http.client
import socket
import ssl
import subprocess
import urllib.error
import urllib.request

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync import client

from basis_ik.extras.web_view import gate as gates
from basis_ik.extras.web_view.gate import Gate, GateError, OwnPage, is_loopback, listen, open_server

HERE = Gate("127.0.0.1", 8080)
OUT = Gate("0.0.0.0", 8080, "secret")
SAFE = Gate("0.0.0.0", 8443, "secret", encrypted=True)
REMOTE = "192.0.2.5"
PATIENCE = 300.0  # s: only ends what hangs


def connect(url, **given):
    return client.connect(url, open_timeout=PATIENCE, **given)


async def echo(connection):
    async for text in connection:
        await connection.send(f"own: {text}")


OWN = OwnPage("<p>own page</p>", echo)


def asked(gate, target="/", host="127.0.0.1:8080", origin=None, reached="127.0.0.1"):
    return gate.refusal(target, host, origin, reached)


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080"])
def test_the_page_itself_is_let_in(host):
    assert asked(HERE, host=host) is None
    assert asked(HERE, host=host, origin=f"http://{host}") is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8080",
        "127.0.0.1:8081",
        "127.0.0.1",
        "",
        "[::1:8080",
        "127.0.0.1:x",
        "0.0.0.0:8080",
    ],
)
def test_another_host_is_refused(host):
    assert "Host" in asked(HERE, host=host)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:8081", "https://127.0.0.1:8080", ""]
)
def test_another_origin_is_refused(origin):
    assert asked(HERE, origin=origin) == "another site asks"


@pytest.mark.parametrize(
    "query",
    ["websocket=ws://evil.example", "playbackPath=x", "websocket=ws://127.0.0.1:8080/x", "x",
     "websocket=ws://127.0.0.1:8080&websocket=ws://evil.example"],
)  # fmt: skip
def test_a_query_that_connects_to_another_server_is_refused(query):
    assert asked(HERE, f"/?{query}") == "the address has a query"


def test_the_pages_own_query_is_let_in():
    assert asked(HERE, "/?websocket=ws://127.0.0.1:8080") is None
    target, host = f"/secret/?websocket=ws://{REMOTE}:8080/secret", f"{REMOTE}:8080"
    assert asked(OUT, target, host, reached=REMOTE) is None


def test_away_from_this_machine_the_token_is_required():
    host = f"{REMOTE}:8080"
    for target in (
        "/",
        "/?secret",
        "/secretly",
        "/Secret",
        "/x/secret",
        "//secret",
        "*",
        "",
    ):
        assert "token" in asked(OUT, target, host, reached=REMOTE)
    for target in ("/secret", "/secret/", "/secret/index.html"):
        assert asked(OUT, target, host, reached=REMOTE) is None
    assert "token" in asked(OUT)  # also from here
    assert OUT.inside("/secret") == ""
    assert OUT.inside("/secret/a") == "/a"
    assert HERE.inside("/a") == "/a"


def test_addresses_and_names_of_the_machine_are_valid_hosts():
    name = socket.gethostname()
    for host in (f"{REMOTE}:8080", f"{name}:8080", f"{name}.local:8080"):
        assert asked(OUT, "/secret", host, reached=REMOTE) is None
    assert "Host" in asked(OUT, "/secret", "192.0.2.6:8080", reached=REMOTE)
    assert "Host" in asked(OUT, "/secret", "localhost:8080", reached=REMOTE)
    assert (
        asked(Gate("robot.lan", 8080, "secret"), "/secret", "robot.lan:8080", None, REMOTE) is None
    )


def test_the_printed_address_can_be_opened():
    assert HERE.url == "http://127.0.0.1:8080/"
    assert OUT.url == f"http://{socket.gethostname()}:8080/secret"
    assert Gate("::1", 8080).url == "http://[::1]:8080/"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), (REMOTE, False), ("robot.lan", False), ("", False)],
)  # fmt: skip
def test_loopback_addresses_are_recognised(host, loopback):
    assert is_loopback(host) == loopback


def test_a_taken_port_is_an_error_if_given_otherwise_the_next_is_used(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(GateError, match=f"port {port} is taken; give another one, or none"):
            listen("127.0.0.1", port)
        monkeypatch.setattr(gates, "FIRST_PORT", port)
        with listen("127.0.0.1", 0) as other:
            assert other.getsockname()[1] > port
        monkeypatch.setattr(gates, "TRIED_PORTS", 1)
        with pytest.raises(GateError, match=f"ports {port} to {port} are taken"):
            listen("127.0.0.1", 0)


@pytest.mark.parametrize("host", [REMOTE, "no-such-host.invalid"])
def test_a_host_that_is_not_this_machine_is_refused(host):
    with pytest.raises(GateError, match=f"cannot listen on {host}"):
        listen(host, 0)


@pytest.fixture
def served():
    servers = []

    def serve(host="127.0.0.1", certificate=""):
        server, gate = open_server(host, 0, OWN, certificate)
        servers.append(server)
        return gate

    yield serve
    for server in servers:
        server.stop()


def get(url, context=None, **headers):
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, context=context) as response:
            return response.status, response.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_the_server_asks_the_gate(served, capfd):
    gate = served()
    status, headers = get(gate.url)
    assert status == 200
    assert f"connect-src 'self' ws://127.0.0.1:{gate.port} " in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    refusal = "web_view: the header Host names another server\n"
    assert get(gate.url, Host="evil.example") == (403, refusal)
    assert get(gate.url, Origin="http://evil.example") == (403, "web_view: another site asks\n")
    socket_url, page = gate.url.replace("http", "ws"), gate.url.rstrip("/")
    with pytest.raises(InvalidStatus, match="403"):
        connect(socket_url, origin="http://evil.example", subprotocols=["viser-v1.1.1"])
    with connect(socket_url, origin=page, subprotocols=["viser-v1.1.1"]) as connection:
        assert connection.recv(timeout=30)
    assert capfd.readouterr().out == ""  # viser is silent


def test_with_a_token_page_and_socket_are_below_it(served):
    gate = served("0.0.0.0")
    base = f"http://127.0.0.1:{gate.port}"
    assert len(gate.token) >= 16
    assert get(base)[0] == 403
    assert get(f"{base}/{gate.token}")[0] == 200
    assert get(f"{base}/{gate.token}/../{gate.token}x")[0] in (403, 404)
    with pytest.raises(InvalidStatus, match="403"):
        connect(base.replace("http", "ws"), subprotocols=["viser-v1.1.1"])
    url = f"ws://127.0.0.1:{gate.port}/{gate.token}"
    with connect(url, subprotocols=["viser-v1.1.1"]) as connection:
        assert connection.recv(timeout=30)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_our_own_page_and_its_socket_are_behind_the_same_gate(served, host):
    gate = served(host)
    url = f"http://127.0.0.1:{gate.port}{gate.own_page}"
    assert url.endswith(f"{gate.token}/hand")
    status, headers = get(url)
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    policy = headers["Content-Security-Policy"]
    assert f"connect-src ws://127.0.0.1:{gate.port};" in policy
    assert "frame-ancestors 'self'; default-src 'none'" in policy
    assert get(url, Origin="http://evil.example") == (403, "web_view: another site asks\n")
    with connect(url.replace("http", "ws")) as connection:
        connection.send("x")
        assert connection.recv(timeout=30) == "own: x"
    with pytest.raises(InvalidStatus, match="403"):
        connect(url.replace("http", "ws"), origin="http://evil.example")
    if gate.token:
        with pytest.raises(InvalidStatus, match="403"):
            connect(f"ws://127.0.0.1:{gate.port}/hand")


def certificate_for(folder):
    """Make a certificate for this machine, by the command of docs/web_view.md."""
    file = folder / "robot.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "365",
         "-subj", "/CN=robot", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", file, "-out", file],
        check=True, capture_output=True,
    )  # fmt: skip
    return str(file)


def test_with_a_certificate_all_is_encrypted(served, tmp_path):
    file = certificate_for(tmp_path)
    gate = served("0.0.0.0", file)
    assert gate.url.startswith("https://")
    context = ssl.create_default_context(cafile=file)
    page = f"https://127.0.0.1:{gate.port}/{gate.token}"
    for url in (page, f"{page}/hand"):
        status, headers = get(url, context)
        assert status == 200
        assert f"wss://127.0.0.1:{gate.port}" in headers["Content-Security-Policy"]
    own = f"https://127.0.0.1:{gate.port}"
    with connect(f"wss{page[5:]}/hand", ssl=context, origin=own) as connection:
        connection.send("x")
        assert connection.recv(timeout=30) == "own: x"
    with connect(f"wss{page[5:]}", ssl=context, subprotocols=["viser-v1.1.1"]) as connection:
        assert connection.recv(timeout=30)
    with pytest.raises((OSError, http.client.HTTPException)):
        urllib.request.urlopen(page.replace("https", "http"))


def test_names_of_an_encrypted_server():
    host = f"{REMOTE}:8443"
    for origin in (None, f"https://{host}"):
        assert asked(SAFE, "/secret", host, origin, REMOTE) is None
    assert asked(SAFE, "/secret", host, f"http://{host}", REMOTE) == "another site asks"
    query = f"/secret?websocket=wss://{host}/secret"
    assert asked(SAFE, query, host, None, REMOTE) is None
    assert asked(Gate(REMOTE, 443, "", True), "/", REMOTE, None, REMOTE) is None


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_a_certificate_that_cannot_be_used_is_named(tmp_path, text):
    file = tmp_path / "x.pem"
    if text is not None:
        file.write_text(text)
    remedy = "give a PEM file with a certificate and its private key"
    with pytest.raises(GateError, match=f"cannot use the certificate {file}: .*; {remedy}"):
        open_server("127.0.0.1", 0, OWN, str(file))


def test_another_token_each_time(served):
    assert served("0.0.0.0").token != served("0.0.0.0").token


def test_a_viser_that_cannot_be_guarded_is_not_used(monkeypatch):
    class Unguarded:
        def __init__(self, **_):
            self.stopped = False

        def stop(self):
            self.stopped = True

    monkeypatch.setattr(gates, "_Server", Unguarded)
    with pytest.raises(GateError, match="cannot be guarded"):
        open_server("127.0.0.1", 0, OWN)


def test_public_tunnels_are_refused():
    assert gates._Server.request_share_url(None) is None
