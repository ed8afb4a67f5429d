# SPDX-License-Identifier: Apache-2.0

"""Climate with a usage service, for tests from HTTP to SQL and to HTTP again."""

from __future__ import annotations

from typing import Any

import webob

from climate.enforcement.base import Filter
from climate.enforcement.durations import ExtensionWindow
from climate.enforcement.durations import MaxLeaseDuration
from climate.enforcement.external_service import ExternalService
from climate.enforcement.filters import Filters
from climate.manager.senders.charges import ChargeSender
from tests import base
from tests import services
from tests import usage_service
from tests.databases import fetch
from tests.functional import bodies
from tests.functional import http
from tests.functional import whole_leases
from tests.functional.fixtures import Service
from tests.unit.enforcement.test_durations import configured

FILTERS: dict[str, type[Filter]] = {
    'max_lease_duration': MaxLeaseDuration,
    'extension_window': ExtensionWindow,
    'external_service': ExternalService,
}


class UsageServiceCase(base.TestCase):
    """Four hosts, an external service, and the filters that a test names.

    :ivar names: of the filters, in their order
    :ivar options: in ``[enforcement]``
    """

    names: tuple[str, ...] = ('external_service',)
    options: dict[str, Any] = {}
    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.usage_service = self.useFixture(usage_service.UsageService())
        self.filters = self.configured(*self.names, **self.options)
        self.service = self.useFixture(Service(database=self.kind, filters=self.filters))
        self.manager = ChargeSender(
            self.service.store, self.service.clock, self.filters, 'me', max_sleep=5.0
        )

    def configured(self, *names: str, **options: Any) -> Filters:
        """Return filters that ask this service."""
        options = {
            'external_service_base_endpoint': self.usage_service.url,
            'external_service_timeout': 10.0,
            **options,
        }
        conf = configured(**options)
        exempt = conf.enforcement.exempt_projects
        return Filters({name: FILTERS[name].from_conf(conf) for name in names}, exempt)

    # -- users

    def send(self, method: str, path: str, body: Any = None, **facts: Any) -> webob.Response:
        """Send a request as a member."""
        facts = {'version': '1.1', 'token': http.MEMBER, **facts}
        return http.send(self.service.app, method, f'/v1/leases{path}', body, **facts)

    def create(self, hosts: int = 1, hours: int = 1, day: int = 1, **facts: Any) -> webob.Response:
        """Ask for hosts for so many hours from noon of a day in May."""
        start, end = (f'2031-05-{day:02}T{hour}:00:00Z' for hour in (12, 12 + hours))
        return self.send('POST', '', bodies.lease('one', start, end, bodies.hosts(hosts)), **facts)

    def created(self, **facts: Any) -> dict[str, Any]:
        """Return a lease that is allowed."""
        return http.expect(201, self.create(**facts)).json['lease']

    def update(self, lease: dict[str, Any], body: Any, **facts: Any) -> webob.Response:
        """Ask for a change."""
        return self.send('PUT', f'/{lease["id"]}', body, **facts)

    # -- what there is

    def work(self) -> None:
        """Send the charges that are due."""
        while self.manager.send_once():
            continue

    def leases(self) -> int:
        """How many leases there are."""
        return fetch(self.service.store, lambda tx: len(whole_leases.ids(tx)))

    def charges(self) -> dict[str, int]:
        """How many charges there are, by state."""
        return fetch(self.service.store, lambda tx: dict(tx.charges.waiting()))

    def assert_refused(
        self, answer: webob.Response, status: int, name: str, text: str = ''
    ) -> None:
        """Fail unless a request is refused in this way."""
        self.assertEqual((status, name), (answer.status_int, answer.json['error_name']))
        self.assertEqual(status, answer.json['error_code'])
        self.assertIn(text, answer.json['error_message'])

    def questions(self) -> list[tuple[str, str]]:
        """Return name and id of each call in order; the ids by the order of their coming."""
        ids = list(dict.fromkeys(call.body['id'] for call in self.usage_service.calls))
        return [
            (call.name, 'abcdefgh'[ids.index(call.body['id'])]) for call in self.usage_service.calls
        ]
