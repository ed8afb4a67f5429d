# SPDX-License-Identifier: Apache-2.0
"""What a subscriber receives on the bus of the cloud."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import fixtures
from oslo_config import cfg

from climate import conf as climate_conf
from climate.messaging import listener
from tests.cloud.waiting import until
from tools.cloud.state import Cloud

Envelope = dict[str, Any]


class Bus(fixtures.Fixture):
    """Listens, by the way that ``climate-watch`` does, from set-up on."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__()
        self._cloud = cloud
        self._heard: list[Envelope] = []
        self._seen: set[str] = set()

    def _setUp(self) -> None:
        conf = cfg.ConfigOpts()
        climate_conf.register_opts(conf)
        conf([], default_config_files=[str(self._cloud.climate_conf)])
        ready = threading.Event()
        self._ears = listener.listen(conf, on_broker=lambda there: ready.set() if there else None)
        self.addCleanup(self._ears.stop)
        self._ears.start()
        # What is sent before the queue is bound would be missed.
        until(ready.is_set, 30, 'the listener is on the bus')

    def of(self, lease_id: str) -> list[Envelope]:
        """Return what was received about a lease so far, each message once."""
        while (envelope := self._ears.get(0.0)) is not None:
            fresh = envelope['message_id'] not in self._seen
            if fresh and envelope['event_type'].startswith('lease.'):
                self._seen.add(envelope['message_id'])
                self._heard.append(envelope)
        return [each for each in self._heard if each['payload'].get('lease_id') == lease_id]

    def types(self, lease_id: str) -> list[str]:
        """Return the types of what was received about a lease, in order."""
        return [each['event_type'] for each in self.of(lease_id)]

    def wait_for(self, lease_id: str, event_type: str, seconds: float) -> Envelope:
        """Return the first notification of a type, as soon as it was received."""
        until(lambda: event_type in self.types(lease_id), seconds, f'{event_type} is received')
        return next(each for each in self.of(lease_id) if each['event_type'] == event_type)

    def hear_all(self, lease_id: str, types: Sequence[str], seconds: float) -> None:
        """Return when exactly these were received about a lease, in this order.

        :raises AssertionError: with what was received
        """
        until(
            lambda: len(self.types(lease_id)) >= len(types),
            seconds,
            f'{len(types)} notifications of {lease_id}',
        )
        received = self.types(lease_id)
        if received != list(types):
            raise AssertionError(f'received {received} instead of {list(types)}')
