# SPDX-License-Identifier: Apache-2.0

"""Webhooks: what managers send, to whom, how often, and what they never send twice at once."""

from __future__ import annotations

import dataclasses
import datetime
import ipaddress
import logging
from typing import Any

import fixtures
from cryptography import fernet
from oslo_db import exception as oslo_exception

from climate import exceptions
from climate.db.administration import rotation
from climate.db.encryption.vault import Vault
from climate.db.schema.tables import WEBHOOKS
from climate.domain.requests import Reach
from climate.domain.webhooks import Delivery
from climate.domain.webhooks import DeliveryState
from climate.domain.webhooks import Webhook
from climate.domain.webhooks import WebhookChange
from climate.domain.webhooks import WebhookDraft
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from climate.manager.senders.outbox import OutboxSender
from climate.manager.senders.webhooks import WebhookSender
from climate.manager.senders.webhooks import WebhookSenderSettings
from climate.messaging.publisher import BrokerUnavailable
from climate.metrics import catalogue
from climate.testing.service import subscriptions
from climate.webhooks.posts import Poster
from climate.webhooks.posts import PosterSettings
from climate.webhooks.sending import EventSender
from tests import base
from tests import metrics
from tests import services
from tests.databases import fetch
from tests.functional.manager import harness
from tests.functional.manager.harness import Site
from tests.functional.manager.receivers import Receiver
from tests.functional.manager.receivers import signed_by

ANY = Reach()
OTHER = dataclasses.replace(harness.CALLER, project_id='red')
HERE = PosterSettings(allow_http=True, allowed=(ipaddress.ip_network('127.0.0.0/8'),), timeout=60.0)
SETTINGS = WebhookSenderSettings(attempts=3, first_pause=10.0, longest_pause=15.0)


