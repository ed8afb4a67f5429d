# SPDX-License-Identifier: Apache-2.0

"""Sends requests that schemathesis makes of the OpenAPI document, and checks the answers.

Random ids hit nothing, and random times are no times. So some of what is made is replaced
by the ids of objects that exist, and by values that a user might send.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import json
import os
import random
from typing import Any
from typing import Final

import hypothesis
import schemathesis
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi import checks

from climate.clock import ManualClock
from tests.functional import bodies
from tests.functional.fixtures import Service

SEED: Final = 'CLIMATE_FUZZ_SEED'
_ADMIN: Final = 'root:operators:admin'
# Readers are refused most, which shows little.
_TOKENS: Final = (*(_ADMIN,) * 6, *('alice:physics:member',) * 3, 'bob:biology:reader')

_CHECKS: Final = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
_IDS: Final = ('lease_id', 'offer_id', 'maintenance_id', 'webhook_id', 'feed_id')
_TIMES: Final = frozenset(
    {'start_date', 'end_date', 'before_end_date', 'earliest', 'latest', 'start', 'end'}
)
_DURATIONS: Final = frozenset(
    {'duration', 'min_duration', 'hold', 'step', 'lifetime', 'keep_previous_secret_for'}
)
_URL: Final = 'https://hooks.example.org/reservations'
_EMPTY: Final = frozenset({'resource_properties', 'hypervisor_properties'})
_ORDER: Final = ('post', 'get', 'put', 'patch', 'delete')
_RESERVATIONS: Final = (
    bodies.hosts(1, hypervisor_properties='', resource_properties=''),
    {'resource_type': 'virtual:instance', 'vcpus': 1, 'memory_mb': 64, 'disk_gb': 0, 'amount': 1},
)
_VALID: Final[dict[str, dict[str, Any]]] = {
    'POST /leases': {'name': 'fuzz', 'start_date': '', 'end_date': '', 'reservations': []},
    'POST /offers': {'duration': '1h', 'reservations': []},
    'POST /webhooks': {'url': _URL},
    'POST /feeds': {'time_zone': 'Europe/Berlin'},
    'POST /maintenances': {'resource_id': 2, 'start_date': '', 'end_date': ''},
}
_MOST_KEPT: Final = 20


def chosen_seed() -> int:
    """Return the seed of a run, which a variable of the environment can set."""
    return int(os.environ.get(SEED) or random.SystemRandom().randrange(2**32))


@dataclasses.dataclass(kw_only=True)
class FuzzOutcome:
    """What a run has found.

    :ivar statuses: numbers of answers by operation and status
    :ivar faults: the first fault of each kind, with the request that caused it
    """

    statuses: collections.Counter[tuple[str, int]] = dataclasses.field(
        default_factory=collections.Counter
    )
    faults: dict[tuple[str, str], str] = dataclasses.field(default_factory=dict)

    @property
    def sent(self) -> int:
        """The number of requests."""
        return self.statuses.total()


def _unroll(document: dict[str, Any]) -> None:
    """Let requirements and parameters of stacks nest once, not without end.

    schemathesis 4 builds its strategies of some recursive schemas without end. The property
    tests of requirements nest them deeper.
    """
    known = document['components']['schemas']
    for name in {'Requirement', 'Storable'} & known.keys():
        own = f'#/components/schemas/{name}'
        plain = [each for each in known[name]['anyOf'] if own not in json.dumps(each)]
        known[name] = _replaced(known[name], own, {**known[name], 'anyOf': plain})


def _replaced(schema: Any, target: str, value: Any) -> Any:
    """Return a schema with *value* in place of each reference to *target*."""
    if isinstance(schema, list):
        return [_replaced(one, target, value) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get('$ref') == target:
        return value
    return {key: _replaced(one, target, value) for key, one in schema.items()}


class Fuzzer:
    """Sends requests to a service of its own.

    :param version: the microversion of all requests, such as ``1.5``
    """

    def __init__(self, service: Service, version: str, seed: int) -> None:
        self._service = service
        self._seed = seed
        self._headers = {
            'OpenStack-API-Version': f'reservation {version}',
            # The client inside schemathesis does not unpack answers.
            'Accept-Encoding': 'identity',
        }
        self._schema = schemathesis.openapi.from_wsgi(
            '/v1/openapi.json', service.app, headers=self._headers
        )
        _unroll(self._schema.raw_schema)
        self._known: dict[str, list[str]] = {
            'host_id': ['1', '2', '3', '4'],
            'resource_id': ['1', '2', '3', '4', '5'],
            'floatingip_id': ['5', '6'],
            'property_name': ['rack'],
            'type_name': ['physical:host', 'custom:rack'],
        }
        self.outcome = FuzzOutcome()

    def run(self, each: int) -> FuzzOutcome:
        """Send *each* valid requests of every operation, and as many that are not.

        :returns: what was found, so far
        """
        operations = [found.ok() for found in self._schema.get_all_operations()]
        # What is made first is there for the others, and is deleted at the end.
        for operation in sorted(operations, key=lambda one: _ORDER.index(one.method)):
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                self._send(operation, mode, each)
        return self.outcome

    def _send(self, operation: Any, mode: GenerationMode, number: int) -> None:
        @hypothesis.seed(self._seed)
        @hypothesis.settings(
            max_examples=number,
            database=None,
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
            phases=[hypothesis.Phase.generate],
        )
        @hypothesis.given(
            case=operation.as_strategy(generation_mode=mode), rng=st.randoms(use_true_random=False)
        )
        def send(case: Any, rng: random.Random) -> None:
            self._one(case, rng, mode)

        send()

    def _one(self, case: Any, rng: random.Random, mode: GenerationMode) -> None:
        label = case.operation.label
        for name in case.path_parameters or {}:
            if rng.random() < 0.7 and self._known.get(name):
                case.path_parameters[name] = rng.choice(self._known[name])
        if mode is GenerationMode.POSITIVE:
            case.body = self._near_valid(label, self._plausible(case.body, rng), rng)
            case.query = self._plausible(case.query, rng)
        # Requests without the header are at 1.0, which another document describes.
        case.headers = {**self._headers, 'X-Auth-Token': rng.choice(_TOKENS)}
        answer = case.call()
        self.outcome.statuses[label, answer.status_code] += 1
        self._remember(answer)
        self._check(label, case, answer, mode)
        clock: ManualClock = self._service.clock
        clock.advance(1)

    def _check(self, label: str, case: Any, answer: Any, mode: GenerationMode) -> None:
        try:
            case.validate_response(answer, checks=_CHECKS)
        except FailureGroup as group:
            for failure in group.exceptions:
                self.outcome.faults.setdefault(
                    (label, failure.title), _described(case, answer, failure)
                )
        broken = case.meta.is_negative_at(ParameterLocation.BODY)
        if mode is GenerationMode.NEGATIVE and broken and answer.status_code < 300:
            fault = _described(case, answer, 'a body that does not match its schema is accepted')
            self.outcome.faults.setdefault((label, 'accepted'), fault)

    def _remember(self, answer: Any) -> None:
        """Keep the ids of new objects."""
        if answer.status_code not in {200, 201}:
            return
        shown = answer.json()
        for name in _IDS:
            noun = name.removesuffix('_id')
            found = [shown[noun]] if noun in shown else shown.get(f'{noun}s', [])
            known = self._known.setdefault(name, [])
            known += [one['id'] for one in found if one.get('id') not in known]
            del known[:-_MOST_KEPT]

    def _plausible(self, value: Any, rng: random.Random, key: str = '') -> Any:
        """Return a value in which some parts are such as users send."""
        if key == 'reservations' and rng.random() < 0.5:
            return [dict(rng.choice(_RESERVATIONS))]
        if isinstance(value, dict):
            return {name: self._plausible(one, rng, name) for name, one in value.items()}
        if isinstance(value, list):
            return [self._plausible(one, rng, key) for one in value[:3]]
        if not isinstance(value, str) or rng.random() < 0.2:
            return value
        return self._such_as(key, value, rng)

    def _near_valid(self, label: str, body: Any, rng: random.Random) -> Any:
        """Return a body that is valid but for one field at most, for what needs many."""
        if label not in _VALID or not isinstance(body, dict) or rng.random() < 0.3:
            return body
        now = self._service.clock.now().replace(second=0, microsecond=0)
        start = now + datetime.timedelta(hours=rng.randint(1, 200))
        old = self._headers['OpenStack-API-Version'].endswith(' 1.0')
        form = '%Y-%m-%d %H:%M' if old else '%Y-%m-%dT%H:%MZ'
        whole = {'reservations': [dict(rng.choice(_RESERVATIONS))]}
        if label != 'POST /offers':
            end = start + datetime.timedelta(hours=rng.randint(1, 8))
            whole |= {'start_date': start.strftime(form), 'end_date': end.strftime(form)}
        valid = {key: whole.get(key, value) for key, value in _VALID[label].items()}
        own = [key for key in body if key not in valid]
        more = {key: body[key] for key in own[:1]} if rng.random() < 0.4 else {}
        return {**valid, **more}

    def _such_as(self, key: str, value: str, rng: random.Random) -> str:
        now = self._service.clock.now()
        if key in _TIMES:
            late = key in {'end_date', 'end', 'latest', 'before_end_date'}
            hours = rng.randint(24, 96) if late else rng.randint(0, 23)
            instant = now + datetime.timedelta(hours=hours)
            return instant.replace(microsecond=0).isoformat().replace('+00:00', 'Z')
        if key in _DURATIONS:
            return rng.choice(['1h', 'PT90M', '2d', '30m'])
        if key in _EMPTY:
            return rng.choice(['', '["==", "$rack", "r1"]'])
        if key in {'type', 'resource_type'}:
            return rng.choice(['physical:host', 'custom:rack', value, value])
        if key in {'url', 'time_zone'}:
            return _URL if key == 'url' else rng.choice(['UTC', 'Europe/Berlin'])
        if key == 'reservation_id' or key not in self._known:
            return value
        return rng.choice(self._known[key] or [value])


def _described(case: Any, answer: Any, failure: Any) -> str:
    return f'{failure}\n{answer.status_code} {answer.text[:1000]}\n{case.as_curl_command()}'
