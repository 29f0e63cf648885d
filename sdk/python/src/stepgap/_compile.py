"""Compiles a message class to the function that writes it and the one that reads it.

As `dataclasses` does for `__init__`, the functions are written out once for a class,
field by field, since a trainer reads tens of thousands of rewards a second.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable
from typing import Any

from .errors import WireError

Writer = Callable[[Any], dict[str, Any]]
Reader = Callable[[dict[str, Any], str], Any]


class Codec(typing.NamedTuple):
    """How one class is written to a map and read from one."""

    write: Writer
    read: Reader


_ZEROS: dict[type, str] = {str: "''", int: "0", bool: "False", bytes: "b''"}
_codecs: dict[type, Codec] = {}


def codec_of(cls: type) -> Codec:
    """The codec of a message class; compiled when first asked for."""
    if cls not in _codecs:
        _codecs[cls] = _compile(cls)
    return _codecs[cls]


def finite(value: float) -> float:
    """The number, unless it is none."""
    if not math.isfinite(value):
        raise WireError(f"{value} is not a number; one that was not given is left out")
    return float(value)


def _scalar(value: object, kind: type, at: str) -> Any:
    """A value that is not of the kind expected: nil is the kind's zero, else it is refused."""
    if value is None:
        return kind()
    raise WireError(f"{at} is a {type(value).__name__}, not a {kind.__name__}")


def _number(value: object, at: str) -> float | None:
    if value is None:
        return None
    if type(value) is int or type(value) is float:
        return finite(value)
    raise WireError(f"{at} is a {type(value).__name__}, not a number")


def _list(value: object, at: str) -> list[Any]:
    if value is None:
        return []
    if type(value) is list:
        return value
    raise WireError(f"{at} is a {type(value).__name__}, not an array")


def _map(value: object, at: str) -> dict[Any, Any]:
    if value is None:
        return {}
    if type(value) is dict:
        return value
    raise WireError(f"{at} is a {type(value).__name__}, not a map")


def _texts(value: object, at: str) -> list[str]:
    texts = _list(value, at)
    for text in texts:
        if type(text) is not str:
            _scalar(text, str, f"{at}[]")
    return ["" if text is None else text for text in texts]


def _text_map(value: object, at: str) -> dict[str, str]:
    pairs = _map(value, at)
    for key, text in pairs.items():
        if type(key) is not str or type(text) is not str:
            raise WireError(f"{at} is not a map of strings")
    return pairs


class _Source:
    """The source of the two functions, and the names that they use."""

    def __init__(self, cls: type) -> None:
        self.names: dict[str, Any] = {
            "cls": cls,
            "finite": finite,
            "scalar": _scalar,
            "number": _number,
            "as_list": _list,
            "as_map": _map,
            "texts": _texts,
            "text_map": _text_map,
        }
        self.write = ["def write(o):", " d = {}"]
        self.read = ["def read(m, at):", " g = m.get"]
        self.arguments: list[str] = []

    def nested(self, cls: type) -> str:
        codec = codec_of(cls)
        self.names[f"write_{cls.__name__}"] = codec.write
        self.names[f"read_{cls.__name__}"] = codec.read
        return cls.__name__

    def add(self, name: str, hint: Any, key: str, always: bool) -> None:
        expression, presence = self._writing(hint)
        test = "" if always else f" if {presence}:"
        self.write += [f" v = o.{name}", f"{test} d[{key!r}] = {expression}"]
        self.read += self._reading(name, hint, key)
        self.arguments.append(name)  # fields of the wire come first, in its order

    def _writing(self, hint: Any) -> tuple[str, str]:
        """The expression that writes v, and the test whether v is anything."""
        inner = _optional(hint)
        if hint is float or inner is float:
            return "finite(v)", "v is not None"
        if inner is not None:
            return f"write_{self.nested(inner)}(v)", "v is not None"
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin is list and dataclasses.is_dataclass(args[0]):
            assert isinstance(args[0], type)
            return f"[write_{self.nested(args[0])}(x) for x in v]", "v"
        if origin is list:
            return "list(v)", "v"
        if origin is dict:
            return "dict(sorted(v.items()))", "v"
        if dataclasses.is_dataclass(hint):
            assert isinstance(hint, type)
            return f"write_{self.nested(hint)}(v)", "v is not None"
        return "v", "v"

    def _reading(self, name: str, hint: Any, key: str) -> list[str]:
        # Paths are only put together where something is wrong.
        get, at = f" {name} = g({key!r})", f"f'{{at}}.{name}'"
        inner = _optional(hint)
        if hint is float or inner is float:
            # A number minus itself is 0, unless it is NaN or infinite.
            lines = [f"type({name}) is not float or {name} - {name} != 0.0: {name} = number({name}, {at})"]
            if inner is float:
                return [get, f" if {name} is not None and ({lines[0].replace(': ', '): ', 1)}"]
            return [get, f" if {lines[0]}", f" if {name} is None: scalar('nothing', float, {at})"]
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin is list and dataclasses.is_dataclass(args[0]):
            assert isinstance(args[0], type)
            read = f"read_{self.nested(args[0])}"
            items = f"[{read}(x if type(x) is dict else as_map(x, {at}), '{name}') for x in {name}]"
            return [
                get,
                f" if type({name}) is not list: {name} = as_list({name}, {at})",
                f" {name} = {items}",
            ]
        if origin is list:
            return [get, f" {name} = texts({name}, {at}) if {name} is not None else []"]
        if origin is dict:
            return [get, f" {name} = text_map({name}, {at}) if {name} is not None else {{}}"]
        cls = inner if inner is not None else hint
        if dataclasses.is_dataclass(cls):
            assert isinstance(cls, type)
            value = f"read_{self.nested(cls)}({name}, '{name}')"
            check = f"if type({name}) is not dict: {name} = as_map({name}, {at})"
            if inner is not None:
                return [get, f" if {name} is not None:", f"  {check}", f"  {name} = {value}"]
            return [get, f" {check}", f" {name} = {value}"]
        kind = str if origin is typing.Literal else hint
        return [
            f" {name} = g({key!r}, {_ZEROS[kind]})",
            f" if type({name}) is not {kind.__name__}: {name} = scalar({name}, {kind.__name__}, {at})",
        ]

    def compile(self) -> Codec:
        self.write.append(" return d")
        self.read.append(f" return cls({', '.join(self.arguments)})")
        exec("\n".join([*self.write, *self.read]), self.names)  # noqa: S102 (our own source)
        return Codec(self.names["write"], self.names["read"])


def _optional(hint: Any) -> Any:
    """T of `T | None`; None for any other hint."""
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return next(a for a in typing.get_args(hint) if a is not type(None))
    return None


def _compile(cls: type) -> Codec:
    hints = typing.get_type_hints(cls)
    source = _Source(cls)
    for f in dataclasses.fields(cls):
        if "key" in f.metadata:
            source.add(f.name, hints[f.name], f.metadata["key"], f.metadata["always"])
    return source.compile()
