# SPDX-License-Identifier: Apache-2.0
"""An operator who hides hosts from users, as the guide says."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import textwrap

import fixtures

from climate.policies.enforcer import make_enforcer
from tests import base
from tests import routes
from tests.architecture import ROOT
from tests.functional import http
from tests.functional.fixtures import Service

PAGE = ROOT / 'doc/source/admin/security.rst'
OTHERS = re.compile(r'\{(?!(lease|host|resource)_id)')
"""In paths of what is not there."""
QUERIES = {
    '/availability': '?resource_type=physical:host&group_by=hypervisor_hostname',
    '/calendar': '?resource_type=physical:host',
    '/os-hosts/properties': '?values=true&detail=true',
    '/resources': '?type=physical:host',
    '/resources/properties': '?type=physical:host&values=true',
}


class HiddenHostsTest(base.TestCase):
    """With the rules of the page."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(Service(hosts=3))
        rules = re.search(r'To hide hosts.*?code-block:: yaml\n\n(.*?)\n\S', PAGE.read_text(), re.S)
        assert rules is not None
        self.rules = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'policy.yaml'
        self.rules.write_text(textwrap.dedent(rules[1]))

    def hide(self) -> None:
        """Serve with the rules."""
        self.service.conf.set_override('policy_file', str(self.rules), group='oslo_policy')
        enforcer = make_enforcer(self.service.conf)
        self.service.services = dataclasses.replace(self.service.services, enforcer=enforcer)
        self.service.app = self.service.made()

    def named(self, path: str, token: str) -> bool:
        """Whether the answer names a host."""
        path = f'/v1{path}{QUERIES.get(path, "")}'
        return (
            'compute-' in http.send(self.service.app, 'GET', path, token=token, version='1.7').text
        )

    def test_no_answer_names_a_host(self) -> None:
        body = {**http.LEASE, 'start_date': '2030-02-01T00:00:00Z', 'events': []}
        body['end_date'] = '2030-02-02T00:00:00Z'
        made = http.send(
            self.service.app, 'POST', '/v1/leases', body, token=http.MEMBER, version='1.7'
        )
        self.assertEqual(201, made.status_int, made.text)
        lease_id = made.json['lease']['id']
        paths = {
            route.path.format(lease_id=lease_id, host_id=1, resource_id=1)
            for route in routes.ALL
            if route.method == 'GET' and OTHERS.search(route.path) is None
        }
        shown = {path for path in paths if self.named(path, http.MEMBER)}
        self.assertLessEqual({'/os-hosts', '/calendar', f'/leases/{lease_id}'}, shown)
        self.hide()
        for token in (http.MEMBER, 'rita:blue:reader', 'bob:red:member'):
            self.assertEqual([], [path for path in sorted(paths) if self.named(path, token)], token)
        # Operators see them, and users their leases.
        self.assertEqual(shown, {path for path in paths if self.named(path, http.ADMIN)} & shown)
        answer = http.send(
            self.service.app, 'GET', f'/v1/leases/{lease_id}', token=http.MEMBER, version='1.7'
        )
        self.assertEqual(2, answer.json['lease']['reservations'][0]['resources_count'])
