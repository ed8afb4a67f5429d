# SPDX-License-Identifier: Apache-2.0

"""Connects the audit trail to the message bus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oslo_config import cfg

from climate.api.routing import audit
from climate.api.routing import deletion_audit
from climate.clock import Clock
from climate.domain.history import DeletedObject
from climate.messaging import publisher as publishers
from climate.messaging.background import BackgroundPublisher
from climate.messaging.publisher import OutboxMessage
from climate.messaging.publisher import Publisher

AuditRecorder = Callable[[dict[str, Any]], None]
DeletionAudit = Callable[[DeletedObject], None]


def recorder(
    conf: cfg.ConfigOpts, clock: Clock, publisher: Publisher | None = None
) -> AuditRecorder | None:
    """Return the function that records requests; None if the audit trail is off.

    :param publisher: receives the events; None for the message bus
    """
    return _recorder(conf, clock, publisher, audit.EVENT_TYPE)


def deletion_recorder(
    conf: cfg.ConfigOpts, clock: Clock, publisher: Publisher | None = None
) -> DeletionAudit | None:
    """Return the function that records deletions; None if the audit trail is off.

    :param publisher: as for :func:`recorder`
    """
    record = _recorder(conf, clock, publisher, deletion_audit.EVENT_TYPE)
    return None if record is None else lambda found: record(deletion_audit.event(found))


def _recorder(
    conf: cfg.ConfigOpts, clock: Clock, publisher: Publisher | None, event_type: str
) -> AuditRecorder | None:
    if not conf.audit.enabled:
        return None
    bus = publisher or publishers.from_conf(conf, topics=conf.audit.topics)
    trail = BackgroundPublisher(bus, conf.audit.max_waiting)

    def record(event: dict[str, Any]) -> None:
        trail.post(
            OutboxMessage(
                id=event['id'], event_type=event_type, payload=event, created_at=clock.now()
            )
        )

    return record
