"""One request at a time, for checks: what a server answers, in full."""
import hashlib
import http.client
import socket
import ssl
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    status: int
    fields: dict  # names in lower case
    length: int
    digest: str  # of the body
    protocol: str  # the TLS version, or None


def _trusting(alpn=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if alpn:
        context.set_alpn_protocols(alpn)
    return context


def get(port, path, fields=None, tls=False, timeout=30):
    """Asks 127.0.0.1; raises OSError when there is no sound answer."""
    if tls:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=_trusting())
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", path, headers=fields or {})
        protocol = connection.sock.version() if tls else None
        response = connection.getresponse()
        digest, length = hashlib.sha256(), 0
        for piece in iter(lambda: response.read(1 << 20), b""):
            digest.update(piece)
            length += len(piece)
        return Answer(response.status, {n.lower(): v for n, v in response.getheaders()}, length, digest.hexdigest(),
                      protocol)
    except http.client.HTTPException as e:
        raise OSError(f"no sound answer: {e!r}") from e
    finally:
        connection.close()


def speaks_http2(port):
    """Whether a TLS port agrees on HTTP/2 (ALPN)."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
        with _trusting(["h2", "http/1.1"]).wrap_socket(plain) as secure:
            return secure.selected_alpn_protocol() == "h2"


def speaks_h2c(port):
    """Whether a port without TLS speaks HTTP/2 by prior knowledge (RFC 9113 s3.3): it answers the preface with SETTINGS."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)))
        head = b""
        while len(head) < 9:
            piece = client.recv(9 - len(head))
            if not piece:
                return False
            head += piece
        return head[3] == 4 and head[5:] == bytes(4)


def get_over_unix_socket(path, target):
    """The body of an answer from a Unix socket, as text."""
    return over_unix_socket(path, "GET", target)


def over_unix_socket(path, method, target, content=None, timeout=10):
    """The body of the answer to a request, as text. The content is JSON."""
    class Connection(http.client.HTTPConnection):
        def connect(self):
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.settimeout(timeout)
            self.sock.connect(path)

    connection = Connection("localhost")
    try:
        connection.request(method, target, content, {} if content is None else {"Content-Type": "application/json"})
        return connection.getresponse().read().decode()
    except http.client.HTTPException as e:
        raise OSError(f"no sound answer: {e!r}") from e
    finally:
        connection.close()
