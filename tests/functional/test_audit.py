# SPDX-License-Identifier: Apache-2.0

"""Who changed what: the audit trail, from HTTP to the message bus."""

from __future__ import annotations

import json
from typing import Any

import webob
from oslo_config import cfg
from oslo_messaging.notify import _impl_test as bus
from pycadf import cadftype
from pycadf import event as cadf

from climate import conf as climate_conf
from climate.clock import ManualClock
from climate.cmd import auditing
from climate.conf import audit
from climate.conf import notifications
from climate.messaging import background
from climate.messaging import publisher
from climate.messaging import transport
from tests import base
from tests.functional import bodies
from tests.functional import http
from tests.functional.fixtures import NOW
from tests.functional.fixtures import Service

LEASE = bodies.lease('tuesday', '2031-05-01T12:00:00Z', '2031-05-02T12:00:00Z', bodies.hosts())
SECRET = 'opensesame'


class AuditCase(base.TestCase):
    """A service that records who changed what."""

    def setUp(self) -> None:
        super().setUp()
        self.audited: list[dict[str, Any]] = []
        service = Service()
        service.audit = self.audited.append
        self.service = self.useFixture(service)

    def send(self, method: str, path: str, body: Any = None, **facts: Any) -> Any:
        """Send a request of a member from somewhere."""
        facts = {'version': '1.3', 'token': http.MEMBER, **facts}
        return http.send(
            self.service.app, method, f'/v1{path}', body, headers={'User-Agent': 'curl/8'}, **facts
        )

    def parts(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return what the object was before and after."""
        return {item['name']: item['content'] for item in event.get('attachments', ())}


class TestAudit(AuditCase):
    """The audit events of changes."""

    def test_a_life(self) -> None:
        made = self.send('POST', '/leases', LEASE)
        lease = made.json['lease']
        path = f'/leases/{lease["id"]}'
        changed = self.send('PUT', path, {'name': 'wednesday'})
        self.assertEqual(204, self.send('DELETE', path).status_int)
        create, update, delete = self.audited
        for event in self.audited:
            self.assert_has(event, outcome='success', eventType=cadftype.EVENTTYPE_ACTIVITY)
            who = event['initiator']
            self.assertEqual(('alice', 'blue'), (who['id'], who['project_id']))
            self.assertEqual('curl/8', who['host']['agent'])
            self.assert_has(event['target'], id=lease['id'], typeURI='service/reservation/leases')
        self.assertEqual(
            ['create', 'update', 'delete'], [event['action'] for event in self.audited]
        )
        found = [event['reason']['reasonCode'] for event in self.audited]
        self.assertEqual(['201', '200', '204'], found)
        self.assertIn(made.headers['x-openstack-request-id'], create['tags'][0])
        self.assertEqual({'after': made.json}, self.parts(create))
        self.assertEqual({'before': made.json, 'after': changed.json}, self.parts(update))
        self.assertEqual({'before': changed.json}, self.parts(delete))

    def test_what_is_refused(self) -> None:
        lease = self.send('POST', '/leases', LEASE).json['lease']
        self.audited.clear()
        path = f'/leases/{lease["id"]}'
        self.assertEqual(400, self.send('PUT', path, {'end_date': 'never'}).status_int)
        self.assertEqual(404, self.send('DELETE', path, token='eve:red:member').status_int)
        self.assertEqual(403, self.send('POST', '/os-hosts', {'name': 'compute-1'}).status_int)
        update, delete, create = self.audited
        self.assertEqual(['failure'] * 3, [event['outcome'] for event in self.audited])
        self.assertEqual({'lease': lease}, self.parts(update)['before'])
        # Nothing that its caller may not see.
        self.assertEqual(('eve', {}), (delete['initiator']['id'], self.parts(delete)))
        self.assertEqual('service/reservation/hosts', create['target']['typeURI'])

    def test_what_changes_nothing(self) -> None:
        """Offers and rehearsals ask what would be: they create and change nothing."""
        lease = self.send('POST', '/leases', LEASE).json['lease']
        self.audited.clear()
        wanted = {'reservations': LEASE['reservations'], 'duration': '1h'}
        path, dry = f'/leases/{lease["id"]}', {'dry_run': True}
        many = {'reservations': [{'resource_type': 'physical:host', 'min': 99, 'max': 99}]}
        requests = (
            ('POST', '/offers', wanted, 200),
            ('POST', '/offers', {}, 400),
            ('POST', '/leases', {**LEASE, **dry}, 200),
            ('POST', '/leases', {**LEASE, **many, **dry}, 409),
            ('PUT', path, {'name': 'thursday', **dry}, 200),
        )
        for method, where, body, status in requests:
            http.expect(status, self.send(method, where, body, version='1.4'))
        self.assertEqual(['evaluate'] * len(requests), [event['action'] for event in self.audited])
        self.assertEqual([], [event for event in self.audited if 'after' in self.parts(event)])
        self.send('PUT', path, {'name': 'thursday'}, version='1.4')
        self.assertEqual('update', self.audited[-1]['action'])

    def test_a_hold_is_a_change(self) -> None:
        wanted = {'reservations': LEASE['reservations'], 'duration': '1h', 'hold': '60s'}
        held = self.send('POST', '/offers', wanted, version='1.4').json['offers'][0]
        self.send('DELETE', f'/offers/{held["id"]}', version='1.4')
        created, deleted = self.audited
        self.assertEqual(['create', 'delete'], [created['action'], deleted['action']])
        self.assertEqual(held['id'], self.parts(created)['after']['offer']['id'])
        self.assertEqual(held['id'], deleted['target']['id'])

    def test_a_body_that_is_no_form(self) -> None:
        for method, path, status in (
            ('POST', '/leases', 415),
            ('PATCH', '/leases', 405),
            ('POST', '/nowhere', 404),
        ):
            request = webob.Request.blank(f'/v1{path}', method=method, body=b'x')
            request.content_type = 'multipart/form-data'
            request.headers['X-Auth-Token'] = http.MEMBER
            self.assertEqual(status, request.get_response(self.service.app).status_int)
        (event,) = self.audited
        self.assertEqual('415', event['reason']['reasonCode'])

    def test_reads_and_unknown_clients_are_not_reported(self) -> None:
        self.send('GET', '/leases')
        self.send('POST', '/nowhere', {})
        self.assertEqual([], self.audited)

    def test_from_where(self) -> None:
        environ = {'REMOTE_ADDR': '203.0.113.9'}

        def app(original: Any) -> Any:
            return lambda env, start: original({**env, **environ}, start)

        self.service.app = app(self.service.app)
        self.send('POST', '/leases', LEASE)
        (event,) = self.audited
        self.assertEqual('203.0.113.9', event['initiator']['host']['address'])

    def test_other_objects(self) -> None:
        admin = {'token': http.ADMIN}
        (host, *_) = self.send('GET', '/os-hosts', **admin).json['hosts']
        self.send('PUT', f'/os-hosts/{host["id"]}', {'rack': 'r9'}, **admin)
        self.send('PATCH', '/os-hosts/properties/rack', {'private': True}, **admin)
        lease = self.send('POST', '/leases', LEASE).json['lease']
        path = f'/leases/{lease["id"]}/readiness'
        self.send('POST', path, {'ready': [], 'waiting': ['compute-1']}, **admin)
        update, private, _, said = self.audited
        found = self.parts(update)
        self.assertEqual(host['rack'], found['before']['host']['rack'])
        self.assertEqual('r9', found['after']['host']['rack'])
        self.assertEqual('rack', private['target']['id'])
        self.assertFalse(self.parts(private)['before']['resource_property']['private'])
        self.assertEqual(('update/readiness', lease['id']), (said['action'], said['target']['id']))

    def test_nothing_secret_is_shown(self) -> None:
        server = {'resource_type': 'virtual:server', 'name': 'web', 'flavor': '1', 'image': ''}
        server['block_device_mapping'] = [{'source_type': 'blank', 'volume_size': 1}]
        body = {**LEASE, 'reservations': [{**server, 'user_data': SECRET, 'guarantee': False}]}
        http.expect(201, self.send('POST', '/leases', body))
        text = json.dumps(self.audited)
        self.assertIn('service/reservation/leases', text)
        self.assertNotIn(SECRET, text)
        self.assertNotIn(http.MEMBER, text)

    def test_no_secret_of_a_response_is_shown(self) -> None:
        """What is shown only once is not shown to readers of the trail."""
        hook = {'url': 'https://example.org/', 'name': 'chat'}
        made = self.send('POST', '/webhooks', hook, version='1.5').json['webhook']
        path = f'/webhooks/{made["id"]}'
        changed = self.send('PUT', path, {'rotate_secret': True}, version='1.5').json['webhook']
        shown = self.send('GET', path, version='1.5').json
        # The path of such a URL is often a secret.
        shown['webhook']['url'] = 'https://example.org/***'
        self.send('POST', f'{path}/test', {}, version='1.5')
        feed = self.send('POST', '/feeds', {'name': 'ours'}, version='1.5').json['feed']
        shown_feed = self.send('GET', f'/feeds/{feed["id"]}', version='1.5').json
        create, update, test, subscribe = self.audited
        text = json.dumps(self.audited)
        link = feed['url'].rpartition('/')[2].partition('.')[0]
        for secret in (made['secret'], changed['secret'], link):
            self.assertNotIn(secret, text)
        self.assertEqual({'before', 'after'}, set(self.parts(update)))
        self.assertEqual(shown, self.parts(update)['after'])
        self.assertEqual(shown, self.parts(test)['after'])
        self.assertEqual(shown_feed, self.parts(subscribe)['after'])
        self.assertEqual('chat', self.parts(create)['after']['webhook']['name'])
        targets = [event['target']['id'] for event in self.audited]
        self.assertEqual([made['id']] * 3 + [feed['id']], targets)

    def test_what_every_post_creates(self) -> None:
        """The object is read where the response says that it is."""
        admin = {'token': http.ADMIN, 'version': '1.5'}
        maintenance = bodies.maintenance(
            'compute-1', '2031-02-01T00:00:00Z', '2031-02-02T00:00:00Z'
        )
        http.send(self.service.app, 'DELETE', '/v1/os-hosts/4')
        self.audited.clear()
        for path, body in (
            ('/resource-types', {'name': 'custom:laser', 'noun': 'lasers'}),
            ('/resources', {'resource_type': 'custom:laser', 'name': 'red 1'}),
            ('/maintenances', maintenance),
            ('/os-hosts', {'name': 'compute-4'}),
        ):
            answer = http.expect(201, self.send('POST', path, body, **admin))
            self.assertEqual({'after': answer.json}, self.parts(self.audited[-1]), path)

    def test_what_no_handler_sees(self) -> None:
        """One event of refusals that are alike, with nothing that a caller only claims."""
        large = {'name': 'x' * 2_000_000}
        claims = {'version': '1.5', 'token': http.MEMBER}
        for _ in range(3):
            self.assertEqual(413, self.send('POST', '/leases', large, **claims).status_int)
        self.assertEqual(406, self.send('POST', '/leases', {}, version='9.9').status_int)
        self.service.clock.advance(61)
        self.send('POST', '/leases', large, **claims)
        codes = [event['reason']['reasonCode'] for event in self.audited]
        self.assertEqual(['413', '406', '413'], codes)
        self.assertEqual(['failure'] * 3, [event['outcome'] for event in self.audited])
        self.assertEqual('service/reservation/leases', self.audited[0]['target']['typeURI'])
        self.assertEqual('unknown', self.audited[1]['initiator']['id'])
        self.assertIn('repeated?value=2', self.audited[2]['tags'])

    def limited(self, option: str) -> None:
        """Allow one request a day, send it, and forget its audit events."""
        for each in ('per_project', 'per_address'):
            limit = '1/day' if each == option else ''
            self.service.conf.set_override(each, limit, group='rate_limit')
        self.service.app = self.service.made()
        self.send('GET', '/leases')
        self.audited.clear()

    def test_too_many_requests(self) -> None:
        """Of a project, which is known, and of an address, before anybody is."""
        for option, who in (
            ('per_project', ('alice', 'blue')),
            ('per_address', ('unknown', 'unknown')),
        ):
            self.limited(option)
            for _ in range(3):
                self.assertEqual(429, self.send('DELETE', '/leases/x').status_int)
            (event,) = self.audited
            initiator = event['initiator']
            self.assertEqual(who, (initiator['id'], initiator['project_id']))
            self.assertEqual('429', event['reason']['reasonCode'])
            self.assertEqual(('delete', 'failure'), (event['action'], event['outcome']))
            self.assertEqual('service/reservation/leases', event['target']['typeURI'])
            self.service.clock.advance(61)
            self.send('DELETE', '/leases/x')
            self.assertIn('repeated?value=2', self.audited[-1]['tags'])
            self.send('GET', '/leases')
            self.assertEqual(2, len(self.audited))

    def test_a_trail_that_fails_changes_nothing(self) -> None:
        def fail(_: Any) -> None:
            raise OSError('no')

        self.service.audit = fail
        self.service.app = self.service.made()
        self.assertEqual(201, self.send('POST', '/leases', LEASE).status_int)


class TestBus(base.TestCase):
    """How events get to the bus."""

    def configured(self, **options: Any) -> cfg.ConfigOpts:
        """Return a configuration with the bus of the library for tests."""
        conf = cfg.ConfigOpts()
        climate_conf.register_opts(conf, audit, notifications)
        transport.set_defaults(conf)
        conf([])
        conf.set_override('transport_url', 'fake://')
        conf.set_override('driver', ['test'], group='oslo_messaging_notifications')
        for name, value in options.items():
            conf.set_override(name, value, group='audit')
        return conf

    def test_off_by_default(self) -> None:
        self.assertIsNone(auditing.recorder(self.configured(), ManualClock(NOW)))

    def test_sent_as_a_notification(self) -> None:
        bus.reset()
        self.addCleanup(bus.reset)
        line = background.BackgroundPublisher(publisher.from_conf(self.configured(enabled=True)))
        event = cadf.Event(
            eventType='activity', id='1', eventTime='now', action='create', outcome='success'
        )
        payload = {'id': event.id, 'action': 'create'}
        line.post(
            publisher.OutboxMessage(
                id='1', event_type='audit.http.response', payload=payload, created_at=NOW
            )
        )
        line.flush()
        ((_, message, priority, _),) = bus.NOTIFICATIONS
        self.assertEqual('info', priority.lower())
        self.assert_has(message, event_type='audit.http.response', payload=payload)

    def test_what_the_bus_does_not_take_is_in_the_log(self) -> None:
        class Away:
            def publish(self, messages: Any) -> None:
                raise publisher.BrokerUnavailable

        line = background.BackgroundPublisher(Away())
        message = publisher.OutboxMessage(
            id='1', event_type='audit.http.response', payload={'action': 'x'}, created_at=NOW
        )
        with self.assertLogs('climate.messaging.background', 'ERROR') as logged:
            line.post(message)
            line.flush()
        self.assertIn('{"action": "x"}', logged.output[0])
