# SPDX-License-Identifier: Apache-2.0

"""The request of a resource type, declared once.

A request is a frozen dataclass whose fields are annotated with their kind
(:mod:`climate.plugins.fields`)::

    @dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
    class ScopeRequest(Request):
        amount: Annotated[int, fields.Count('How many telescopes.')]
        filter: Annotated[str, fields.Text('The filter to mount.', fixed=Fixed.RUNNING)] = ''

Climate derives from it how to read and change a body, the JSON schema of the
body, the stored form, and the list of fields for documents and command lines.
Fields without a kind are stored, but clients cannot set them.

Only values that clients send are validated. The constructor accepts any value,
so that requests stored by an earlier release can still be loaded.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import typing
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar
from typing import Generic
from typing import Self
from typing import TypeVar

import pydantic

from climate import exceptions
from climate.plugins import declared
from climate.plugins import plain
from climate.plugins import schemas
from climate.plugins.declared import DeclaredField
from climate.plugins.fields import Fault
from climate.plugins.fields import Fixed
from climate.plugins.fields import Kind


class Request:
    """Base of the requests of resource types."""

    __slots__ = ()

    rules: ClassVar[Mapping[str, Any]] = {}
    """Keywords of the JSON schema for fields that depend on each other."""
    unstated: ClassVar[tuple[str, ...]] = ()
    """Rules that a JSON schema cannot state, as sentences."""

    def check(self) -> None:
        """Refuse fields that contradict each other.

        :raises climate.exceptions.InvalidInput: naming one of them and the reason
        """

    @classmethod
    def complete(
        cls,
        values: dict[str, Any],
        given: Collection[str],  # noqa: ARG003  subclasses use it
        before: Self | None,  # noqa: ARG003  the same reason
    ) -> dict[str, Any]:
        """Return the attributes that a body sets, derived from those that it names.

        :param given: the keys of the body that have a value
        :param before: the request to change; None for a new one
        :raises climate.exceptions.InvalidInput: if they contradict each other
        """
        return values

    def check_change(self, before: Self, given: Collection[str], *, running: bool) -> None:
        """Refuse a change that the request *before* it does not allow.

        :param given: the keys of the body that have a value
        :param running: whether the lease has started
        :raises climate.exceptions.CantUpdateParameter: if a field is fixed
        """


R = TypeVar('R', bound=Request)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """A field as documents and command lines show it.

    :ivar kind: ``integer``, ``text``, ``boolean``, ``UUID``, ``requirement`` or ``list``
    :ivar bounds: the limits of a value, in words; '' if there are none
    :ivar default: the default as clients would send it; None if they cannot send it
    :ivar fixed: when it can no longer be changed
    :ivar blank: whether an empty text means "not given", as null does
    """

    name: str
    kind: str
    bounds: str
    required: bool
    default: Any
    fixed: Fixed
    about: str
    blank: bool = False


class Model(Generic[R]):
    """The reader, the stored form and the schema derived from a class of requests.

    :ivar requirement_keys: the fields of a body that are requirements
    """

    def __init__(self, request: type[R]) -> None:
        self._request = request
        fields = declared.of(request)
        self._fields = [each for each in fields if each.field is not None]
        self._stored = [each for each in fields if each.field is None or each.field.kept]
        self._keys = {each.key for each in self._fields}
        self.requirement_keys = tuple(
            each.key for each in self._fields if each.field and each.field.kind == 'requirement'
        )
        self._groups: dict[str, set[str]] = {}
        for each in self._stored:
            if each.field is not None and each.field.within:
                self._groups.setdefault(each.field.within, set()).add(each.key)

    # -- what a client sends

    def parse(self, body: Mapping[str, Any], resource_type: str, *, strict: bool) -> R:
        """Parse the body of a new request.

        :param strict: reject unknown keys instead of ignoring them
        :raises climate.exceptions.InvalidInput: naming the field and the reason
        """
        if strict:
            self._refuse_unknown(body, {'resource_type'}, resource_type)
        sent = self._sent(body)
        values = self._validated(self._new, sent)
        request = self._request(**self._request.complete(values, sent.keys(), None))
        request.check()
        return request

    def change(
        self,
        request: R,
        body: Mapping[str, Any],
        resource_type: str,
        *,
        strict: bool,
        running: bool,
    ) -> R:
        """Return *request* with a client's changes applied.

        :raises climate.exceptions.InvalidInput: naming the field and the reason
        :raises climate.exceptions.CantUpdateParameter: if a field is fixed
        """
        if strict:
            self._refuse_unknown(body, {'resource_type', 'id'}, resource_type)
        sent = self._sent(body)
        values = self._validated(self._changed, sent)
        values = self._request.complete(values, sent.keys(), request)
        changes = {key: each for key, each in values.items() if each != getattr(request, key)}
        for each in self._fields:
            if each.name in changes and _is_fixed(each, running):
                raise exceptions.CantUpdateParameter(param=each.key)
        changed = dataclasses.replace(typing.cast(Any, request), **changes)
        changed.check()
        changed.check_change(request, sent.keys(), running=running)
        return typing.cast(R, changed)

    def _sent(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return {
            each.key: value
            for each in self._fields
            if (value := body.get(each.key)) is not None
            and not (value == '' and each.field is not None and each.field.blank)
        }

    def _validated(
        self, model: type[pydantic.BaseModel], sent: Mapping[str, Any]
    ) -> dict[str, Any]:
        try:
            read = model.model_validate(sent)
        except pydantic.ValidationError as error:
            raise _refusal(error.errors(include_url=False, include_input=False)) from None
        values, given = read.__dict__, read.model_fields_set
        return {
            each.name: values[each.name]
            for each in self._fields
            # A word that leaves the value open selects the default.
            if each.name in given and (values[each.name] is not None or each.default is None)
        }

    def _refuse_unknown(self, body: Mapping[str, Any], also: set[str], resource_type: str) -> None:
        unknown = sorted(set(body) - self._keys - also)
        if unknown:
            raise exceptions.MalformedParameter.of(
                'reservations', f"'{unknown[0]}' is not a field of {resource_type}"
            )

    @functools.cached_property
    def _new(self) -> type[pydantic.BaseModel]:
        return self._model({each.name: each.default for each in self._fields if not each.required})

    @functools.cached_property
    def _changed(self) -> type[pydantic.BaseModel]:
        return self._model(dict.fromkeys(each.name for each in self._fields))

    def _model(self, defaults: Mapping[str, Any]) -> type[pydantic.BaseModel]:
        """Return a pydantic model of the fields; those without a default are required."""
        made: dict[str, Any] = {
            each.name: (each.hint, pydantic.Field(defaults.get(each.name, ...), alias=each.key))
            for each in self._fields
        }
        return pydantic.create_model(self._request.__name__, **made)

    # -- what is stored

    @property
    def objects(self) -> Collection[str]:
        """The objects in which fields are stored together, such as a draft."""
        return self._groups.keys()

    def dump(self, request: R) -> dict[str, Any]:
        """Return *request* as JSON values."""
        values = {}
        for each in self._stored:
            value = getattr(request, each.name)
            values[each.key] = value if each.scalar else plain.dumped(value)
        return plain.grouped(values, self._groups) if self._groups else values

    def load(self, stored: Mapping[str, Any]) -> R:
        """Return the request that :meth:`dump` wrote, here or in an earlier release.

        A field that the earlier release did not have gets its default.

        :raises TypeError: if an object has fields that the class does not declare
        """
        if self._groups:
            stored = plain.flat(stored, self._groups)
        values = {}
        for each in self._stored:
            if each.key in stored:
                value = stored[each.key]
                values[each.name] = value if each.load is None else each.load(value)
        return self._request(**values)

    # -- what is published

    def schema(self, resource_type: str) -> dict[str, Any]:
        """Return the JSON schema of a new reservation's body, as the latest version reads it."""
        whole = copy.deepcopy(self._schema)
        return {
            **{key: whole.pop(key) for key in ('type', 'description') if key in whole},
            'required': ['resource_type', *whole.pop('required')],
            'additionalProperties': False,
            'properties': {'resource_type': {'const': resource_type}, **whole.pop('properties')},
            **whole,
        }

    @functools.cached_property
    def _schema(self) -> dict[str, Any]:
        """The JSON schema of a body, without the type."""
        fields = self._new.model_json_schema()['properties']
        whole: dict[str, Any] = {'type': 'object'}
        if self._request.unstated:
            whole['description'] = ' '.join(self._request.unstated)
        whole['required'] = [each.key for each in self._fields if each.required]
        whole['properties'] = {
            each.key: _published(each, fields[each.key]) for each in self._fields
        }
        definitions = {
            name: each
            for item in self._fields
            if item.field is not None
            for name, each in item.field.definitions.items()
        }
        if definitions:
            whole['$defs'] = definitions
        return {**whole, **self._request.rules}

    def options(self) -> tuple[Option, ...]:
        """Return the fields as documents and command lines show them."""
        return tuple(
            Option(
                name=each.key,
                kind=each.field.kind,
                bounds=each.field.bounds,
                required=each.required,
                default=_shown_default(each),
                fixed=each.field.fixed,
                about=each.field.about,
                blank=each.field.blank,
            )
            for each in self._fields
            if each.field is not None
        )