class WebhookTest(base.TestCase):
    """A deployment, and a receiver on this machine."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site(database=self.kind, hosts=0))
        self.useFixture(fixtures.FakeLogger(level=logging.WARNING))
        self.receiver = self.useFixture(Receiver())
        self.subscriptions = subscriptions(self.site.store, ProjectLimits(), HERE)
        # What a deployment writes before its test begins.
        self.outbox().send_once()

    def subscribe(self, caller: Any = harness.CALLER, **facts: Any) -> Webhook:
        draft = WebhookDraft(**{'url': self.receiver.url, **facts})
        return self.subscriptions.create(caller, draft)

    def outbox(self) -> OutboxSender:
        site = self.site
        facts = {'batch': 100, 'attempts': 2, 'max_sleep': 1.0, 'claim_seconds': 10.0}
        return OutboxSender(site.store, site.clock, site.bus, 'outbox', **facts)

    def sender(self, owner: str = 'me', poster: Poster | None = None) -> WebhookSender:
        events = EventSender(poster or Poster(HERE), self.site.clock, '/reservation')
        found = WebhookSender(
            self.site.store, self.site.clock, events, owner, SETTINGS, max_sleep=1.0
        )
        self.addCleanup(found.stop, 1.0)
        return found

    def deliveries(self, webhook: Webhook, state: DeliveryState | None = None) -> list[Delivery]:
        return self.subscriptions.deliveries(webhook.id, ANY, state, None, 100)


@services.on_each_engine(WebhookTest, 'TestOn', engines=services.DATABASE_SERVERS)
class Delivered:
    """What is the same on all databases."""

    def test_a_notification_arrives_signed_as_a_cloud_event(self) -> None:
        webhook = self.subscribe()
        lease = self.site.create(600, 3600, hosts=0, name='night run')
        self.outbox().send_once()
        self.sender().send_once()
        (one,) = self.receiver.received
        self.assertTrue(signed_by(one, webhook.secrets[0]))
        self.assertEqual('/hook', one.path)
        self.assertEqual('application/cloudevents+json; charset=utf-8', one.headers['content-type'])
        self.assertEqual(
            str(int(self.site.clock.now().timestamp())), one.headers['webhook-timestamp']
        )
        event = one.event
        self.assertEqual([one.headers['webhook-id'], event['id']], [self.site.bus.taken[-1].id] * 2)
        self.assert_has(event, specversion='1.0', source='/reservation', type='lease.create')
        self.assert_has(event, subject=lease.id, datacontenttype='application/json')
        self.assertEqual('2030-01-01T12:00:00.000000Z', event['time'])
        self.assertEqual('night run', event['data']['name'])
        self.assertRegex(event['sequence'], '^[0-9]{20}$')
        (delivery,) = self.deliveries(webhook)
        self.assert_has(delivery, state=DeliveryState.DELIVERED, attempts=1, status=204)
        self.assertEqual(0, self.sender().send_once())
        self.assertEqual(1, len(self.receiver.received))

    def test_projects_get_their_own_and_operators_all(self) -> None:
        theirs = self.subscribe(OTHER)
        everything = self.subscribe(OTHER, all_projects=True)
        some = self.subscribe(event_types=('lease.event.*',))
        disabled = self.subscribe(enabled=False)
        self.site.create(600, 3600, hosts=0)
        self.outbox().send_once()
        found = [len(self.deliveries(one)) for one in (theirs, everything, some, disabled)]
        self.assertEqual([0, 1, 0, 0], found)

    def test_it_is_tried_again_with_growing_pauses_and_then_a_dead_letter(self) -> None:
        webhook = self.subscribe()
        self.site.create(600, 3600, hosts=0)
        self.outbox().send_once()
        self.receiver.answers = lambda _: 503
        sender, pauses = self.sender(), []
        while not self.deliveries(webhook, DeliveryState.DEAD):
            sender.send_once()
            (one,) = self.deliveries(webhook)
            pauses.append((one.due - self.site.clock.now()).total_seconds())
            self.site.clock.advance(max(pauses[-1], 0.0))
        self.assertEqual([10.0, 15.0, 0.0], pauses)
        self.assertEqual('the response has status 503', one.error)
        self.assertEqual((3, 503), (one.attempts, one.status))
        self.assertEqual(1, len({each.body for each in self.receiver.received}))
        found = len({each.headers['webhook-timestamp'] for each in self.receiver.received})
        self.assertEqual(3, found)
        self.receiver.answers = lambda _: 200
        self.assertEqual(0, self.subscriptions.redeliver(webhook.id, ANY, ['other']))
        self.assertEqual(1, self.subscriptions.redeliver(webhook.id, ANY, [one.id]))
        sender.send_once()
        self.assertEqual(DeliveryState.DELIVERED, self.deliveries(webhook)[0].state)

    def test_it_arrives_while_the_bus_is_down(self) -> None:
        self.subscribe()
        self.site.bus.refuses = lambda _: True
        self.site.create(600, 3600, hosts=0)
        # More than the outbox tries at a time.
        self.assertRaises(BrokerUnavailable, self.outbox().send_once)
        self.site.create(600, 3600, hosts=0)
        self.sender().send_once()
        self.assertEqual(1, len(self.receiver.received))
        self.site.clock.advance(2.0)
        self.sender().send_once()
        self.assertEqual(2, len(self.receiver.received))
        self.site.bus.refuses = lambda _: False
        while self.outbox().send_once():
            continue
        self.sender().send_once()
        self.assertEqual(2, len(self.receiver.received))

    def test_what_leaves_the_outbox_has_its_copies(self) -> None:
        """Also if no thread for webhooks ever ran."""
        webhook = self.subscribe()
        leases = [self.site.create(600, 3600, hosts=0) for _ in range(3)]
        self.outbox().send_once()
        self.assertEqual(0, self.site.waiting())
        found = {one.lease_id for one in self.deliveries(webhook)}
        self.assertEqual({lease.id for lease in leases}, found)

    def test_two_copies_of_a_notification_are_refused(self) -> None:
        webhook = self.subscribe()
        self.site.create(600, 3600, hosts=0)
        rows = self.site.store.run(lambda tx: tx.outbox.claim('x', harness.at(9), 5), undone=True)

        def copy_twice(tx: Any) -> None:
            tx.deliveries.copy(rows)
            self.assertRaises(oslo_exception.DBDuplicateEntry, tx.deliveries.copy, rows)
            tx.undo()

        self.site.store.run(copy_twice, undone=True)
        self.assertEqual([], self.deliveries(webhook))

    def test_a_claimed_delivery_is_exclusive_until_the_claim_expires(self) -> None:
        webhook = self.subscribe()
        self.site.create(600, 3600, hosts=0)
        self.outbox().send_once()
        run = self.site.store.run
        (mine,) = run(lambda tx: tx.deliveries.claim('first', harness.at(50), {webhook.id: 9}))
        self.assertEqual(0, self.sender('second').send_once())
        self.site.clock.advance(51)
        (theirs,) = run(lambda tx: tx.deliveries.claim('second', harness.at(99), {webhook.id: 9}))
        self.assertEqual(mine.id, theirs.id)
        # The first one is back, too late.
        run(lambda tx: tx.deliveries.fail(mine, 'first', error='x', status=None, due=None))
        (one,) = self.deliveries(webhook)
        self.assertEqual((DeliveryState.WAITING, 0), (one.state, one.attempts))
        run(lambda tx: tx.deliveries.deliver(theirs, 'second', 200))
        self.assertEqual(DeliveryState.DELIVERED, self.deliveries(webhook)[0].state)

    def test_a_webhook_with_many_hides_no_others(self) -> None:
        busy, quiet, off = self.subscribe(), self.subscribe(OTHER), self.subscribe()
        for _ in range(20):
            self.subscriptions.test(busy.id, ANY)
        for webhook in (quiet, off):
            self.subscriptions.test(webhook.id, ANY)
        self.subscriptions.update(harness.CALLER, off.id, ANY, WebhookChange(enabled=False))
        run = self.site.store.run
        due = run(lambda tx: sorted(tx.deliveries.due()))
        self.assertEqual(sorted([(busy.id, harness.PROJECT), (quiet.id, 'red')]), due)
        wanted = {busy.id: 2, quiet.id: 2}
        first = run(lambda tx: tx.deliveries.claim('me', harness.at(50), wanted))
        self.assertEqual([busy.id] * 2 + [quiet.id], [one.webhook_id for one in first])
        self.assertEqual([(busy.id, harness.PROJECT)], run(lambda tx: tx.deliveries.due()))

    def test_tests_count_among_what_waits(self) -> None:
        self.useFixture(fixtures.MonkeyPatch('climate.db.messages.deliveries.MOST_WAITING', 3))
        webhook, other = self.subscribe(), self.subscribe()
        for _ in range(3):
            self.subscriptions.test(webhook.id, ANY)
        error = self.assertRaises(
            exceptions.TooManyRequests, self.subscriptions.test, webhook.id, ANY
        )
        self.assertEqual(60, error.facts['retry_after'])
        self.assertEqual(3, len(self.deliveries(webhook)))
        self.subscriptions.test(other.id, ANY)
        self.sender().send_once()
        self.subscriptions.test(webhook.id, ANY)


class TestOnSqlite(Delivered, WebhookTest):
    """SQLite, and what is the same on all."""

    def test_both_secrets_sign_during_a_rotation(self) -> None:
        webhook = self.subscribe()
        change = WebhookChange(rotates=True, overlap=datetime.timedelta(hours=1))
        new = self.subscriptions.update(harness.CALLER, webhook.id, ANY, change).secrets[0]
        old = webhook.secrets[0]
        self.subscriptions.test(webhook.id, ANY)
        self.sender().send_once()
        self.site.clock.advance(3600)
        self.subscriptions.test(webhook.id, ANY)
        self.sender().send_once()
        during, after = self.receiver.received
        self.assertEqual((True, True), (signed_by(during, old), signed_by(during, new)))
        self.assertEqual((False, True), (signed_by(after, old), signed_by(after, new)))

    def test_metrics_of_attempts(self) -> None:
        recorded = self.useFixture(metrics.RecordedMetrics())
        webhook = self.subscribe()
        self.subscriptions.test(webhook.id, ANY)
        self.sender().send_once()
        self.receiver.answers = lambda _: 503
        self.subscriptions.test(webhook.id, ANY)
        sender = self.sender()
        for _ in range(SETTINGS.attempts):
            sender.send_once()
            self.site.clock.advance(SETTINGS.longest_pause)
        nowhere = Poster(PosterSettings(allow_http=True))
        self.subscriptions.test(webhook.id, ANY)
        self.sender(poster=nowhere).send_once()
        outcomes = [outcome for (outcome,) in recorded.labels(catalogue.WEBHOOK_ATTEMPTS)]
        self.assertEqual(['accepted', *['refused'] * 3, 'unreachable'], outcomes)
        self.assertTrue(all(0 < one[1] < 60 for one in recorded.of(catalogue.WEBHOOK_ATTEMPTS)))
        self.assertEqual(1, sum(one for (one,) in recorded.of(catalogue.DEAD_LETTERS)))
        self.assertEqual(1, len(self.deliveries(webhook, DeliveryState.DEAD)))

    def test_redirections_are_not_followed(self) -> None:
        webhook = self.subscribe()
        self.receiver.answers = lambda _: 307
        self.receiver.location = self.receiver.url
        self.subscriptions.test(webhook.id, ANY)
        self.sender().send_once()
        self.assertEqual(1, len(self.receiver.received))
        (one,) = self.deliveries(webhook)
        self.assertEqual('the response has status 307', one.error)

    def test_the_address_counts_not_the_name(self) -> None:
        webhook = self.subscribe(url='http://localhost/')
        self.subscriptions.test(webhook.id, ANY)
        self.sender(poster=Poster(PosterSettings(allow_http=True))).send_once()
        (one,) = self.deliveries(webhook)
        self.assertEqual('the host has no address that is allowed', one.error)

    def test_a_deleted_webhook_gets_nothing_more(self) -> None:
        webhook = self.subscribe()
        self.subscriptions.test(webhook.id, ANY)
        self.subscriptions.delete(webhook.id, ANY)
        self.assertEqual(0, self.sender().send_once())
        self.assertEqual([], self.receiver.received)

    def test_a_disabled_one_waits(self) -> None:
        webhook = self.subscribe()
        self.subscriptions.test(webhook.id, ANY)
        self.subscriptions.update(harness.CALLER, webhook.id, ANY, WebhookChange(enabled=False))
        self.assertEqual(0, self.sender().send_once())
        self.subscriptions.update(harness.CALLER, webhook.id, ANY, WebhookChange(enabled=True))
        self.assertEqual(1, self.sender().send_once())

    def test_a_project_has_so_many(self) -> None:
        few = subscriptions(self.site.store, ProjectLimits(usual=Limits(webhooks=1)), HERE)
        few.create(harness.CALLER, WebhookDraft(url=self.receiver.url))
        again = WebhookDraft(url=self.receiver.url)
        self.assertRaises(exceptions.ProjectLimit, few.create, harness.CALLER, again)
        few.create(OTHER, again)

    def test_records_are_kept_for_a_while(self) -> None:
        webhook = self.subscribe()
        self.subscriptions.test(webhook.id, ANY)
        self.sender().send_once()
        self.sender().send_once()
        self.assertEqual(1, len(self.deliveries(webhook)))
        self.site.clock.advance(86401)
        self.sender().send_once()
        self.assertEqual([], self.deliveries(webhook))

    def test_secrets_are_encrypted_and_follow_a_rotation_of_keys(self) -> None:
        keys = [fernet.Fernet.generate_key().decode() for _ in range(2)]
        store = self.site.store
        store.vault = Vault(keys[:1])
        webhook = self.subscribe()
        self.assertEqual([], [row for row in self.stored() if webhook.secrets[0] in row])
        self.assertEqual([], [row for row in self.stored() if 'hook' in row])
        store.vault = Vault(keys[::-1])
        rotation.rotate(store, store.vault)
        store.vault = Vault(keys[1:])
        found = self.subscriptions.get(webhook.id, ANY)
        self.assertEqual((webhook.url, webhook.secrets), (found.url, found.secrets))
        store.vault = Vault([fernet.Fernet.generate_key().decode()])
        self.subscriptions.test(webhook.id, ANY)
        self.sender().send_once()
        self.assertIn('encryption_keys', self.deliveries(webhook)[0].error or '')

    def stored(self) -> list[str]:
        """Return the texts of the columns of the webhooks that are encrypted."""
        rows = fetch(self.site.store, lambda tx: tx.session.execute(WEBHOOKS.select()).all())
        return [text for row in rows for text in (row.url, row.secret)]

    def test_a_repeated_request_gets_a_secret_that_works(self) -> None:
        """The answer to the first one was lost with the process."""
        wanted = '7b1c2ed5-6a4b-4e2c-8c8e-0f5cfd5a0001'
        first = self.subscribe(id=wanted)
        second = self.subscribe(id=wanted)
        self.assertNotEqual(first.secrets, second.secrets)
        self.assertEqual(second.secrets, self.subscriptions.get(wanted, ANY).secrets)
