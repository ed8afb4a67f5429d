# SPDX-License-Identifier: Apache-2.0

"""Who may do what, as ``personas.yaml`` says it."""

from __future__ import annotations

import pathlib

import yaml

from tests import base
from tests import routes
from tests.functional import bodies
from tests.functional import fixtures
from tests.functional import http

TABLE = yaml.safe_load(
    pathlib.Path(__file__).with_name('personas.yaml').read_text(encoding='utf-8')
)

BODIES = {
    'POST /leases': http.LEASE,
    'PUT /leases/{lease_id}': {'name': 'renamed'},
    'POST /leases/{lease_id}/reallocate': {
        'reservation_id': '{reservation_id}',
        'resource_id': '{taken_id}',
    },
    'POST /leases/{lease_id}/readiness': {'by': 'power', 'ready': ['compute-1']},
    'POST /offers': {'reservations': http.LEASE['reservations'], 'duration': '1h'},
    'POST /webhooks': {'url': 'https://example.org/'},
    'PUT /webhooks/{webhook_id}': {'name': 'renamed'},
    'POST /webhooks/{webhook_id}/redeliver': {'all': True},
    'POST /feeds': {'name': 'ours'},
    'POST /maintenances': bodies.maintenance(
        'compute-1', '2031-02-01T00:00:00Z', '2031-02-02T00:00:00Z'
    ),
    'PUT /maintenances/{maintenance_id}': {'reason': 'a new fan'},
    'POST /os-hosts': {'name': 'compute-4'},
    'PUT /os-hosts/{host_id}': {'gpu': 'x'},
    'PATCH /os-hosts/properties/{property_name}': {'private': True},
    'POST /floatingips': {
        'floating_network_id': '{network}',
        'floating_ip_address': '203.0.113.202',
    },
    'POST /resource-types': {'name': 'custom:new'},
    'PUT /resource-types/{type_name}': {'noun': 'instruments'},
    'POST /resources': {'resource_type': 'custom:rack', 'name': 'r1'},
    'PUT /resources/{resource_id}': {'disabled': True},
    'PATCH /resources/properties/{property_name}': {'private': True},
}


QUERIES = {
    '/resources/properties': '?type=physical:host',
    '/availability': '?resource_type=physical:host',
    '/calendar': '?resource_type=physical:host',
}


class PersonasTest(base.TestCase):
    """Every cell of the table."""

    def test_every_route_is_in_the_table(self):
        known = {f'{route.method} {route.path}' for route in routes.ALL}
        self.assertEqual(known, set(TABLE['routes']))

    def test_every_persona_is_in_every_row(self):
        for row in TABLE['routes'].values():
            self.assertEqual(set(TABLE['personas']), set(row))

    def test_every_cell(self):
        wrong = {}
        for name, row in TABLE['routes'].items():
            for persona, wanted in row.items():
                status = self.status(name, TABLE['personas'][persona])
                if status != wanted:
                    wrong[name, persona] = status
        self.assertEqual({}, wrong)

    def status(self, name, token):
        """Return how the route *name* answers *token*; no write has gone before."""
        name, _, manner = name.partition(' by ')
        method, path = name.split()
        service, ids = self.shared()
        path = path.format(
            host_id=3,
            resource_id=3,
            floatingip_id=4,
            type_name='custom:instrument',
            property_name='rack',
            **ids,
        )
        body = (
            {
                key: value.format(**ids) if isinstance(value, str) else value
                for key, value in {**BODIES[name], **({manner: True} if manner else {})}.items()
            }
            if name in BODIES
            else None
        )
        query = next((text for part, text in QUERIES.items() if part in path), '')
        version = str(
            next(route.since for route in routes.ALL if f'{route.method} {route.path}' == name)
        )
        answer = http.send(
            service.app, method, f'/v1{path}{query}', body, token=token, version=version
        )
        if answer.status_int < 400 and self.spoils(method, path):
            del self._shared
        return answer.status_int

    def spoils(self, method, path):
        """Whether the next request needs a service of its own after a request."""
        return method != 'GET'

    def fresh(self):
        """Return a service with a lease of the project blue, and the ids of what is there."""
        service = self.useFixture(fixtures.Service(hosts=3))
        # Not on the third host, for that is to be deleted.
        reservation = {
            **http.LEASE['reservations'][0],
            'max': 1,
            'hypervisor_properties': '["!=", "$hypervisor_hostname", "compute-3"]',
        }
        body = {**http.LEASE, 'reservations': [reservation]}
        answer = http.send(service.app, 'POST', '/v1/leases', body, token=http.MEMBER)
        lease = answer.json['lease']
        rows = http.send(service.app, 'GET', '/v1/os-hosts/allocations').json['allocations']
        (taken,) = (row['resource_id'] for row in rows if row['reservations'])
        answer = http.send(
            service.app, 'POST', '/v1/maintenances', BODIES['POST /maintenances'], version='1.2'
        )
        facts = {'token': http.MEMBER, 'version': '1.5'}
        offers, hook, feed = (
            http.send(service.app, 'POST', f'/v1/{noun}', BODIES[f'POST /{noun}'], **facts).json
            for noun in ('offers', 'webhooks', 'feeds')
        )
        address = {'floating_network_id': service.public_network}
        address['floating_ip_address'] = '203.0.113.201'
        http.send(service.app, 'POST', '/v1/floatingips', address)
        http.send(
            service.app, 'POST', '/v1/resource-types', {'name': 'custom:instrument'}, version='1.2'
        )
        return service, {
            'network': service.public_network,
            'lease_id': lease['id'],
            'offer_id': offers['offers'][0]['id'],
            'reservation_id': lease['reservations'][0]['id'],
            'taken_id': taken,
            'maintenance_id': answer.json['maintenance']['id'],
            'webhook_id': hook['webhook']['id'],
            'feed_id': feed['feed']['id'],
        }

    def shared(self):
        """Return a service that has accepted no write."""
        if not hasattr(self, '_shared'):
            self._shared = self.fresh()
        return self._shared


