# SPDX-License-Identifier: Apache-2.0

"""Notifications of Nova about nova-computes are read, and malformed ones do no harm."""

from __future__ import annotations

from typing import Any

from climate.domain.booting import ServerReport
from climate.domain.health import ASLEEP
from climate.domain.health import HostReport
from climate.messaging import nova
from tests import base


def envelope(**data: Any) -> dict[str, Any]:
    """Return a notification as Nova documents it, with some data that differ."""
    return {
        'priority': 'INFO',
        'payload': {
            'nova_object.namespace': 'nova',
            'nova_object.name': 'ServiceStatusPayload',
            'nova_object.version': '1.1',
            'nova_object.data': {
                'host': 'compute-1',
                'disabled': False,
                'last_seen_up': '2029-10-29T13:42:05Z',
                'binary': 'nova-compute',
                'topic': 'compute',
                'disabled_reason': None,
                'report_count': 1,
                'forced_down': False,
                'version': 23,
                'availability_zone': None,
                'uuid': 'fa69c544-906b-4a6a-a9c6-c1f7a8078c73',
                **data,
            },
        },
        'event_type': 'service.update',
        'publisher_id': 'nova-compute:compute-1',
    }


class TestHostNews(base.TestCase):
    """A notification becomes news, or nothing."""

    def test_what_it_says(self) -> None:
        cases: tuple[tuple[dict[str, Any], str], ...] = (
            ({}, ''),
            ({'disabled': True}, 'it was disabled'),
            ({'disabled': True, 'disabled_reason': ASLEEP}, ''),
            (
                {'disabled': True, 'disabled_reason': ASLEEP, 'forced_down': True},
                'it was forced down',
            ),
            ({'disabled': True, 'disabled_reason': 'a new fan'}, 'it was disabled: a new fan'),
            ({'forced_down': True}, 'it was forced down'),
            ({'forced_down': True, 'disabled': True}, 'it was forced down'),
        )
        for data, fault in cases:
            found = nova.host_report(envelope(**data))
            self.assertEqual(HostReport(service_host='compute-1', fault=fault), found)

    def test_what_it_does_not_say(self) -> None:
        cases: tuple[dict[str, Any], ...] = (
            {},
            {'event_type': 'service.update'},
            {'event_type': 'service.update', 'payload': None},
            {'event_type': 'service.update', 'payload': {'nova_object.data': 7}},
            {**envelope(disabled=True), 'event_type': 'service.create'},
            {**envelope(disabled=True), 'payload': {'host': 'compute-1', 'disabled': True}},
            envelope(disabled=True, binary='nova-conductor'),
            envelope(disabled=True, host=None),
            envelope(disabled=True, host=''),
        )
        for case in cases:
            self.assertIsNone(nova.host_report(case), case)


def server_envelope(event_type: str = 'instance.create.end', **data: Any) -> dict[str, Any]:
    """Return a notification about a server, in part as Nova documents it."""
    return {
        'priority': 'INFO',
        'payload': {
            'nova_object.namespace': 'nova',
            'nova_object.name': 'InstanceCreatePayload',
            'nova_object.version': '1.12',
            'nova_object.data': {
                'uuid': '178b0921-8f85-4257-88b6-2e743b5a975c',
                'tenant_id': '6f70656e737461636b20342065766572',
                'user_id': 'fake',
                'metadata': {},
                'state': 'active',
                **data,
            },
        },
        'event_type': event_type,
        'publisher_id': 'nova-compute:compute',
    }


class TestServerNews(base.TestCase):
    """Servers that come and go are reported; other notifications are ignored."""

    def test_what_it_says(self) -> None:
        for event_type, gone in (('instance.create.end', False), ('instance.delete.end', True)):
            found = nova.server_report(server_envelope(event_type, uuid='7'))
            self.assertEqual(ServerReport(server_id='7', gone=gone), found)

    def test_what_it_does_not_say(self) -> None:
        # What Nova sends without versions has the same type.
        for case in (
            {},
            {'event_type': 'instance.create.end', 'payload': {'instance_id': '7'}},
            server_envelope('instance.create.start'),
            server_envelope('instance.update'),
            server_envelope(uuid=None),
            server_envelope(uuid=''),
            {**server_envelope(), 'payload': 'x'},
        ):
            self.assertIsNone(nova.server_report(case), case)
