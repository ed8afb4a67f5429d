# SPDX-License-Identifier: Apache-2.0

"""Notifications about resources, which have no lease."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from climate.domain.requests import Reach
from climate.domain.webhooks import WebhookDraft
from climate.enforcement.limits import ProjectLimits
from climate.messaging import schemas
from climate.testing.service import subscriptions
from climate.webhooks.posts import PosterSettings
from tests.databases import fetch
from tests.functional.manager import harness
from tests.functional.manager import test_resource_changes
from tests.printed import blocks

PAGE = 'doc/source/reference/notifications.rst'


class TestNotices(test_resource_changes.ChangesCase):
    """Each change that a repair records is also sent."""

    def sent(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the types and payloads of what was sent about resources since the last call."""
        self.site.work()
        found = [
            (message.event_type, dict(message.payload))
            for message in self.site.bus.taken
            if message.event_type.startswith('resource.')
        ]
        self.site.bus.taken.clear()
        for event_type, payload in found:
            jsonschema.validate(payload, schemas.SCHEMAS[event_type])
        return found

    def test_as_printed(self) -> None:
        (block,) = (b for b in blocks.blocks() if b.page == PAGE and '"resource_id"' in b.text)
        printed = json.loads(block.text)
        self.zone('compute-1')
        self.repair()
        ((event_type, payload),) = self.sent()
        payload['changed_at'] = printed['payload']['changed_at']
        self.assertEqual(printed, {'event_type': event_type, 'payload': payload})

    def test_each_change_is_sent_once_and_in_order(self) -> None:
        self.cloud.add_hypervisor('compute-1', vcpus=8)
        self.rehearse()
        self.assertEqual([], self.sent())
        self.repair()
        reduced, degraded = self.sent()
        self.assertEqual(
            ('resource.reduced', 'its capacity of VCPU is 8, not 16'),
            (reduced[0], reduced[1]['reason']),
        )
        self.assertEqual(
            ('resource.degraded', 'vcpus is 8, not 16', False),
            (degraded[0], degraded[1]['reason'], degraded[1]['unusable']),
        )
        self.repair()
        self.assertEqual([], self.sent())
        self.refresh('compute-1')
        ((event_type, payload),) = self.sent()
        self.assertEqual(
            ('resource.recovered', 'vcpus is 8, not 16'), (event_type, payload['reason'])
        )

    def test_the_order_is_kept_for_each_resource(self) -> None:
        self.cloud.add_hypervisor('compute-1', vcpus=8)
        self.cloud.add_hypervisor('compute-2', vcpus=8)
        self.repair()
        rows = fetch(self.site.store, lambda tx: tx.outbox.unsent())
        found = [row.subject for row in rows]
        self.assertEqual(['resource 1', 'resource 1', 'resource 2', 'resource 2'], found)
        self.assertEqual({''}, {row.lease_id for row in rows})

    def test_operators_webhooks_get_them(self) -> None:
        hooks = subscriptions(self.site.store, ProjectLimits(), PosterSettings())
        wanted = {'url': 'https://receiver.example/', 'event_types': ('resource.*',)}
        made = {
            every: hooks.create(harness.CALLER, WebhookDraft(all_projects=every, **wanted))
            for every in (True, False)
        }
        self.zone('compute-1')
        self.repair()
        self.site.work()
        (delivery,) = hooks.deliveries(made[True].id, Reach(), None, None, 10)
        self.assertEqual(('resource.degraded', None), (delivery.event_type, delivery.lease_id))
        self.assertEqual([], hooks.deliveries(made[False].id, Reach(), None, None, 10))
