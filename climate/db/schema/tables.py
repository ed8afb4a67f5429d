# SPDX-License-Identifier: Apache-2.0

"""The tables of the database, as SQLAlchemy describes them.

Times are naive UTC with microseconds. Ended leases keep their rows;
``leases.deleted_at`` hides them. ``resources.deleted`` is 0 while the resource
exists and its id afterwards, so that the name can be used again.
"""

from __future__ import annotations

from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.schema import guards
from climate.db.schema import types

METADATA: Final = sa.MetaData()
"""All tables; migrations are compared with it."""


def _table(name: str, *parts: sa.schema.SchemaItem, **options: Any) -> sa.Table:
    return sa.Table(name, METADATA, *parts, **types.TABLE, **options)


RESOURCES: Final = _table(
    'resources',
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('resource_type', types.exact(64), nullable=False),
    sa.Column('name', types.exact(255), nullable=False),
    sa.Column('parent_id', sa.Integer(), sa.ForeignKey('resources.id')),
    sa.Column('project_id', types.exact(255)),
    sa.Column('reservable', sa.Boolean(), default=True, nullable=False),
    sa.Column('disabled', sa.Boolean(), default=False, nullable=False),
    sa.Column('failed_at', types.UtcDateTime()),
    sa.Column('generation', types.big_id(), default=0, nullable=False),
    sa.Column('deleted', sa.Integer(), default=0, nullable=False),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at'),
    sa.Column('degraded', sa.Text()),
    sa.Column('unusable', sa.Boolean()),
    sa.Column('sort_name', types.exact(255), server_default='', nullable=False),
    sa.UniqueConstraint('resource_type', 'name', 'deleted', name='uniq_resources_type_name'),
    sa.Index('ix_resources_choice', 'resource_type', 'deleted', 'reservable', 'disabled', 'id'),
    sa.Index('ix_resources_order', 'resource_type', 'deleted', 'sort_name', 'id'),
    sa.Index('ix_resources_parent', 'parent_id'),
)
"""A resource that can be reserved.

``project_id`` is set for things of projects; see :mod:`climate.db.resources.things`. ``degraded``
says what the cloud has changed since, ``unusable`` whether leases cannot use it therefore.
``sort_name`` sorts names in natural order; see :mod:`climate.domain.natural_order`.
"""

RESOURCE_TYPES: Final = _table(
    'resource_types',
    sa.Column('name', types.exact(64), primary_key=True),
    sa.Column('declaration', types.json_dict(), nullable=False),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at'),
)
"""A resource type that an operator declared through the API."""

MAINTENANCES: Final = _table(
    'maintenances',
    sa.Column('id', types.exact(36), primary_key=True),
    sa.Column('resource_id', sa.Integer(), sa.ForeignKey('resources.id'), nullable=False),
    *types.columns(types.UtcDateTime(), 'start_date', 'end_date', nullable=False),
    sa.Column('reason', types.exact_text(), nullable=False),
    sa.Column('user_id', types.exact(255), nullable=False),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at'),
    sa.Index('ix_maintenances_resource', 'resource_id', 'end_date', 'start_date'),
)
"""A period in which a resource gets no new bookings."""

INVENTORIES: Final = _table(
    'inventories',
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('resource_id', sa.Integer(), sa.ForeignKey('resources.id'), nullable=False),
    sa.Column('resource_class', types.exact(255), nullable=False),
    sa.Column('total', types.big_id(), nullable=False),
    sa.Column('reserved', types.big_id(), default=0, nullable=False),
    sa.Column('min_unit', sa.Integer(), default=1, nullable=False),
    sa.Column('max_unit', sa.Integer(), nullable=False),
    sa.Column('step_size', sa.Integer(), default=1, nullable=False),
    sa.Column('allocation_ratio', sa.Double(), default=1.0, nullable=False),
    sa.UniqueConstraint('resource_id', 'resource_class', name='uniq_inventories_class'),
)
"""How much of a resource class a resource has."""

