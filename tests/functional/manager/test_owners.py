# SPDX-License-Identifier: Apache-2.0

"""Webhooks and feeds end with the rights of their users, and say why."""

from __future__ import annotations

import logging
from typing import Any

import fixtures
import jsonschema
from oslo_config import cfg
from oslo_policy import opts as policy_opts

from climate.cmd import managing
from climate.manager.periodic.owners import OwnerThread
from climate.messaging import schemas
from climate.metrics import catalogue
from climate.upkeep.owners import OwnerCheck
from climate.upkeep.trusts import TrustCheck
from tests import base
from tests import metrics
from tests.databases import fetch
from tests.functional import http
from tests.functional.fixtures import Service
from tests.narrowing import present

ADMIN = 'root:blue:admin'
BOB = 'bob:blue:member'


class TestOwners(base.TestCase):
    """A service with webhooks and feeds, and managers that ask Keystone."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(Service())
        self.cloud = self.service.cloud
        self.logged = self.useFixture(fixtures.FakeLogger(level=logging.WARNING))
        self.metrics = self.useFixture(metrics.RecordedMetrics())
        for user, role in (('alice', 'member'), ('bob', 'member'), ('root', 'admin')):
            self.cloud.put_member(user, 'blue', role)
        self.hook = self.make('webhook', http.MEMBER)
        self.everywhere = self.make('webhook', ADMIN, all_projects=True)
        self.of_root = self.make('webhook', ADMIN)
        self.feed = self.make('feed', http.MEMBER)
        self.of_resource = self.make('feed', ADMIN, resource_id=1)
        conf = cfg.ConfigOpts()
        conf([])
        conf.register_opt(cfg.StrOpt('auth_strategy', default='keystone'))
        policy_opts.set_defaults(conf, policy_file=None)
        may = present(managing.policy(conf))
        trusts = TrustCheck(self.service.store, self.service.plugins)
        self.check = OwnerCheck(self.service.store, self.cloud, may, trusts)

    def make(self, noun: str, token: str, **facts: Any) -> dict[str, Any]:
        body = {'url': 'https://example.org/'} if noun == 'webhook' else {}
        return dict(self.send('POST', f'/{noun}s', {**body, **facts}, token).json[noun])

    def send(self, method: str, path: str, body: Any = None, token: str = ADMIN) -> Any:
        return http.send(self.service.app, method, f'/v1{path}', body, token=token, version='1.6')

    def reason(self, noun: str, made: dict[str, Any]) -> Any:
        return self.send('GET', f'/{noun}s/{made["id"]}').json[noun]['stopped_reason']

    def opens(self, feed: dict[str, Any]) -> bool:
        path = feed['url'].removeprefix('http://localhost')
        return http.send(self.service.app, 'GET', path).status_int == 200

    def test_nothing_stops_while_all_have_their_roles(self) -> None:
        self.assertEqual(0, self.check.run())
        for noun, made in (('webhook', self.hook), ('webhook', self.everywhere)):
            self.assertIsNone(self.reason(noun, made))
        self.assertTrue(self.opens(self.feed))

    def test_a_user_who_left_the_project(self) -> None:
        self.cloud.put_member('alice', 'blue')
        self.assertEqual((2, 0), (self.check.run(), self.check.run()))
        right = 'climate:webhooks:create'
        found = self.reason('webhook', self.hook)
        self.assertEqual(f'user alice has lost the right {right}', found)
        self.assertIn('climate:feeds:create', self.reason('feed', self.feed))
        shown = self.send('GET', f'/webhooks/{self.hook["id"]}').json['webhook']
        self.assertFalse(shown['enabled'])
        self.assertFalse(self.opens(self.feed))
        self.assertTrue(self.opens(self.of_resource))
        line = f'Webhook {self.hook["id"]} of project blue is stopped: user alice has lost'
        self.assertIn(line, self.logged.output)
        self.assertEqual([('feed', 1), ('webhook', 1)], sorted(self.metrics.of(catalogue.STOPPED)))

    def test_notifications(self) -> None:
        """Sent once, also to another webhook of the project, which is not that of the user."""
        self.cloud.put_member('alice', 'blue')
        self.check.run()
        self.check.run()
        found = fetch(self.service.store, lambda tx: tx.outbox.unsent())
        self.assertEqual(
            {'webhook.stopped': self.hook['id'], 'feed.stopped': self.feed['id']},
            {row.event_type: row.payload['id'] for row in found},
        )
        self.assertEqual(2, len(found))
        for row in found:
            payload = dict(row.payload)
            jsonschema.validate(payload, schemas.SCHEMAS[row.event_type])
            self.assertEqual(('alice', 'blue'), (payload['user_id'], payload['project_id']))
            self.assertIn('has lost the right', payload['reason'])
            self.assertEqual('', row.lease_id)
        self.service.store.run(lambda tx: tx.outbox.claim('m', tx.now, 10))
        for hook, number in ((self.of_root, 2), (self.everywhere, 2), (self.hook, 0)):
            deliveries = self.send('GET', f'/webhooks/{hook["id"]}/deliveries').json['deliveries']
            types = [one['event_type'] for one in deliveries]
            self.assertEqual(number, len(types), types)

    def test_an_administrator_who_is_a_member_now(self) -> None:
        """Only what needs the right of administrators stops."""
        self.cloud.put_member('root', 'blue', 'member')
        self.assertEqual(2, self.check.run())
        self.assertIn('create_for_all_projects', self.reason('webhook', self.everywhere))
        self.assertIn('create_for_resource', self.reason('feed', self.of_resource))
        self.assertIsNone(self.reason('webhook', self.of_root))
        self.assertFalse(self.opens(self.of_resource))

    def test_a_user_or_a_project_that_is_disabled_or_gone(self) -> None:
        self.cloud.set_enabled(user_id='alice', enabled=False)
        self.assertEqual(2, self.check.run())
        self.assertEqual('user alice is disabled', self.reason('webhook', self.hook))
        self.cloud.remove_user('root')
        self.assertEqual(3, self.check.run())
        self.assertEqual('user root is deleted', self.reason('feed', self.of_resource))

    def test_a_project_that_is_gone(self) -> None:
        self.cloud.remove_project('blue')
        self.assertEqual(5, self.check.run())
        self.assertEqual('project blue is deleted', self.reason('webhook', self.hook))

    def test_an_unavailable_keystone_stops_no_lease(self) -> None:
        self.cloud.put_member('alice', 'blue')
        self.cloud.reachable = False
        self.assertEqual(0, self.check.run())
        self.cloud.reachable = True
        self.assertIsNone(self.reason('webhook', self.hook))
        self.assertTrue(self.opens(self.feed))
        self.assertIn('so that their webhooks and feeds go on', self.logged.output)

    def test_each_user_is_looked_up_once(self) -> None:
        asked: list[str] = []
        identity = self.cloud.identity

        class Counting:
            def __getattr__(self, name: str) -> Any:
                asked.append(name)
                return getattr(identity, name)

        class Cloud:
            identity = Counting()

        found: Any = Cloud()
        OwnerCheck(self.service.store, found, self.check._may, self.check._trusts).run()
        self.assertEqual((2, 6), (asked.count('list_roles'), len(asked)))

    def test_another_user_of_the_project_takes_it_over(self) -> None:
        self.cloud.put_member('alice', 'blue')
        self.check.run()
        path = f'/webhooks/{self.hook["id"]}'
        answer = http.expect(409, self.send('PUT', path, {'enabled': True}, 'root:ops:admin'))
        self.assertIn('user alice has lost the right', answer.json['error_message'])
        # To change something else enables nothing.
        self.assertEqual(200, self.send('PUT', path, {'name': 'x'}, BOB).status_int)
        self.assertIsNotNone(self.reason('webhook', self.hook))
        answer = self.send('PUT', path, {'enabled': True}, BOB)
        self.assert_has(answer.json['webhook'], enabled=True, user_id='bob', stopped_reason=None)
        self.assertEqual(0, self.check.run())

    def test_a_user_who_has_changed_the_url_and_left(self) -> None:
        """The rights of the user who has set the URL count, not of the one who created it."""
        self.cloud.put_member('mallory', 'blue', 'member')
        path, mallory = f'/webhooks/{self.hook["id"]}', 'mallory:blue:member'
        answer = self.send('PUT', path, {'name': 'x', 'rotate_secret': True}, mallory)
        self.assertEqual('alice', answer.json['webhook']['user_id'])
        answer = self.send('PUT', path, {'url': 'https://mallory.example.net/'}, mallory)
        self.assertEqual('mallory', answer.json['webhook']['user_id'])
        self.cloud.put_member('mallory', 'blue')
        self.assertEqual(1, self.check.run())
        self.assertIn('user mallory has lost the right', self.reason('webhook', self.hook))

    def test_an_operator_of_another_project_sets_no_url(self) -> None:
        """Only roles in the project of the webhook are checked."""
        operator = 'root:ops:admin'
        for hook in (self.hook, self.everywhere):
            path = f'/webhooks/{hook["id"]}'
            http.expect(409, self.send('PUT', path, {'url': 'https://ops.example.net/'}, operator))
            self.assertEqual('https://example.org/', self.send('GET', path).json['webhook']['url'])
            same = {'url': 'https://example.org/', 'enabled': False}
            self.assertEqual(200, self.send('PUT', path, same, operator).status_int)

    def test_one_manager_at_a_time(self) -> None:
        store, clock = self.service.store, self.service.clock
        one, other = (
            OwnerThread(self.check, store, clock, name, 3600.0) for name in ('one', 'other')
        )
        self.cloud.put_member('alice', 'blue')
        self.assertEqual(0, one.look())
        clock.advance(3601)
        self.assertEqual(2, other.look())
        self.cloud.put_member('root', 'blue')
        self.assertEqual(0, one.look())

    def test_without_authentication_there_is_no_check(self) -> None:
        conf = cfg.ConfigOpts()
        conf.register_opt(cfg.StrOpt('auth_strategy', default='noauth'))
        conf([])
        self.assertIsNone(managing.policy(conf))
        OwnerThread(None, self.service.store, self.service.clock, 'one', 3600.0).start()

    def test_the_older_microversion_shows_what_it_showed(self) -> None:
        answer = http.send(self.service.app, 'GET', '/v1/webhooks', token=ADMIN, version='1.5')
        self.assertNotIn('stopped_reason', answer.json['webhooks'][0])