class PrivilegedTest(PersonasTest):
    """Every cell of the tables of objects that were made with a special right."""

    boss = 'root:blue:admin'

    def test_every_route_is_in_the_table(self):
        """Each route of one webhook or feed is tried with those that need a special right."""
        for what, part in (('webhook of all projects', 'webhook'), ('feed of a resource', 'feed')):
            known = {
                f'{route.method} {route.path}'
                for route in routes.ALL
                if f'{{{part}_id}}' in route.path
            }
            self.assertEqual(known, set(TABLE['privileged'][what]))

    def test_every_persona_is_in_every_row(self):
        for table in TABLE['privileged'].values():
            for row in table.values():
                self.assertEqual(set(TABLE['personas']), set(row))

    def test_every_cell(self):
        wrong = {}
        for self.what, table in TABLE['privileged'].items():
            if hasattr(self, '_shared'):
                del self._shared
            for name, row in table.items():
                for persona, wanted in row.items():
                    status = self.status(name, TABLE['personas'][persona])
                    if status != wanted:
                        wrong[self.what, name, persona] = status
        self.assertEqual({}, wrong)

    def test_lists_have_no_others(self):
        """A member's list lacks what the member cannot show; pages are full anyway."""
        service, ids = self.fresh()
        hook, feed = self.hook(service), self.feed(service, resource_id=1)
        for noun, made, own in (('webhooks', hook, 'webhook_id'), ('feeds', feed, 'feed_id')):
            for token, wanted in ((http.MEMBER, [ids[own]]), (self.boss, sorted([ids[own], made]))):
                answer = http.send(service.app, 'GET', f'/v1/{noun}', token=token, version='1.5')
                self.assertEqual(wanted, [one['id'] for one in answer.json[noun]])

    def spoils(self, method, path):
        return method == 'DELETE' or path.endswith('/reallocate')

    def fresh(self):
        service, ids = super().fresh()
        make = getattr(self, 'what', '').replace(' ', '_')
        return service, {**ids, **getattr(self, f'make_{make}', lambda *_: {})(service, ids)}

    def make_webhook_of_all_projects(self, service, ids):
        return {'webhook_id': self.hook(service)}

    def make_feed_of_a_resource(self, service, ids):
        return {'feed_id': self.feed(service, resource_id=1)}

    def make_feed_of_the_project(self, service, ids):
        return {'feed_id': self.feed(service)}

    def make_feed_of_a_lease(self, service, ids):
        return {'feed_id': self.feed(service, lease_id=ids['lease_id'])}

    def make_lease_moved_by_force(self, service, ids):
        body = {'reservation_id': ids['reservation_id'], 'resource_id': ids['taken_id']}
        path = f'/v1/leases/{ids["lease_id"]}/reallocate'
        body['force'] = True
        http.expect(200, http.send(service.app, 'POST', path, body, token=self.boss, version='1.2'))
        rows = http.send(service.app, 'GET', '/v1/os-hosts/allocations').json['allocations']
        (taken,) = (row['resource_id'] for row in rows if row['reservations'])
        return {'taken_id': taken}

    def hook(self, service):
        """Return the id of a webhook of all projects, made by an administrator of blue."""
        body = {'url': 'https://example.org/', 'all_projects': True}
        answer = http.send(
            service.app, 'POST', '/v1/webhooks', body, token=self.boss, version='1.5'
        )
        return answer.json['webhook']['id']

    def feed(self, service, **body):
        """Return the id of a feed, made by an administrator of blue."""
        answer = http.send(service.app, 'POST', '/v1/feeds', body, token=self.boss, version='1.5')
        return answer.json['feed']['id']


class InvisibleTest(base.TestCase):
    """What others do not learn."""

    def test_leases_of_other_projects_are_in_no_list(self):
        service = self.useFixture(fixtures.Service())
        http.send(service.app, 'POST', '/v1/leases', http.LEASE, token=http.MEMBER)
        for token, count in ((http.MEMBER, 1), ('bob:red:member', 0), (http.ADMIN, 1)):
            answer = http.send(service.app, 'GET', '/v1/leases', token=token)
            self.assertEqual(count, len(answer.json['leases']), token)

    def test_one_lease_that_is_there_and_one_that_is_not_look_alike(self):
        service = self.useFixture(fixtures.Service())
        answer = http.send(service.app, 'POST', '/v1/leases', http.LEASE, token=http.MEMBER)
        real = answer.json['lease']['id']
        false = '11111111-2222-3333-4444-555555555555'
        for method, body in (('GET', None), ('PUT', {'name': 'x'}), ('DELETE', None)):
            texts = []
            for lease_id in (real, false):
                answer = http.send(
                    service.app, method, f'/v1/leases/{lease_id}', body, token='bob:red:member'
                )
                self.assertEqual(404, answer.status_int)
                texts.append(answer.json['error_message'].replace(lease_id, ''))
            self.assertEqual(texts[0], texts[1])

    def test_an_operator_may_lease_for_their_own_project_only(self):
        service = self.useFixture(fixtures.Service())
        answer = http.send(service.app, 'POST', '/v1/leases', {**http.LEASE, 'project_id': 'blue'})
        self.assertEqual('ops', answer.json['lease']['project_id'])