SHORTAGES: Final = _table(
    'shortages',
    sa.Column('resource_id', sa.Integer(), nullable=False, autoincrement=False),
    sa.Column('resource_class', types.exact(255), nullable=False),
    sa.Column('capacity', sa.Double(), nullable=False),
    sa.PrimaryKeyConstraint('resource_id', 'resource_class'),
)
"""What the cloud has of a class of which more is booked.

See :mod:`climate.db.resources.shortages`.
"""

PROPERTY_KEYS: Final = _table(
    'property_keys',
    sa.Column('id', types.exact(36), primary_key=True),
    sa.Column('resource_type', types.exact(64), nullable=False),
    sa.Column('name', types.exact(255), nullable=False),
    sa.Column('private', sa.Boolean(), default=False, nullable=False),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at'),
    sa.UniqueConstraint('resource_type', 'name', name='uniq_property_keys_name'),
)
"""The name of a property that resources of a type have."""

PROPERTIES: Final = _table(
    'properties',
    sa.Column('id', types.big_id(), primary_key=True),
    sa.Column('resource_id', sa.Integer(), sa.ForeignKey('resources.id'), nullable=False),
    sa.Column('kind', types.exact(16), nullable=False),
    sa.Column('name', types.exact(255), nullable=False),
    sa.Column('value', types.exact_text(), nullable=False),
    sa.Column('number', sa.Double()),
    sa.UniqueConstraint('resource_id', 'name', 'kind', name='uniq_properties_name'),
    sa.Index('ix_properties_name', 'name', 'resource_id'),
)
"""A property of a resource: reported by the cloud, set by an operator, or a trait.

``number`` is the value as a number if it is one, so that a requirement can compare
numbers as numbers.
"""

LEASES: Final = _table(
    'leases',
    sa.Column('id', types.exact(36), primary_key=True),
    sa.Column('name', types.exact(80), nullable=False),
    *types.columns(types.exact(255), 'user_id', 'project_id', nullable=False),
    *types.columns(types.UtcDateTime(), 'start_date', 'end_date', nullable=False),
    sa.Column('status', types.exact(16), nullable=False),
    sa.Column('degraded', sa.Boolean(), default=False, nullable=False),
    sa.Column('before_end_date', types.UtcDateTime()),
    sa.Column('options', types.json_dict(), nullable=False),
    sa.Column('trust_id', types.exact(64)),
    sa.Column('next_due', types.UtcDateTime()),
    *types.claim(),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at', 'deleted_at'),
    # Of a flexible lease, when it stops moving.
    sa.Column('firm_at', types.UtcDateTime()),
    sa.Column('priority', sa.Integer(), nullable=False, server_default=sa.text('0')),
    sa.Index('ix_leases_next_due', 'next_due'),
    # Lists read these two indexes in order, and skip deleted leases. The indexes do not
    # begin with deleted_at, because PostgreSQL does not use an order behind a NULL.
    sa.Index('ix_leases_project', 'project_id', 'created_at', 'id'),
    sa.Index('ix_leases_all', 'created_at', 'id'),
    sa.Index('ix_leases_user', 'user_id', 'created_at', 'id'),
    sa.Index('ix_leases_deleted', 'deleted_at'),
    sa.Index('ix_leases_status', 'status', 'deleted_at'),
    sa.Index('ix_leases_name', 'name', 'deleted_at'),
    sa.Index('ix_leases_start', 'start_date'),
    sa.Index('ix_leases_end', 'end_date'),
    sa.Index('ix_leases_degraded', 'degraded', 'status'),
    sa.Index('ix_leases_firm_at', 'firm_at'),
)
"""A lease of one project."""

