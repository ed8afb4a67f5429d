# SPDX-License-Identifier: Apache-2.0

"""All metrics of Climate, as a table.

No label has an unbounded number of values: ids, projects, users and raw paths are never
labels. A metric that is not here cannot be recorded, documented, drawn or alerted on.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Final


class MetricType(enum.StrEnum):
    """The types of Prometheus that Climate uses."""

    COUNTER = 'counter'
    GAUGE = 'gauge'
    HISTOGRAM = 'histogram'


class Exporter(enum.StrEnum):
    """The processes that expose a metric."""

    API = 'API'
    MANAGER = 'manager'
    BOTH = 'both'


# In seconds. Fast requests take milliseconds, and time-outs of clouds a minute.
_DURATIONS: Final = (
    *(0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25),
    *(0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
# Starts and ends that are minutes late still differ.
_LATENESS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)
# Flexible leases wait for minutes, or for weeks.
_WAITS: Final = (60.0, 300.0, 900.0, 3600.0, 14400.0, 43200.0, 86400.0, 259200.0, 604800.0)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class MetricSpec:
    """One metric.

    :ivar name: as in queries, with the prefix ``climate_``; counters end in ``_total``
    :ivar text: what it measures, in one line
    :ivar exporter: the processes that expose it
    :ivar labels: the names of its labels
    :ivar buckets: the upper bounds of the buckets of a histogram
    :ivar read: whether it is read at a scrape instead of recorded
    """

    name: str
    type: MetricType
    text: str
    exporter: Exporter
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    read: bool = False

    @property
    def series(self) -> tuple[str, ...]:
        """The names of its series, as queries use them."""
        if self.type is MetricType.HISTOGRAM:
            return tuple(f'{self.name}_{part}' for part in ('bucket', 'count', 'sum'))
        return (self.name,)


def _counter(
    name: str, text: str, *labels: str, exporter: Exporter = Exporter.MANAGER
) -> MetricSpec:
    return MetricSpec(
        name=name, type=MetricType.COUNTER, text=text, exporter=exporter, labels=labels
    )


def _gauge(
    name: str, text: str, *labels: str, exporter: Exporter = Exporter.MANAGER, read: bool = True
) -> MetricSpec:
    return MetricSpec(
        name=name, type=MetricType.GAUGE, text=text, exporter=exporter, labels=labels, read=read
    )


def _histogram(
    name: str,
    text: str,
    *labels: str,
    exporter: Exporter = Exporter.MANAGER,
    buckets: tuple[float, ...] = _DURATIONS,
) -> MetricSpec:
    return MetricSpec(
        name=name,
        type=MetricType.HISTOGRAM,
        text=text,
        exporter=exporter,
        labels=labels,
        buckets=buckets,
    )


# -- requests

REQUESTS: Final = _histogram(
    'climate_api_request_seconds',
    'Time until the response to a request, by the template of its path.',
    *('method', 'route', 'status'),
    exporter=Exporter.API,
)
REFUSALS: Final = _counter(
    'climate_api_refusals_total',
    'Requests that were refused or failed, by the error_name of the response.',
    'reason',
    exporter=Exporter.API,
)
IN_PROGRESS: Final = _gauge(
    'climate_api_requests_in_progress',
    'Requests in progress, by group (project, operators, anonymous or address) and state: '
    'running or waiting for the share of their project.',
    *('group', 'state'),
    read=False,
    exporter=Exporter.API,
)

# -- events

LATENESS: Final = _histogram(
    'climate_lease_lateness_seconds',
    'Time from the scheduled start or end of a lease until it is complete.',
    'event',
    buckets=_LATENESS,
)
EVENTS: Final = _counter(
    'climate_events_total',
    'Tries of events that change the cloud, by outcome: done, waiting, retried or failed.',
    *('event', 'outcome'),
)
CLAIMS: Final = _counter('climate_claims_total', 'Leases that the manager has claimed.')
LOST_CLAIMS: Final = _counter(
    'climate_claims_lost_total', 'Claims that expired while the manager worked on the lease.'
)
HELD: Final = _gauge('climate_claims_held', 'Leases on which the manager works now.')
WORKERS: Final = _gauge('climate_manager_workers', 'Leases on which the manager can work at once.')
WAKE_UPS: Final = _counter('climate_wake_ups_total', 'Messages that woke the manager.')
CLOCK: Final = _gauge(
    'climate_clock_difference_seconds', 'Time of the database minus the time of the machine.'
)

# -- the planner

MOVES: Final = _histogram(
    'climate_lease_move_seconds',
    'By how much a flexible lease has moved, which is the error of its forecast until then, by '
    'cause: room or displaced.',
    'cause',
    exporter=Exporter.BOTH,
    buckets=_WAITS,
)
WAITS: Final = _histogram(
    'climate_lease_wait_seconds',
    'Time from the request of a flexible lease, or its earliest start, until it has started.',
    buckets=_WAITS,
)
YIELDS: Final = _histogram(
    'climate_lease_yield_seconds',
    'Time that a preemptible lease took to give up its resources, by what becomes of it: suspend, '
    'requeue or end.',
    'mode',
    buckets=_LATENESS,
)
PLANNED_YIELDS: Final = _gauge(
    'climate_planned_yield_seconds',
    'Time that plans assume for a unit of a resource type to be given up, by source: option, '
    'learnt or default.',
    *('resource_type', 'mode', 'source'),
)
PLANS: Final = _histogram(
    'climate_plan_processor_seconds', 'Processor time of a plan of the manager that plans.'
)

# -- the cloud

CLOUD_CALLS: Final = _histogram(
    'climate_cloud_call_seconds',
    'Time of a call to a service of the cloud, by outcome: ok, refused or unavailable.',
    *('service', 'outcome'),
    exporter=Exporter.BOTH,
)

# -- webhooks

WEBHOOK_ATTEMPTS: Final = _histogram(
    'climate_webhook_attempt_seconds',
    'Time of an attempt to send an event, by outcome: accepted, refused or unreachable.',
    'outcome',
)
DEAD_LETTERS: Final = _counter(
    'climate_webhook_dead_letters_total', 'Events that the manager has given up after all attempts.'
)

STOPPED: Final = _counter(
    'climate_subscriptions_stopped_total',
    'Webhooks and feeds that were stopped since their users have lost the right to create them.',
    'kind',
)

TRUSTS_LOST: Final = _counter(
    'climate_trusts_lost_total',
    'Trusts of leases that were found to be of no use, since their users have lost a role.',
)

# -- the database

DATABASE_RETRIES: Final = _counter(
    'climate_database_retries_total',
    'Transactions that were repeated after a deadlock or a lost race.',
    exporter=Exporter.BOTH,
)
CONNECTIONS: Final = _gauge(
    'climate_database_connections',
    'Database connections in use, in all processes of the service.',
    read=False,
    exporter=Exporter.BOTH,
)
MOST_CONNECTIONS: Final = _gauge(
    'climate_database_connections_limit',
    'Database connections that these processes may use.',
    read=False,
    exporter=Exporter.BOTH,
)
TIMELINES: Final = _counter(
    'climate_timeline_events_total',
    'What happened to timelines; reloaded and lost say how often they were out of date.',
    'event',
    exporter=Exporter.BOTH,
)
DATABASE_UP: Final = _gauge(
    'climate_database_up',
    'Whether the database answered the queries of the following metrics: 1 or 0.',
)
LEASES: Final = _gauge('climate_leases', 'Leases that have not ended, by status.', 'status')
OVERDUE: Final = _gauge('climate_leases_overdue', 'Leases with an event that is due.')
LAG: Final = _gauge(
    'climate_leases_overdue_seconds', 'Time since the oldest of these events was due.'
)
WAITING: Final = _gauge(
    'climate_leases_waiting_seconds', 'Time since the oldest lease that waits was requested.'
)
OUTBOX: Final = _gauge(
    'climate_outbox_messages',
    'Notifications that were not sent yet, by state: waiting or set_aside.',
    'state',
)
OUTBOX_LAG: Final = _gauge('climate_outbox_lag_seconds', 'Age of the oldest waiting notification.')
WEBHOOK_EVENTS: Final = _gauge(
    'climate_webhook_events',
    'Events for webhooks that are enabled, by state: waiting or dead.',
    'state',
)
WEBHOOK_LAG: Final = _gauge(
    'climate_webhook_lag_seconds',
    'Time since the oldest of the waiting events was due to be sent, or sent again.',
)
CHARGES: Final = _gauge('climate_charges', 'Reports that filters have not accepted yet.')
CHARGES_LAG: Final = _gauge('climate_charges_lag_seconds', 'Age of the oldest of these reports.')
RESOURCES: Final = _gauge(
    'climate_resources',
    'Resources by type and state: available, disabled or failed.',
    *('resource_type', 'state'),
)
DEGRADED: Final = _gauge(
    'climate_resources_degraded',
    'Resources that the cloud has changed since they were registered.',
    'resource_type',
)
RESERVED: Final = _gauge(
    'climate_resources_reserved',
    'Available resources of which a lease has at least a part now.',
    'resource_type',
)
CAPACITY: Final = _gauge(
    'climate_capacity',
    'Amount of a resource class that the available resources have.',
    *('resource_type', 'resource_class'),
)
ALLOCATED: Final = _gauge(
    'climate_allocated',
    'Amount of a resource class that leases have now.',
    *('resource_type', 'resource_class'),
)

ALL: Final = tuple(value for value in [*vars().values()] if isinstance(value, MetricSpec))
"""In the order of the documentation."""

BY_NAME: Final = {metric.name: metric for metric in ALL}
