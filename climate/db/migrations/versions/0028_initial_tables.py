# SPDX-License-Identifier: Apache-2.0

"""Initial tables

Revision: 0028, the first. Databases have this number that a commit before the first release
has made with several migrations.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from climate.db.migrations import additions
from climate.db.schema import guards
from climate.db.schema import types

revision = '0028'
down_revision = None

TABLES = sa.MetaData()
"""The tables as they were then, those that others refer to first."""


def _table(name: str, *parts: sa.schema.SchemaItem, **options: Any) -> None:
    sa.Table(name, TABLES, *parts, **types.TABLE, **options)


_table(
    'resources',
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('resource_type', types.exact(64), nullable=False),
    sa.Column('name', types.exact(255), nullable=False),
    sa.Column('parent_id', sa.Integer(), sa.ForeignKey('resources.id')),
    *types.columns(sa.Boolean(), 'reservable', 'disabled', nullable=False),
    sa.Column('generation', types.big_id(), nullable=False),
    sa.Column('deleted', sa.Integer(), nullable=False),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at', 'failed_at'),
    sa.Column('project_id', types.exact(255)),
    sa.Column('degraded', sa.Text()),
    sa.Column('unusable', sa.Boolean()),
    sa.Column('sort_name', types.exact(255), nullable=False, server_default=''),
    sa.UniqueConstraint('resource_type', 'name', 'deleted', name='uniq_resources_type_name'),
    sa.Index('ix_resources_choice', 'resource_type', 'deleted', 'reservable', 'disabled', 'id'),
    sa.Index('ix_resources_parent', 'parent_id'),
    sa.Index('ix_resources_order', 'resource_type', 'deleted', 'sort_name', 'id'),
)
_table(
    'inventories',
    sa.Column('id', sa.Integer(), primary_key=True),
    sa.Column('resource_id', sa.Integer(), sa.ForeignKey('resources.id'), nullable=False),
    sa.Column('resource_class', types.exact(255), nullable=False),
    *types.columns(types.big_id(), 'total', 'reserved', nullable=False),
    *types.columns(sa.Integer(), 'min_unit', 'max_unit', 'step_size', nullable=False),
    sa.Column('allocation_ratio', sa.Double(), nullable=False),
    sa.UniqueConstraint('resource_id', 'resource_class', name='uniq_inventories_class'),
)
_table(
    'property_keys',
    sa.Column('id', types.exact(36), primary_key=True),
    sa.Column('resource_type', types.exact(64), nullable=False),
    sa.Column('name', types.exact(255), nullable=False),
    sa.Column('private', sa.Boolean(), nullable=False),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at'),
    sa.UniqueConstraint('resource_type', 'name', name='uniq_property_keys_name'),
)
_table(
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
_table(
    'leases',
    sa.Column('id', types.exact(36), primary_key=True),
    sa.Column('name', types.exact(80), nullable=False),
    *types.columns(types.exact(255), 'user_id', 'project_id', nullable=False),
    *types.columns(types.UtcDateTime(), 'start_date', 'end_date', nullable=False),
    sa.Column('status', types.exact(16), nullable=False),
    sa.Column('degraded', sa.Boolean(), nullable=False),
    sa.Column('before_end_date', types.UtcDateTime()),
    sa.Column('options', types.json_dict(), nullable=False),
    sa.Column('next_due', types.UtcDateTime()),
    *types.claim(),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at', 'deleted_at'),
    sa.Column('trust_id', types.exact(64)),
    sa.Index('ix_leases_all', 'created_at', 'id'),
    sa.Index('ix_leases_deleted', 'deleted_at'),
    sa.Index('ix_leases_end', 'end_date'),
    sa.Index('ix_leases_name', 'name', 'deleted_at'),
    sa.Index('ix_leases_next_due', 'next_due'),
    sa.Index('ix_leases_project', 'project_id', 'created_at', 'id'),
    sa.Index('ix_leases_start', 'start_date'),
    sa.Index('ix_leases_status', 'status', 'deleted_at'),
    sa.Index('ix_leases_degraded', 'degraded', 'status'),
    sa.Index('ix_leases_user', 'user_id', 'created_at', 'id'),
)
_table(
    'reservations',
    sa.Column('id', types.exact(36), primary_key=True),
    sa.Column('lease_id', types.exact(36), sa.ForeignKey('leases.id'), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('resource_type', types.exact(64), nullable=False),
    sa.Column('status', types.exact(16), nullable=False),
    *types.columns(types.json_dict(), 'request', 'facts', nullable=False),
    *types.columns(sa.Boolean(), 'missing_resources', 'resources_changed', nullable=False),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at'),
    sa.Column('part_of', types.exact(36)),
    sa.Index('ix_reservations_lease', 'lease_id', 'resource_type'),
)
_table(
    'allocations',
    sa.Column('id', types.big_id(), primary_key=True),
    sa.Column('reservation_id', types.exact(36), sa.ForeignKey('reservations.id'), nullable=False),
    sa.Column('resource_id', sa.Integer(), sa.ForeignKey('resources.id'), nullable=False),
    sa.Column('resource_class', types.exact(255)),
    sa.Column('amount', types.big_id(), nullable=False),
    *types.columns(types.UtcDateTime(), 'start_date', 'end_date', nullable=False),
    sa.Column('state', types.exact(16), nullable=False),
    sa.Column(
        'live',
        sa.SmallInteger(),
        sa.Computed("CASE WHEN state = 'released' THEN 0 ELSE 1 END", persisted=True),
        nullable=True,
    ),
    sa.Index('ix_allocations_live', 'resource_id', 'live', 'end_date', 'start_date'),
    sa.Index('ix_allocations_reservation', 'reservation_id'),
)
_table(
    'events',
    sa.Column('id', types.exact(36), primary_key=True),
    sa.Column('lease_id', types.exact(36), sa.ForeignKey('leases.id'), nullable=False),
    sa.Column('kind', types.exact(32), nullable=False),
    *types.columns(types.UtcDateTime(), 'time', 'due', nullable=False),
    sa.Column('state', types.exact(16), nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('begun_at', types.UtcDateTime()),
    sa.Column('error', sa.Text()),
    sa.Column('payload', types.json_dict(), nullable=False),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at'),
    sa.Index('ix_events_lease', 'lease_id', 'state'),
)
_table(
    'outbox',
    sa.Column('seq', types.big_id(), primary_key=True),
    *types.columns(types.exact(36), 'id', 'lease_id', nullable=False),
    sa.Column('event_type', types.exact(64), nullable=False),
    sa.Column('priority', types.exact(16), nullable=False),
    sa.Column('payload', types.json_dict(), nullable=False),
    sa.Column('created_at', types.UtcDateTime(), nullable=False),
    *types.claim(),
    sa.Column('attempts', sa.Integer(), nullable=False, server_default=sa.text('0')),
    sa.Column('due', types.UtcDateTime()),
    sa.Column('error', sa.Text()),
    sa.Column('set_aside_at', types.UtcDateTime()),
    sa.Column('fanned', sa.Integer(), nullable=False, server_default=sa.text('0')),
    sa.UniqueConstraint('id', name='uniq_outbox_id'),
    sa.Index('ix_outbox_lease', 'lease_id', 'seq'),
    sa.Index('ix_outbox_fanned', 'fanned', 'seq'),
    sqlite_autoincrement=True,
)
_table(
    'resource_types',
    sa.Column('name', types.exact(64), primary_key=True),
    sa.Column('declaration', types.json_dict(), nullable=False),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at'),
)
_table(
    'maintenances',
    sa.Column('id', types.exact(36), primary_key=True),
    sa.Column('resource_id', sa.Integer(), sa.ForeignKey('resources.id'), nullable=False),
    *types.columns(types.UtcDateTime(), 'start_date', 'end_date', nullable=False),
    sa.Column('reason', types.exact_text(), nullable=False),
    sa.Column('user_id', types.exact(255), nullable=False),
    *types.columns(types.UtcDateTime(), 'created_at', 'updated_at'),
    sa.Index('ix_maintenances_resource', 'resource_id', 'end_date', 'start_date'),
)
_table(
    'chores',
    sa.Column('name', types.exact(64), primary_key=True),
    sa.Column('begun_at', types.UtcDateTime(), nullable=False),
    *types.claim(),
)
_table(
    'charges',
    sa.Column('seq', types.big_id(), primary_key=True),
    sa.Column('charge_id', types.exact(36), nullable=False),
    sa.Column('judge', types.exact(64), nullable=False),
    sa.Column('lease_id', types.exact(36), nullable=False),
    sa.Column('state', types.exact(16), nullable=False),
    sa.Column('payload', types.json_dict(), nullable=False),
    sa.Column('due', types.UtcDateTime(), nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('error', sa.Text()),
    sa.Column('created_at', types.UtcDateTime(), nullable=False),
    *types.claim(),
    sa.Index('ix_charges_charge', 'charge_id'),
    sa.Index('ix_charges_due', 'state', 'due'),
    sa.Index('ix_charges_lease', 'lease_id', 'seq'),
)
_table(
    'steps',
    sa.Column('id', types.big_id(), primary_key=True),
    sa.Column(
        'lease_id', types.exact(36), sa.ForeignKey('leases.id', ondelete='CASCADE'), nullable=False
    ),
    sa.Column('event_id', types.exact(36), nullable=False),
    sa.Column('reservation_id', types.exact(36)),
    sa.Column('resource_type', types.exact(64)),
    *types.columns(types.exact(16), 'effect', 'state', nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    *types.columns(types.UtcDateTime(), 'first_at', 'last_at', nullable=False),
    sa.Column('detail', types.json_dict(), nullable=False),
    sa.Index('ix_steps_lease', 'lease_id', 'event_id'),
)
_table(
    'trusts',
    sa.Column('id', types.exact(64), primary_key=True),
    sa.Column('lease_id', types.exact(36)),
    sa.Column('made_at', types.UtcDateTime(), nullable=False),
    sa.Column('expires_at', types.UtcDateTime()),
    *types.columns(types.exact(255), 'user_id', 'project_id'),
    sa.Column('lost_reason', sa.Text()),
)
_table(
    'secrets',
    sa.Column('name', types.exact(64), primary_key=True),
    sa.Column('value', types.exact(255), nullable=False),
    sa.Column('created_at', types.UtcDateTime(), nullable=False),
)
_table(
    'intents',
    sa.Column('reservation_id', types.exact(36), primary_key=True),
    sa.Column('resource_type', types.exact(64), nullable=False),
    sa.Column('project_id', types.exact(255), nullable=False),
    sa.Column('written_at', types.UtcDateTime(), nullable=False),
)
_table(
    'projects',
    sa.Column('id', types.exact(255), primary_key=True),
    sa.Column('generation', sa.Integer(), nullable=False),
)
_table(
    'idempotency_keys',
    sa.Column('id', types.big_id(), primary_key=True),
    *types.columns(types.exact(255), 'project_id', 'idempotency_key', nullable=False),
    sa.Column('fingerprint', types.exact(64), nullable=False),
    sa.Column('object_id', types.exact(36), nullable=False),
    *types.claim(),
    sa.Column('status', sa.Integer()),
    sa.Column('headers', types.json_dict(), nullable=False),
    sa.Column('body', types.long_text()),
    *types.columns(types.UtcDateTime(), 'created_at', 'expires_at', nullable=False),
    sa.Column('body_size', sa.Integer(), nullable=False, server_default=sa.text('0')),
    sa.Column('sealed_fingerprint', sa.Text()),
    sa.UniqueConstraint('project_id', 'idempotency_key', name='uniq_idempotency_keys'),
    sa.Index('ix_idempotency_keys_expires', 'expires_at'),
    sa.Index('ix_idempotency_keys_project', 'project_id', 'expires_at', 'body_size'),
)
_table(
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
_table(
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
_table(
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
    sa.Column('error', sa.Text()),
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
_table(
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
_table(
    'refusals',
    sa.Column('day', sa.Date(), primary_key=True),
    sa.Column('project_id', types.exact(255), primary_key=True),
    sa.Column('resource_type', types.exact(64), primary_key=True),
    sa.Column('resource_class', types.exact(255), primary_key=True),
    *types.columns(sa.BigInteger(), 'requests', 'amount', nullable=False),
)
_table(
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
_table(
    'shortages',
    sa.Column('resource_id', sa.Integer(), primary_key=True, autoincrement=False),
    sa.Column('resource_class', types.exact(255), primary_key=True),
    sa.Column('capacity', sa.Double(), nullable=False),
)


def upgrade() -> None:
    """Create the tables, with the rules of booking."""
    for table in TABLES.sorted_tables:
        additions.create_table(table)
    guards.install(op.get_bind())