def of(request: type[R]) -> Model[R]:
    """Return the model of a request's class."""
    return _of(typing.cast(Any, request))


@functools.cache
def _of(request: Any) -> Model[Any]:
    return Model(request)


def _refusal(errors: Sequence[Any]) -> exceptions.InvalidInput:
    """Convert pydantic's errors to the one that a client receives: that of the first field."""
    first = errors[0]
    key = str(first['loc'][0])
    if first['type'] == 'missing':
        return exceptions.MissingParameter(param=key)
    for error in errors:
        # Pydantic first reports that the value does not have the common type.
        fault = error.get('ctx', {}).get('error')
        if error['loc'][0] == key and isinstance(fault, Fault):
            return fault.refusal(key)
    place = ''.join(f'.{each}' for each in first['loc'][1:])
    return Fault(f'{place} {first["msg"]}'.strip()).refusal(key)


def _is_fixed(each: DeclaredField, running: bool) -> bool:
    assert each.field is not None
    return each.field.fixed is Fixed.ALWAYS or (running and each.field.fixed is Fixed.RUNNING)


def _published(each: DeclaredField, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field with its description."""
    assert each.field is not None
    kind = each.field.schema
    if kind is None:
        kind = {key: value for key, value in schema.items() if key not in ('title', 'default')}
    about = each.field.about
    if each.field.fixed is not Fixed.NEVER:
        about += f' It cannot be changed {each.field.fixed.value}.'
    if each.required:
        return {'description': about, **kind}
    field_schema = {'description': about, **schemas.optional(kind, blank=each.field.blank)}
    default = _shown_default(each)
    return field_schema if default is None else {**field_schema, 'default': default}


def _shown_default(each: DeclaredField) -> Any:
    """Return the default as a client could send it; None if no such value means the default."""
    if each.required:
        return None
    default = plain.dumped(each.default)
    if isinstance(each.field, Kind):
        try:
            each.field.read(default)
        except Fault:
            return None
    return default


class Published:
    """The schema of a plugin's requests, computed on first access."""

    def __get__(self, instance: object, owner: Any) -> Mapping[str, Any]:
        """Return the schema of the requests of *owner*, a class of plugins."""
        return of(owner.request_model).schema(owner.resource_type)
