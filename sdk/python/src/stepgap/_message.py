"""A message as it came from the server; its headers are read when they are asked for."""

from __future__ import annotations

__all__ = ["Message", "read_headers"]


class Message:
    """A message on a subject. Headers of its status are "Status" and "Description"."""

    __slots__ = ("_headers", "_raw_headers", "data", "raw_reply", "subject")

    def __init__(self, subject: str, reply: bytes, data: bytes, headers: bytes | None) -> None:
        self.subject = subject
        self.raw_reply = reply
        self.data = data
        self._raw_headers = headers
        self._headers: dict[str, str] | None = None

    @property
    def headers(self) -> dict[str, str]:
        """Its headers; empty if it has none."""
        if self._headers is None:
            self._headers = read_headers(self._raw_headers) if self._raw_headers else {}
        return self._headers

    @headers.setter
    def headers(self, headers: dict[str, str]) -> None:
        self._headers = headers

    @property
    def raw_headers(self) -> bytes | None:
        """The header block as it came, where it came as bytes."""
        return self._raw_headers


def read_headers(block: bytes) -> dict[str, str]:
    """The headers in a block that starts with "NATS/1.0" and, on some, a status."""
    first, *lines = block.decode("utf-8", "replace").split("\r\n")
    headers: dict[str, str] = {}
    status = first[len("NATS/1.0") :].strip()
    if status:
        headers["Status"], _, description = status.partition(" ")
        if description:
            headers["Description"] = description
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip()] = value.strip()
    return headers
