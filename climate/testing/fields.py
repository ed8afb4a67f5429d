# SPDX-License-Identifier: Apache-2.0

"""Tries invalid values in each field of a reservation of a type.

The fields are those of the schema of the type. The API must refuse a value that the
schema refuses with a text that names the field; it may refuse others for other reasons.
It must never answer 500, and a refusal must not change any row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

import jsonschema

from climate.plugins import models
from climate.testing import service
from climate.testing.kinds import LeasedType
from climate.testing.kinds import TypeRegistrar
from climate.testing.service import Serving

MISSING: Final = object()
"""Represents a field that is omitted."""
WRONG: Final[Mapping[str, Any]] = {
    'missing': MISSING,
    'null': None,
    'true': True,
    'zero': 0,
    'negative': -1,
    'fraction': 1.5,
    'too large': 2**63,
    'enormous': 10**400,
    'empty text': '',
    'blank text': '   ',
    'text': 'x y',
    'long text': 'x' * 100000,
    'NUL': 'a\0b',
    'surrogate': 'a\ud800b',
    'empty list': [],
    'list': [7],
    'list of objects': [{}],
    'empty object': {},
    'object': {'a': 1},
    'deep': json.loads('[' * 60 + ']' * 60),
    'impossible date': '2030-02-30 00:00',
    'year 1': '0001-01-01 00:00',
    'year 10000': '10000-01-01 00:00',
    'the past': '2029-12-31 23:59',
}
"""Values to try in each field, by name."""
VERSIONS: Final = ('1.0', '1.2')
# Every type has these fields; the tests of leases cover them.
_COMMON: Final = frozenset({'resource_type', 'id'})
_LEASE: Final = {
    'name': 'l',
    'start_date': '2030-02-01 00:00',
    'end_date': '2030-02-02 00:00',
    'events': [],
}


class Sweep:
    """Requests for leases of one kind, each with one invalid field.

    :param called: the names of fields in the texts of refusals, where they differ
    """

    def __init__(
        self, serving: Serving, kind: LeasedType, called: Mapping[str, str] | None = None
    ) -> None:
        self._serving = serving
        self._called = called or {}
        place = TypeRegistrar(serving.store, serving.plugins, serving.cloud)
        self._requests = [dict(request) for request in kind.furnish(place)]
        plugin = serving.plugins[self._requests[0]['resource_type']]
        self._schema: Any = plugin.request_schema
        # In a change, they mean that a field stays as it is, even one that is required.
        options = models.of(plugin.request_model).options()
        self._blank = {option.name for option in options if option.blank}

    def of_creations(self) -> Iterator[str]:
        """Book a lease with each invalid value of each field; yield complaints."""
        before = self._serving.rows()
        for version in VERSIONS:
            for field, name, value in self._wrongs():
                first = {key: item for key, item in self._requests[0].items() if key != field}
                if value is not MISSING:
                    first[field] = value
                answer = self._send('POST', '', self._lease([first, *self._requests[1:]]), version)
                if answer.status_int == 201:
                    self._send('DELETE', answer.json['lease']['id'], None, version)
                    before = self._serving.rows()
                valid = self._allows(field, value)
                complaint = self._complaint(answer, field, valid, before)
                if complaint:
                    yield f'{version} {field} {name}: {complaint}'

    def of_changes(self) -> Iterator[str]:
        """Change each field of a booked lease to each invalid value; yield complaints."""
        answer = self._send('POST', '', self._lease(self._requests), '1.0')
        if answer.status_int != 201:
            yield f'the valid request is refused: {answer.text}'
            return
        lease = answer.json['lease']
        # The parts of a requested reservation come before it.
        types = [item['resource_type'] for item in lease['reservations']]
        asked = lease['reservations'][types.index(self._requests[0]['resource_type'])]
        before = self._serving.rows()
        for version in VERSIONS:
            for field, name, value in self._wrongs():
                if value is MISSING:
                    continue
                body = {'reservations': [{'id': asked['id'], field: value}]}
                answer = self._send('PUT', lease['id'], body, version)
                if answer.status_int < 300:
                    before = self._serving.rows()
                not_given = value is None or (value == '' and field in self._blank)
                valid = not_given or self._reads(field, value)
                complaint = self._complaint(answer, field, valid, before)
                if complaint:
                    yield f'{version} {field} {name}: {complaint}'

    def _send(self, method: str, lease_id: str, body: Any, version: str) -> Any:
        path = '/v1/leases' + (f'/{lease_id}' if lease_id else '')
        return service.send(self._serving, method, path, body, version=version)

    def _lease(self, requests: list[dict[str, Any]]) -> dict[str, Any]:
        return {**_LEASE, 'reservations': requests}

    def _wrongs(self) -> Iterator[tuple[str, str, Any]]:
        for field in sorted(set(self._schema['properties']) - _COMMON):
            for name, value in WRONG.items():
                if value is not MISSING or field in self._requests[0]:
                    yield field, name, value

    def _allows(self, field: str, value: Any) -> bool:
        """Whether the schema accepts a value for a field of the valid request."""
        if value is MISSING:
            return field not in self._schema.get('required', ())
        # Within the whole request, because a field may depend on others.
        schema = {**self._schema, 'required': []}
        validator = jsonschema.Draft202012Validator(schema)
        body = {**self._requests[0], field: value}
        return all(list(error.path)[:1] != [field] for error in validator.iter_errors(body))

    def _reads(self, field: str, value: Any) -> bool:
        """Whether the schema accepts a value for a field, regardless of the others."""
        alone = {key: self._schema.get(key, {}) for key in ('properties', '$defs')}
        return jsonschema.Draft202012Validator(alone).is_valid({field: value})

    def _complaint(
        self, answer: Any, field: str, valid: bool, before: Mapping[str, list[tuple[Any, ...]]]
    ) -> str:
        """Return what is wrong with *answer*; '' if nothing."""
        if answer.status_int >= 500:
            return f'{answer.status_int} {answer.text[:200]}'
        if answer.status_int < 400:
            return '' if valid else f'{answer.status_int}'
        if answer.content_type != 'application/json':
            return f'no JSON: {answer.text[:100]}'
        if before != self._serving.rows():
            return f'{answer.status_int}, but rows were changed'
        text = answer.json['error_message']
        if valid or any(word in text for word in (field, self._called.get(field, field))):
            return ''
        return f'{answer.status_int} does not name the field: {text[:200]}'
