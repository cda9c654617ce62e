"""The standard library's `dataclass`, made in a tenth of the time: a cold command defines sixty of them.

`dataclasses` compiles six methods for a frozen class, 0.7 ms; together that was 45 ms of a cold recall's 300. Here the
methods are shared but for `__init__`, which the library makes once a class has been used some times: most are used
once or twice in a process. Fields, defaults, `replace`, `fields` and `asdict` are the library's own; equality, hash and
refusals are the same (a test compares them).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

#: Instances of a class that are made field by field; compiling its `__init__` takes as long as a hundred of them.
FEW = 32

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, *, frozen: bool = False) -> Any:
        """Like `dataclasses.dataclass`: a class of fields, comparable; hashable if frozen."""
        return _made(cls, frozen) if cls else lambda given: _made(given, frozen)


def _made(cls: type, frozen: bool) -> type:
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
    for name, method in ({**_SHARED, **_FROZEN} if frozen else _SHARED).items():
        if name not in cls.__dict__:
            setattr(made, name, method)

    left = iter(range(FEW))

    def __init__(self: Any, *args: Any, **values: Any) -> None:  # noqa: N807 - becomes the method
        if next(left, None) is None or not _bind(self, made.__dataclass_fields__, args, values):
            made.__init__ = _init(made)
            made.__init__(self, *args, **values)

    made.__init__ = __init__
    return made  # type: ignore[no-any-return]


def _bind(to: Any, fields: dict[str, Any], args: tuple[Any, ...], values: dict[str, Any]) -> bool:
    """Set the fields as the class's `__init__` would; False, and nothing done, where that would refuse."""
    given = dict(zip(fields, args, strict=False))
    if len(args) > len(fields) or not given.keys().isdisjoint(values):
        return False
    given |= values
    for name, field in fields.items():
        if name not in given and field.default_factory is not dataclasses.MISSING:
            given[name] = field.default_factory()
        elif name not in given and field.default is not dataclasses.MISSING:
            given[name] = field.default
    if given.keys() != fields.keys():
        return False
    for name, value in given.items():
        object.__setattr__(to, name, value)
    return True


def _init(cls: Any) -> Any:
    """The class's `__init__`, as the library writes it for a frozen class of the same fields."""
    given = [
        (field.name, Any, dataclasses.field(default=field.default))
        if field.default_factory is dataclasses.MISSING
        else (field.name, Any, dataclasses.field(default_factory=field.default_factory))
        for field in dataclasses.fields(cls)
    ]
    made: Any = dataclasses.make_dataclass(cls.__name__, given, frozen=True, repr=False, eq=False)
    return made.__init__


def _values(of: Any) -> tuple[Any, ...]:
    return tuple(getattr(of, name) for name in of.__dataclass_fields__)


def _eq(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
    return f"{type(self).__qualname__}({shown})"


def _hash(self: Any) -> int:
    return hash(_values(self))


def _refuse_set(_: Any, name: str, value: object) -> None:  # noqa: ARG001 - as `__setattr__` is called
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(_: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


_SHARED = {"__eq__": _eq, "__repr__": _repr, "__hash__": None}
_FROZEN = {"__hash__": _hash, "__setattr__": _refuse_set, "__delattr__": _refuse_delete}