RESERVATIONS: Final = _table(
    'reservations',
    sa.Column('id', types.exact(36), primary_key=True),
    sa.Column('lease_id', types.exact(36), sa.ForeignKey('leases.id'), nullable=False),
    sa.Column('position', sa.Integer(), default=0, nullable=False),
    sa.Column('resource_type', types.exact(64), nullable=False),
    sa.Column('status', types.exact(16), nullable=False),
    *types.columns(types.json_dict(), 'request', 'facts', nullable=False),
    *types.columns(
        sa.Boolean(), 'missing_resources', 'resources_changed', default=False, nullable=False
    ),
    sa.Column('part_of', types.exact(36)),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at'),
    sa.Index('ix_reservations_lease', 'lease_id', 'resource_type'),
)
"""The resources of one type that a lease reserves."""

ALLOCATIONS: Final = _table(
    'allocations',
    sa.Column('id', types.big_id(), primary_key=True),
    sa.Column('reservation_id', types.exact(36), sa.ForeignKey('reservations.id'), nullable=False),
    sa.Column('resource_id', sa.Integer(), sa.ForeignKey('resources.id'), nullable=False),
    sa.Column('resource_class', types.exact(255)),
    sa.Column('amount', types.big_id(), default=1, nullable=False),
    *types.columns(types.UtcDateTime(), 'start_date', 'end_date', nullable=False),
    sa.Column('state', types.exact(16), nullable=False),
    sa.Column(
        'live',
        sa.SmallInteger(),
        sa.Computed("CASE WHEN state = 'released' THEN 0 ELSE 1 END", persisted=True),
    ),
    sa.Index('ix_allocations_live', 'resource_id', 'live', 'end_date', 'start_date'),
    sa.Index('ix_allocations_reservation', 'reservation_id'),
)
"""An amount of a resource class on a resource, for a period.

``live`` is 0 once the resource is released. The database computes it from ``state``, so
that queries can compare it by equality: ``ix_allocations_live`` then answers "is this
resource free in that period?" without reading the history of the resource.
"""

EVENTS: Final = _table(
    'events',
    sa.Column('id', types.exact(36), primary_key=True),
    sa.Column('lease_id', types.exact(36), sa.ForeignKey('leases.id'), nullable=False),
    sa.Column('kind', types.exact(32), nullable=False),
    *types.columns(types.UtcDateTime(), 'time', 'due', nullable=False),
    sa.Column('state', types.exact(16), nullable=False),
    sa.Column('attempts', sa.Integer(), default=0, nullable=False),
    sa.Column('begun_at', types.UtcDateTime()),
    sa.Column('error', types.OutsideText()),
    sa.Column('payload', types.json_dict(), nullable=False),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at'),
    sa.Index('ix_events_lease', 'lease_id', 'state'),
)
"""What must happen to a lease, and when."""

STEPS: Final = _table(
    'steps',
    sa.Column('id', types.big_id(), primary_key=True),
    sa.Column(
        'lease_id', types.exact(36), sa.ForeignKey('leases.id', ondelete='CASCADE'), nullable=False
    ),
    sa.Column('event_id', types.exact(36), nullable=False),
    sa.Column('reservation_id', types.exact(36)),
    sa.Column('resource_type', types.exact(64)),
    *types.columns(types.exact(16), 'effect', 'state', nullable=False),
    sa.Column('attempts', sa.Integer(), default=1, nullable=False),
    *types.columns(types.UtcDateTime(), 'first_at', 'last_at', nullable=False),
    sa.Column('detail', types.json_dict(), nullable=False),
    sa.Index('ix_steps_lease', 'lease_id', 'event_id'),
)
"""The result of an effect on a reservation, for an event, with all attempts.

It outlives its event, which may be deleted before the lease.
"""

