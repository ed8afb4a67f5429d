# SPDX-License-Identifier: Apache-2.0

"""Requests with every kind of secret, right and wrong, and the search for them afterwards."""

from __future__ import annotations

import abc
import base64
import re
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from urllib import parse

USER_DATA = 'user-data-hunter2'
TEMPLATE = 'template-hunter3'
PARAMETER = 'parameter-hunter4'
FILE = 'file-hunter5'
PATH = 'path-of-url-hunter6'
WRONG = 'wrong-field-hunter7'
TOKEN = 'alice:blue:member,token-hunter8'
PASSWORD = 'password-hunter9'
SERVER = {
    'resource_type': 'virtual:server',
    'name': 'web',
    'flavor': '1',
    'image': '',
    'block_device_mapping': [{'source_type': 'blank', 'volume_size': 1}],
    'user_data': f'#!/bin/sh\n# {USER_DATA}',
    'guarantee': False,
}
STACK = {
    'resource_type': 'virtual:stack',
    'name': 'stack',
    'template': f'heat_template_version: 2021-04-16\ndescription: {TEMPLATE}\n'
    'parameters:\n  key: {type: string, hidden: true}\nresources: {}\n',
    'parameters': {'key': PARAMETER},
    'files': {'file:///a': FILE},
}


def forms(secret: str) -> Iterator[str]:
    """Yield how a secret may be written: as it is, in a URL, in hexadecimal, in base64."""
    yield secret
    yield parse.quote(secret, safe='')
    yield secret.encode().hex()
    for before in range(3):
        # Base64 of a text that has the secret somewhere: without the signs at both ends that
        # depend on what is around it.
        text = base64.b64encode(b'\x00' * before + secret.encode()).decode().rstrip('=')
        yield text[(before * 8 + 5) // 6 : len(text) - 1]


def pattern(secrets: Iterable[str]) -> re.Pattern[bytes]:
    """Return what finds secrets in bytes, in any of their forms."""
    found = {form.encode() for secret in secrets for form in forms(secret)}
    return re.compile(b'|'.join(re.escape(one) for one in sorted(found)))


class SecretTraffic(abc.ABC):
    """Sends the requests, and collects the secrets of the answers.

    :ivar secrets: by what they are
    :ivar url: of the webhooks
    """

    secrets: dict[str, str]
    url = f'https://example.org/hook/{PATH}?token={PATH}'

    def handed_in(self) -> dict[str, str]:
        """Return the secrets that the requests bring along."""
        return {
            'user data': USER_DATA,
            'template': TEMPLATE,
            'parameter': PARAMETER,
            'file': FILE,
            'URL of a webhook': PATH,
            'value in a wrong field': WRONG,
            'token': 'token-hunter8',
            'password': PASSWORD,
        }

    @property
    @abc.abstractmethod
    def period(self) -> dict[str, str]:
        """The period of the leases, in the words of a request."""

    @property
    @abc.abstractmethod
    def later(self) -> dict[str, str]:
        """What changes the end of a lease."""

    @abc.abstractmethod
    def send(self, method: str, path: str, body: Any = None, **facts: Any) -> Any:
        """Send a request of a member; return the response."""

    @abc.abstractmethod
    def page(self, body: Any) -> Any:
        """Send what the web page sends to sign a user in; return the response."""

    def hooks(self) -> None:
        """Create webhooks and feeds, replace their secrets, and use them."""
        for number in range(2):
            keyed = {'Idempotency-Key': f'hook-{number}'}
            for again in range(2):
                answer = self.send('POST', '/webhooks', {'url': self.url}, headers=keyed)
                made = answer.json['webhook']
                self.secrets[f'webhook {number} {again}'] = made['secret']
        path = f'/webhooks/{made["id"]}'
        for overlap in (3600, 0, 60):
            change = {'rotate_secret': True, 'keep_previous_secret_for': overlap}
            shown = self.send('PUT', path, change).json['webhook']
            self.secrets[f'rotated {overlap}'] = shown['secret']
        assert self.send('POST', f'{path}/test', {}).status_int == 202
        self.send('GET', f'{path}/deliveries')
        self.send('PUT', path, {'url': f'http://{PATH}@example.org/{PATH}'})
        self.send('PUT', path, {'url': f'nonsense {PATH}'})
        # A repetition with the same key gets a new link.
        for number, name in enumerate(('deleted', 'deleted', 'kept')):
            answer = self.send('POST', '/feeds', {}, headers={'Idempotency-Key': f'feed-{name}'})
            feed = answer.json['feed']
            link = feed['url'].rpartition('/')[2].removesuffix('.ics')
            self.secrets[f'link {number}'] = link
            for method in ('GET', 'HEAD', 'POST'):
                self.send(method, f'/feeds/{link}.ics')
            if name == 'deleted':
                deleted = feed['id']
        self.send('DELETE', f'/feeds/{deleted}')

    def leases(self) -> None:
        """Book what has secrets, rightly and wrongly."""
        for number, one in enumerate((SERVER, STACK)):
            body = {**self.period, 'name': f'lease {number}', 'reservations': [one]}
            keyed = {'Idempotency-Key': f'lease-{number}'}
            answer = self.send('POST', '/leases', body, headers=keyed)
            assert answer.status_int == 201, answer.text
            self.send('POST', '/leases', body, headers=keyed)
            self.send('POST', '/leases', {**body, 'dry_run': True})
            self.send('POST', '/offers', {'reservations': [one], 'duration': '1h'})
            path = f'/leases/{answer.json["lease"]["id"]}'
            answer = self.send('PUT', path, self.later)
            assert answer.status_int == 200, answer.text
            self.send('GET', f'{path}/history')
        for wrong in (
            {'user_data': {'a': WRONG}},
            {'user_data': f'{WRONG}\x00'},
            {'flavor': '1', 'user_data': [WRONG]},
        ):
            body = {**self.period, 'name': 'x', 'reservations': [{**SERVER, **wrong}]}
            assert self.send('POST', '/leases', body).status_int == 400
        bad = {**STACK, 'template': f'{WRONG}: [', 'parameters': {'key': WRONG}}
        body = {**self.period, 'name': 'y', 'reservations': [bad]}
        assert self.send('POST', '/leases', body).status_int >= 400
        self.send('POST', '/leases', token=WRONG, body=body)

    def sign_ins(self) -> None:
        """Sign in to the web page, which this service does not allow."""
        for body in (
            {'username': 'alice', 'password': PASSWORD, 'project': 'blue'},
            {'application_credential_id': 'a', 'application_credential_secret': PASSWORD},
            {'token': PASSWORD, 'project': 'blue'},
        ):
            answer = self.page(body)
            assert answer.status_int == 404, answer.text
