"""A server on loopback that misbehaves on demand. Raw sockets: http.server cannot cut off, reset or lie about lengths.

`plan` maps a source id to a list of behaviours, one a request, the last one for all further requests; a behaviour is a function
(connection, request) that writes raw bytes, or None for the source's good answer."""
import gzip
import json
import socket
import ssl
import struct
import threading
import time

import answers


class Request:
    def __init__(self, line, headers, body):
        self.method, self.target = line.split(" ")[:2]
        self.headers, self.body = headers, body
        self.source = self.target.lstrip("/").split("/")[0]


def respond(connection, body, status="200 OK", content_type="application/json", headers=(), length=None):
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
    head = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", f"Content-Length: {len(body) if length is None else length}",
            "Connection: close", *headers]
    connection.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)


def raw(text):
    return lambda connection, request: connection.sendall(text)


def status(code, *headers, body=b"{}"):
    return lambda connection, request: respond(connection, body, status=f"{code} X", headers=headers)


def body(content, content_type="application/json", *headers, **more):
    return lambda connection, request: respond(connection, content, content_type=content_type, headers=headers, **more)


def silent(connection, request):
    time.sleep(4)


def drip(connection, request):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(40):
        connection.sendall(b" ")
        time.sleep(0.1)


def hang_up(connection, request):
    pass


def reset(connection, request):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"Items\":[")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def cut_length(connection, request):
    respond(connection, b'{"Items":[', length=1000)


def cut_chunked(connection, request):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"Items\"\r\n")


def cut_http10(connection, request):
    connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"Items\":[{\"a\":")


def half_gzip(content, content_type="application/json"):
    def behave(connection, request):
        packed = gzip.compress(content)
        respond(connection, packed[:len(packed) // 2], content_type=content_type, headers=("Content-Encoding: gzip",))
    return behave


def good_gzip(connection, request):
    kind, content = answers.good(request.target)
    respond(connection, gzip.compress(content), content_type=kind, headers=("Content-Encoding: gzip",))


def bad_gzip_crc(connection, request):
    kind, content = answers.good(request.target)
    packed = bytearray(gzip.compress(content))
    packed[-8] ^= 0xFF
    respond(connection, bytes(packed), content_type=kind, headers=("Content-Encoding: gzip",))


def plain_as_gzip(connection, request):
    kind, content = answers.good(request.target)
    respond(connection, content, content_type=kind, headers=("Content-Encoding: gzip",))


BOMB = gzip.compress(b" " * (100 << 20), 1)


def gzip_bomb(connection, request):
    respond(connection, BOMB, headers=("Content-Encoding: gzip",))


def chunked_bomb(connection, request):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    for _ in range(200):
        connection.sendall(chunk)


def huge_declared(connection, request):
    respond(connection, b"{", length=5 << 30)


def redirect(where, code=302):
    return lambda connection, request: respond(connection, b"", status=f"{code} X", headers=(f"Location: {where}",))


def to_self(connection, request):
    respond(connection, b"", status="302 X", headers=(f"Location: {request.target}",))


class Server:
    def __init__(self, plan=None, certificate=None):
        self.plan = plan or {}
        self.requests = []
        self.lock = threading.Lock()
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.handle, args=(connection,), daemon=True).start()

    def read(self, connection):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return None
            data += piece
        head, content = data.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        headers = {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip() for line in lines[1:]}
        while len(content) < int(headers.get("content-length", 0)):
            content += connection.recv(65536)
        return Request(lines[0], headers, content)

    def behaviour(self, request):
        with self.lock:
            seen = sum(1 for earlier in self.requests if earlier.source == request.source)
            self.requests.append(request)
        steps = self.plan.get(request.source, [None])
        return steps[min(seen, len(steps) - 1)]

    def handle(self, connection):
        try:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            with connection:
                request = self.read(connection)
                if not request:
                    return
                behave = self.behaviour(request)
                if behave:
                    behave(connection, request)
                    return
                answer = answers.good(request.target)
                if answer:
                    respond(connection, answer[1], content_type=answer[0])
                else:
                    respond(connection, b"not found", status="404 Not Found", content_type="text/plain")
        except (OSError, ssl.SSLError):
            pass

    def count(self, source):
        return sum(1 for request in self.requests if request.source == source)

    def close(self):
        self.socket.close()
