# SPDX-License-Identifier: Apache-2.0

"""The fields of nouns in answers: one row for each says all that the API needs to know of it.

From a table of them come the text of an answer at each microversion, the schema in the
OpenAPI document, and the names that ``fields`` selects.
"""

from __future__ import annotations

import dataclasses
import datetime
import operator
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.api.http import dates
from climate.api.http.json_schema import Json
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_0
from climate.domain.history import Line

PLAIN: Final = 'plain'
"""How values are written that need no conversion; in text, such as ids and states."""

# How values are written in text for which the writer need not be called, or not always.
_INLINE: Final = {
    PLAIN: '"{$}"',
    'boolean': '{"true" if $ else "false"}',
    'given': '{"false" if $ is None else "true"}',
    'number': '{$ or 0}',
    'null': 'null',
}
# What is mostly None, for which the writer need not be called.
_NULLABLE: Final = frozenset({'json', 'readiness', 'stored_date'})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class AnswerField:
    """A field of a noun.

    :ivar name: its key
    :ivar of: the attribute that has its value, if it is called otherwise; with dots, one of it
    :ivar write: the attribute of the writer of the noun that returns the value as JSON
    :ivar schema: of the value
    :ivar since: the first microversion that has it
    :ivar optional: whether it may be left out
    """

    name: str
    write: str
    schema: Json
    of: str = ''
    since: Microversion = V1_0
    optional: bool = False

    @property
    def source(self) -> str:
        """The attribute that has its value."""
        return self.of or self.name


def row(fields: Iterable[AnswerField], names: Iterable[str]) -> Callable[..., str]:
    """Return a function that writes an object with these fields as JSON.

    It is compiled from one f-string, as the standard library compiles named tuples: a list has
    thousands of objects, and to look up each field of each would take twice as long.

    :param names: of what the fields are ``of``: arguments of the function, after the writer,
        which has what they ``write``
    """
    return _compiled(f'lambda to, {", ".join(names)}: {_text(fields, "to.")}')


def array(
    fields: Iterable[AnswerField],
    given: str,
    loops: Iterable[tuple[str, str]],
    *,
    where: str = 'True',
    first: str = '',
) -> Callable[..., list[str]]:
    """Return a function that writes objects as :func:`row` does, without a call for each.

    It also looks up what they ``write`` once for all.

    :param given: the names of the arguments of the function, after the writer
    :param loops: names, and what they are the values of; those of all loops are what the
        fields are ``of``
    :param where: the condition on which an object is written, in terms of these names
    :param first: what each begins with, such as the text of other fields
    """
    fields = tuple(fields)
    used = sorted({field.write for field in fields if field.write not in _INLINE})
    own = [(f'write_{name}', f'[to.{name}]') for name in used]
    steps = ' '.join(f'for {names} in {values}' for names, values in (*own, *loops))
    return _compiled(f'lambda to, {given}: [{_text(fields, "write_", first)} {steps} if {where}]')


def _compiled(source: str) -> Callable[..., Any]:
    writer: Callable[..., Any] = eval(source)  # noqa: S307  made of names in the code  # nosec B307
    return writer


def _text(fields: Iterable[AnswerField], writer: str, first: str = '') -> str:
    pieces = ', '.join(_piece(field, writer) for field in fields)
    return f"f'{{{{{first}{pieces}}}}}'"


def _piece(field: AnswerField, writer: str) -> str:
    call = '{"null" if $ is None else @($)}' if field.write in _NULLABLE else '{@($)}'
    value = _INLINE.get(field.write, call).replace('@', f'{writer}{field.write}')
    return f'"{field.name}": {value.replace("$", field.source)}'


class ObjectWriter:
    """Writes the values of fields for an encoder of JSON, at one microversion."""

    def __init__(self, version: Microversion) -> None:
        self._version = version

    def plain(self, value: Any) -> Any:
        """Return a value that JSON has."""
        return value

    def array(self, value: Iterable[Any]) -> list[Any]:
        """Return a list."""
        return list(value)

    def mapping(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object with any keys."""
        return dict(value)

    def date(self, value: datetime.datetime | None) -> str | None:
        """Return an instant."""
        return dates.write(value, self._version)

    def text(self, value: int | None) -> str | None:
        """Return the id of a resource."""
        return None if value is None else str(value)

    def lines(self, value: Iterable[Line]) -> list[dict[str, Any]]:
        """Return what an effect has said, and when."""
        return [{'at': self.date(line.at), 'text': line.text} for line in value]


def shown(fields: Iterable[AnswerField], version: Microversion, value: object) -> dict[str, Any]:
    """Return an object with these fields, for an encoder of JSON.

    Where an answer can be long, :func:`row` is faster.
    """
    writer = ObjectWriter(version)
    return {
        field.name: getattr(writer, field.write)(operator.attrgetter(field.source)(value))
        for field in at(fields, version)
    }


def at(fields: Iterable[AnswerField], version: Microversion) -> tuple[AnswerField, ...]:
    """Return the fields that a microversion has, in order."""
    return tuple(field for field in fields if version >= field.since)


def properties(fields: Iterable[AnswerField], version: Microversion) -> Json:
    """Return the schemas of the fields that a microversion has, by name."""
    return {field.name: field.schema for field in at(fields, version)}


def optional(fields: Iterable[AnswerField]) -> tuple[str, ...]:
    """Return the names of the fields that may be left out."""
    return tuple(field.name for field in fields if field.optional)