DELETIONS: Final = _table(
    'deletions',
    sa.Column('seq', types.big_id(), primary_key=True),
    sa.Column('lease_id', types.exact(36), nullable=False),
    *types.columns(types.exact(36), 'reservation_id', 'event_id'),
    *types.columns(types.exact(32), 'event', 'object_type', nullable=False),
    *types.columns(
        types.exact(255), 'object_id', 'name', 'project_id', 'host', 'reason', nullable=False
    ),
    sa.Column('at', types.UtcDateTime(), nullable=False),
    sa.Index('ix_deletions_lease', 'lease_id', 'seq'),
)
"""An object of a user that was deleted for a lease; see :mod:`climate.db.leases.deletions`."""

OUTBOX: Final = _table(
    'outbox',
    sa.Column('seq', types.big_id(), primary_key=True),
    *types.columns(types.exact(36), 'id', 'lease_id', nullable=False),
    sa.Column('event_type', types.exact(64), nullable=False),
    sa.Column('priority', types.exact(16), nullable=False),
    sa.Column('payload', types.json_dict(), nullable=False),
    sa.Column('created_at', types.UtcDateTime(), nullable=False),
    *types.claim(),
    sa.Column('attempts', sa.Integer(), default=0, server_default=sa.text('0'), nullable=False),
    sa.Column('due', types.UtcDateTime()),
    sa.Column('error', types.OutsideText()),
    sa.Column('set_aside_at', types.UtcDateTime()),
    sa.Column('fanned', sa.Integer(), server_default=sa.text('0'), nullable=False),
    sa.Index('ix_outbox_lease', 'lease_id', 'seq'),
    sa.Index('ix_outbox_fanned', 'fanned', 'seq'),
    sa.UniqueConstraint('id', name='uniq_outbox_id'),
    sqlite_autoincrement=True,  # or SQLite reuses the numbers of deleted rows
)
"""A notification, written in the transaction that it reports.

If it cannot be sent although others can, it is tried again, and eventually set aside.
``fanned`` is 1 once its webhooks have their own copies."""

WEBHOOKS: Final = _table(
    'webhooks',
    sa.Column('id', types.exact(36), primary_key=True),
    *types.columns(types.exact(255), 'project_id', 'user_id', 'name', nullable=False),
    sa.Column('url', sa.Text(), nullable=False),
    sa.Column('options', types.json_dict(), nullable=False),
    *types.columns(sa.Boolean(), 'all_projects', 'enabled', nullable=False),
    sa.Column('secret', sa.Text(), nullable=False),
    sa.Column('previous_secret', sa.Text()),
    sa.Column('previous_until', types.UtcDateTime()),
    sa.Column('created_at', types.UtcDateTime(), nullable=False),
    sa.Column('updated_at', types.UtcDateTime()),
    sa.Column('stopped_reason', sa.Text()),
    sa.Index('ix_webhooks_project', 'project_id', 'enabled'),
    sa.Index('ix_webhooks_everywhere', 'all_projects', 'enabled'),
)
"""An address that a project has notified; see :mod:`climate.db.messages.webhooks`.

The address and the secrets are encrypted if the configuration has keys.
"""

