# SPDX-License-Identifier: Apache-2.0

"""Frozen settings: dataclasses whose fields name options, which define the defaults.

::

    @dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
    class Pauses(Settings):
        first: float = option('manager', 'retry_first_pause')
        check: datetime.timedelta = option('manager', 'check_interval', seconds)

``Pauses.from_conf(conf)`` reads a configuration, and ``Pauses()`` has the
defaults of the options.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import pathlib
from collections.abc import Callable
from typing import Any
from typing import Self

from climate import conf as groups

_READ = 'climate.conf.settings'


class Settings:
    """Base of a dataclass whose fields are made by :func:`option` and :func:`part`."""

    __slots__ = ()

    @classmethod
    def from_conf(cls, conf: Any) -> Self:
        """Return the settings that *conf* (an oslo.config ConfigOpts) holds."""
        return cls(**values(cls, conf))


def option(
    group: str, name: str, convert: Callable[[Any], Any] | None = None, *, secret: bool = False
) -> Any:
    """Return a dataclass field that holds an option.

    :param convert: converts the value of the option to that of the field; None keeps
        it
    :param secret: whether to leave the value out of the representation
    :raises KeyError: if there is no such option
    """

    def read(conf: Any) -> Any:
        value = conf[group][name]
        return convert(value) if convert else value

    default = _defaults()[group, name]
    return dataclasses.field(
        default=convert(default) if convert else default, repr=not secret, metadata={_READ: read}
    )


def part(settings: Any) -> Any:
    """Return a dataclass field that holds other settings.

    :param settings: their class, with ``from_conf``
    """
    return dataclasses.field(default_factory=settings, metadata={_READ: settings.from_conf})


def values(settings: Any, conf: Any) -> dict[str, Any]:
    """Return the values in *conf* of the fields of a class of settings, by name."""
    fields = dataclasses.fields(settings)
    return {each.name: each.metadata[_READ](conf) for each in fields if _READ in each.metadata}


def as_text(value: str | None) -> str:
    """Return the value of a text option, or '' if it is not set."""
    return value or ''


def as_path(value: str | None) -> pathlib.Path | None:
    """Return the value of an option that names a file or a folder; None if not set."""
    return pathlib.Path(value) if value else None


def seconds(value: float) -> datetime.timedelta:
    """Return a duration that is given in seconds."""
    return datetime.timedelta(seconds=value)


def days(value: float) -> datetime.timedelta:
    """Return a duration that is given in days."""
    return datetime.timedelta(days=value)


def minutes(value: float) -> datetime.timedelta:
    """Return a duration that is given in minutes."""
    return datetime.timedelta(minutes=value)


@functools.cache
def _defaults() -> dict[tuple[str, str], Any]:
    return {
        (group, each.dest): each.default
        for module in groups.modules()
        for group, options in groups.list_opts(module).items()
        for each in options
    }
