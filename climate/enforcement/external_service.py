# SPDX-License-Identifier: Apache-2.0

"""Queries a service of the operator over HTTP.

``doc/source/admin/limits.rst`` describes the requests and responses. The service
is trusted: it receives a token, and users see its messages. Climate does not
depend on its behavior, though: the time and the size of a response are limited.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import urllib.parse
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import requests

from climate import exceptions
from climate.conf import enforcement as options
from climate.conf.settings import option
from climate.conf.settings import values
from climate.domain.addresses import is_loopback
from climate.domain.charges import Charge
from climate.domain.charges import ChargeState
from climate.enforcement import bodies
from climate.enforcement.base import End
from climate.enforcement.base import Filter
from climate.enforcement.base import FilterQuestion
from climate.enforcement.bodies import Surroundings
from climate.exceptions import texts

LOG = logging.getLogger(__name__)

CHECK_CREATE = 'check-create'
CHECK_UPDATE = 'check-update'
CALLS = {ChargeState.COMMIT: 'commit', ChargeState.RELEASE: 'release', ChargeState.END: 'on-end'}
_ALL = (CHECK_CREATE, CHECK_UPDATE, *CALLS.values())
_MOST_READ = 64 * 1024
_MOST_SHOWN = 1000


def _allows(unavailable: str) -> bool:
    return unavailable == options.ALLOW


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServiceSettings:
    """The configuration of the service.

    :ivar addresses: by call; a call without an address is not made
    :ivar timeout: for a connection, and then for each part of a response, in seconds
    :ivar fails_open: whether a missing response allows the request
    :ivar two_phase: whether it is notified of the outcome of what it allowed
    """

    addresses: Mapping[str, str]
    token: str = option('enforcement', 'external_service_token', secret=True)
    cafile: str | None = option('enforcement', 'external_service_cafile')
    timeout: float = option('enforcement', 'external_service_timeout')
    fails_open: bool = option('enforcement', 'external_service_unavailable', _allows)
    two_phase: bool = option('enforcement', 'external_service_two_phase')
    around: Surroundings = dataclasses.field(default_factory=Surroundings)

    @classmethod
    def from_conf(cls, conf: Any) -> ServiceSettings:
        """Return the settings that *conf* (an oslo.config ConfigOpts) holds.

        :raises ValueError: if an endpoint is missing
        """
        group = conf.enforcement
        addresses = {}
        for call in _ALL:
            own = group[f'external_service_{call.replace("-", "_")}_endpoint']
            base = group.external_service_base_endpoint
            if own or base:
                addresses[call] = own or f'{base.rstrip("/")}/{call}'
        needed = set(_ALL) if group.external_service_two_phase else {CHECK_CREATE, CHECK_UPDATE}
        missing = sorted(needed - set(addresses))
        if missing:
            raise ValueError(
                'external_service_base_endpoint is not set, nor an endpoint for '
                + ', '.join(missing)
            )
        _warn_of_plain_text(addresses)
        return cls(
            addresses=addresses,
            around=Surroundings(auth_url=group.auth_url, region_name=group.region_name),
            **values(cls, conf),
        )


def _warn_of_plain_text(addresses: Mapping[str, str]) -> None:
    """Log the calls that an attacker on the network can read and forge."""
    plain = sorted(
        call
        for call, address in addresses.items()
        if (parts := urllib.parse.urlsplit(address)).scheme == 'http'
        and not is_loopback(parts.hostname or '')
    )
    if plain:
        LOG.warning(
            '[enforcement] the external service is called over http, not https: attackers on '
            'the network can read its token and the leases of users, and forge its answers (%s)',
            ', '.join(plain),
        )


class _NoAnswer(Exception):
    """The service did not respond in time, or its response is not valid."""


class ExternalService(Filter):
    """A service that allows or refuses leases, and may charge for them."""

    waits = True

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings

    @classmethod
    def from_conf(cls, conf: Any) -> ExternalService:
        """Return the filter that *conf* configures."""
        return cls(ServiceSettings.from_conf(conf))

    @property
    def notified_of(self) -> frozenset[ChargeState]:
        """The end of a lease and, with two phases, the outcome of a question."""
        states = {state for state, call in CALLS.items() if call in self._settings.addresses}
        if not self._settings.two_phase:
            states -= {ChargeState.COMMIT, ChargeState.RELEASE}
        return frozenset(states)

    @property
    def longest_check(self) -> float:
        """The maximum duration of a check, in seconds: a connection and a response."""
        return self._settings.timeout * 2

    def check_create(self, question: FilterQuestion) -> None:
        """Ask whether a lease may be created."""
        self._check(CHECK_CREATE, question)

    def check_update(self, question: FilterQuestion) -> None:
        """Ask whether a lease may be changed."""
        self._check(CHECK_UPDATE, question)

    def note(self, question: FilterQuestion) -> Mapping[str, Any]:
        """Return the body of later notifications."""
        return bodies.question(question, self._settings.around)

    def note_end(self, end: End) -> Mapping[str, Any]:
        """Return the body of the notification of an end."""
        return bodies.end(end, self._settings.around)

    def notify(self, charge: Charge) -> None:
        """Notify the service of the outcome of a question, or of an end."""
        call = CALLS[charge.state]
        try:
            status, _ = self._send(call, charge.payload, f'{charge.charge_id}-{call}')
        except _NoAnswer as error:
            raise exceptions.FilterUnavailable(f'{call}: {error}') from error
        if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            raise exceptions.Transient(f'{call}: it answered {status}')

    def _check(self, call: str, question: FilterQuestion) -> None:
        body = bodies.question(question, self._settings.around)
        try:
            status, message = self._send(call, body, question.id)
            if status == HTTPStatus.FORBIDDEN:
                raise exceptions.ExternalServiceRefused(message or None)
            if status != HTTPStatus.NO_CONTENT:
                raise _NoAnswer(f'it answered {status}')
        except _NoAnswer as error:
            LOG.warning('Lease %s: %s: %s', question.terms.lease.id, call, error)
            if not self._settings.fails_open:
                raise exceptions.ExternalServiceUnavailable from error

    def _send(self, call: str, body: Mapping[str, Any], key: str) -> tuple[int, str]:
        """Send a call; return the status, and the message of a refusal.

        :param key: by which the service recognizes a repeated call
        :raises _NoAnswer: if no response arrives in time
        """
        settings = self._settings
        headers = {'Content-Type': 'application/json', 'Idempotency-Key': key}
        if settings.token:
            headers['X-Auth-Token'] = settings.token
        try:
            with requests.post(
                settings.addresses[call],
                data=json.dumps(body),
                headers=headers,
                timeout=settings.timeout,
                # The token must not reach any other address.
                allow_redirects=False,
                verify=settings.cafile or True,
                stream=True,
            ) as answer:
                status = answer.status_code
                text = _read(answer) if status == HTTPStatus.FORBIDDEN else b''
        except (requests.RequestException, OSError) as error:
            raise _NoAnswer(f'no answer ({type(error).__name__})') from error
        return status, _message(text)


def _read(answer: requests.Response) -> bytes:
    """Return the beginning of a body; the rest is not needed."""
    text = b''
    for part in answer.iter_content(4096):
        text += part
        if len(text) >= _MOST_READ:
            break
    return text


def _message(text: bytes) -> str:
    """Return the message in the body of a refusal; '' if there is none."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return ''
    message = body.get('message') if isinstance(body, dict) else None
    return texts.clean(message, _MOST_SHOWN) if isinstance(message, str) else ''