WEBHOOK_DELIVERIES: Final = _table(
    'webhook_deliveries',
    sa.Column('seq', types.big_id(), primary_key=True),
    *types.columns(types.exact(36), 'id', 'webhook_id', 'message_id', nullable=False),
    sa.Column('sequence', sa.BigInteger(), nullable=False),
    sa.Column('lease_id', types.exact(36)),
    sa.Column('event_type', types.exact(64), nullable=False),
    sa.Column('payload', types.json_dict(), nullable=False),
    sa.Column('state', types.exact(16), nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('due', types.UtcDateTime(), nullable=False),
    sa.Column('error', types.OutsideText()),
    sa.Column('status', sa.Integer()),
    sa.Column('created_at', types.UtcDateTime(), nullable=False),
    sa.Column('finished_at', types.UtcDateTime()),
    *types.claim(),
    sa.UniqueConstraint('id', name='uniq_webhook_deliveries_id'),
    sa.UniqueConstraint('webhook_id', 'message_id', name='uniq_webhook_deliveries_message'),
    sa.Index('ix_webhook_deliveries_due', 'state', 'due'),
    sa.Index('ix_webhook_deliveries_webhook', 'webhook_id', 'state', 'seq'),
    sa.Index('ix_webhook_deliveries_finished', 'state', 'finished_at'),
)
"""A notification for a webhook; see :mod:`climate.db.messages.deliveries`.

It has no foreign key: a webhook may be deleted while its notifications are written. What
then remains is removed later.
"""

FEEDS: Final = _table(
    'feeds',
    sa.Column('id', types.exact(36), primary_key=True),
    *types.columns(types.exact(255), 'project_id', 'user_id', 'name', nullable=False),
    sa.Column('kind', types.exact(16), nullable=False),
    sa.Column('lease_id', types.exact(36)),
    sa.Column('resource_id', sa.Integer()),
    sa.Column('secret_digest', types.exact(64), nullable=False),
    sa.Column('options', types.json_dict(), nullable=False),
    *types.columns(types.UtcDateTime(), 'created_at', 'expires_at', nullable=False),
    sa.Column('stopped_reason', sa.Text()),
    sa.UniqueConstraint('secret_digest', name='uniq_feeds_secret_digest'),
    sa.Index('ix_feeds_project', 'project_id', 'id'),
    sa.Index('ix_feeds_expires', 'expires_at'),
)
"""A secret link to a calendar; see :mod:`climate.db.messages.feeds`."""

INTENTS: Final = _table(
    'intents',
    sa.Column('reservation_id', types.exact(36), primary_key=True),
    sa.Column('resource_type', types.exact(64), nullable=False),
    sa.Column('project_id', types.exact(255), nullable=False),
    sa.Column('written_at', types.UtcDateTime(), nullable=False),
)
"""An object about to be created in the cloud; see :mod:`climate.db.leases.intents`."""

TRUSTS: Final = _table(
    'trusts',
    sa.Column('id', types.exact(64), primary_key=True),
    sa.Column('lease_id', types.exact(36)),
    sa.Column('made_at', types.UtcDateTime(), nullable=False),
    sa.Column('expires_at', types.UtcDateTime()),
    *types.columns(types.exact(255), 'user_id', 'project_id'),
    sa.Column('lost_reason', types.OutsideText()),
)
"""A Keystone trust that is not deleted yet; see :mod:`climate.db.leases.trusts`.

``lost_reason`` says why it is of no use, and is null while it is.
"""

SECRETS: Final = _table(
    'secrets',
    sa.Column('name', types.exact(64), primary_key=True),
    sa.Column('value', types.exact(255), nullable=False),
    sa.Column('created_at', types.UtcDateTime(), nullable=False),
)
"""A secret that processes share; see :mod:`climate.db.processes.secrets`."""

PROJECTS: Final = _table(
    'projects',
    sa.Column('id', types.exact(255), primary_key=True),
    sa.Column('generation', sa.Integer(), nullable=False),
)
"""The row that serializes bookings of a project; see :mod:`climate.db.booking.projects`."""

IDEMPOTENCY_KEYS: Final = _table(
    'idempotency_keys',
    sa.Column('id', types.big_id(), primary_key=True),
    *types.columns(types.exact(255), 'project_id', 'idempotency_key', nullable=False),
    sa.Column('fingerprint', types.exact(64), nullable=False),
    sa.Column('object_id', types.exact(36), nullable=False),
    *types.claim(),
    sa.Column('status', sa.Integer()),
    sa.Column('headers', types.json_dict(), nullable=False),
    sa.Column('body', types.long_text()),
    sa.Column('body_size', sa.Integer(), nullable=False, server_default=sa.text('0')),
    sa.Column('sealed_fingerprint', sa.Text()),
    *types.columns(types.UtcDateTime(), 'created_at', 'expires_at', nullable=False),
    sa.UniqueConstraint('project_id', 'idempotency_key', name='uniq_idempotency_keys'),
    sa.Index('ix_idempotency_keys_expires', 'expires_at'),
    sa.Index('ix_idempotency_keys_project', 'project_id', 'expires_at', 'body_size'),
)
"""A key of a request, with the answer; see :mod:`climate.db.booking.idempotency_keys`."""

OFFERS: Final = _table(
    'offers',
    sa.Column('id', types.exact(36), primary_key=True),
    *types.columns(types.exact(255), 'project_id', 'user_id', nullable=False),
    sa.Column('request', types.long_text(), nullable=False),
    sa.Column('content', types.json_dict(), nullable=False),
    *types.columns(types.UtcDateTime(), 'created_at', 'expires_at', nullable=False),
    *types.columns(types.UtcDateTime(), 'held_until', 'released_at'),
    sa.Column('lease_id', types.exact(36)),
    sa.Index('ix_offers_expires', 'expires_at'),
    sa.Index('ix_offers_held', 'held_until'),
    sa.Index('ix_offers_released', 'released_at'),
    sa.Index('ix_offers_project', 'project_id', 'held_until'),
)
"""An offer that a project can take; see :mod:`climate.db.booking.offers`.

``held_until`` is set only while the resources of the offer are held, and ``released_at``
once its hold has expired and they are not.
"""

CHORES: Final = _table(
    'chores',
    sa.Column('name', types.exact(64), primary_key=True),
    sa.Column('begun_at', types.UtcDateTime(), nullable=False),
    *types.claim(),
)
"""Periodic work that one manager at a time does."""

CHARGES: Final = _table(
    'charges',
    sa.Column('seq', types.big_id(), primary_key=True),
    sa.Column('charge_id', types.exact(36), nullable=False),
    sa.Column('judge', types.exact(64), nullable=False),
    sa.Column('lease_id', types.exact(36), nullable=False),
    sa.Column('state', types.exact(16), nullable=False),
    sa.Column('payload', types.json_dict(), nullable=False),
    sa.Column('due', types.UtcDateTime(), nullable=False),
    sa.Column('attempts', sa.Integer(), default=0, nullable=False),
    sa.Column('error', types.OutsideText()),
    sa.Column('created_at', types.UtcDateTime(), nullable=False),
    *types.claim(),
    sa.Index('ix_charges_charge', 'charge_id'),
    sa.Index('ix_charges_due', 'state', 'due'),
    sa.Index('ix_charges_lease', 'lease_id', 'seq'),
)
"""A question or report for an external filter of leases; see :mod:`climate.db.messages.charges`.

It has no foreign key: a question is written before its lease, which may never be booked.
"""

REFUSALS: Final = _table(
    'refusals',
    sa.Column('day', sa.Date(), primary_key=True),
    sa.Column('project_id', types.exact(255), primary_key=True),
    sa.Column('resource_type', types.exact(64), primary_key=True),
    sa.Column('resource_class', types.exact(255), primary_key=True),
    *types.columns(sa.BigInteger(), 'requests', 'amount', nullable=False),
)
"""What leases were refused for lack of resources, by day; see :mod:`climate.db.reports.refusals`.

``resource_class`` is empty for whole resources. ``amount`` is in units multiplied by seconds.
"""

YIELD_TIMES: Final = _table(
    'yield_times',
    sa.Column('seq', types.big_id(), primary_key=True),
    sa.Column('resource_type', types.exact(64), nullable=False),
    sa.Column('mode', types.exact(16), nullable=False),
    *types.columns(sa.Integer(), 'units', 'seconds', nullable=False),
    sa.Column('created_at', types.UtcDateTime(), nullable=False),
    sa.Index('ix_yield_times_type', 'resource_type', 'mode', 'seq'),
)
"""How long preemptible leases took to yield; see :mod:`climate.db.leases.yield_times`."""

guards.attach_to(METADATA)
