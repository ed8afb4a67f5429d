# SPDX-License-Identifier: Apache-2.0

"""Initial tables

Revision: 0028, the first. Databases have this number that a commit before the first release
has made with several migrations.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from climate.db.migrations import additions
from climate.db.schema import guards
from climate.db.schema import types

revision = '0028'
down_revision = None


def upgrade() -> None:
    """Create the tables, those that others refer to first, with the rules of booking."""
    _resources()
    _inventories()
    _property_keys()
    _properties()
    _leases()
    _reservations()
    _allocations()
    _events()
    _outbox()
    _resource_types()
    _maintenances()
    _chores()
    _charges()
    _steps()
    _trusts()
    _secrets()
    _intents()
    _projects()
    _idempotency_keys()
    _offers()
    _webhooks()
    _webhook_deliveries()
    _feeds()
    _refusals()
    _deletions()
    _shortages()
    guards.install(op.get_bind())


def _resources() -> None:
    additions.create_table(
        'resources',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('resource_type', types.exact(64), nullable=False),
        sa.Column('name', types.exact(255), nullable=False),
        sa.Column('parent_id', sa.Integer()),
        sa.Column('reservable', sa.Boolean(), nullable=False),
        sa.Column('disabled', sa.Boolean(), nullable=False),
        sa.Column('generation', types.big_id(), nullable=False),
        sa.Column('deleted', sa.Integer(), nullable=False),
        sa.Column('created_at', types.UtcDateTime()),
        sa.Column('updated_at', types.UtcDateTime()),
        sa.Column('failed_at', types.UtcDateTime()),
        sa.Column('project_id', types.exact(255)),
        sa.Column('degraded', sa.Text()),
        sa.Column('unusable', sa.Boolean()),
        sa.Column('sort_name', types.exact(255), nullable=False, server_default=''),
        sa.ForeignKeyConstraint(['parent_id'], ['resources.id']),
        sa.PrimaryKeyConstraint('id'),
        sa.UniqueConstraint('resource_type', 'name', 'deleted', name='uniq_resources_type_name'),
    )
    additions.create_index(
        'ix_resources_choice',
        'resources',
        ['resource_type', 'deleted', 'reservable', 'disabled', 'id'],
    )
    additions.create_index('ix_resources_parent', 'resources', ['parent_id'])
    additions.create_index(
        'ix_resources_order', 'resources', ['resource_type', 'deleted', 'sort_name', 'id']
    )


def _inventories() -> None:
    additions.create_table(
        'inventories',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('resource_id', sa.Integer(), nullable=False),
        sa.Column('resource_class', types.exact(255), nullable=False),
        sa.Column('total', types.big_id(), nullable=False),
        sa.Column('reserved', types.big_id(), nullable=False),
        sa.Column('min_unit', sa.Integer(), nullable=False),
        sa.Column('max_unit', sa.Integer(), nullable=False),
        sa.Column('step_size', sa.Integer(), nullable=False),
        sa.Column('allocation_ratio', sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(['resource_id'], ['resources.id']),
        sa.PrimaryKeyConstraint('id'),
        sa.UniqueConstraint('resource_id', 'resource_class', name='uniq_inventories_class'),
    )


def _property_keys() -> None:
    additions.create_table(
        'property_keys',
        sa.Column('id', types.exact(36), nullable=False),
        sa.Column('resource_type', types.exact(64), nullable=False),
        sa.Column('name', types.exact(255), nullable=False),
        sa.Column('private', sa.Boolean(), nullable=False),
        sa.Column('created_at', types.UtcDateTime()),
        sa.Column('updated_at', types.UtcDateTime()),
        sa.PrimaryKeyConstraint('id'),
        sa.UniqueConstraint('resource_type', 'name', name='uniq_property_keys_name'),
    )


def _properties() -> None:
    additions.create_table(
        'properties',
        sa.Column('id', types.big_id(), nullable=False),
        sa.Column('resource_id', sa.Integer(), nullable=False),
        sa.Column('kind', types.exact(16), nullable=False),
        sa.Column('name', types.exact(255), nullable=False),
        sa.Column('value', types.exact_text(), nullable=False),
        sa.Column('number', sa.Double()),
        sa.ForeignKeyConstraint(['resource_id'], ['resources.id']),
        sa.PrimaryKeyConstraint('id'),
        sa.UniqueConstraint('resource_id', 'name', 'kind', name='uniq_properties_name'),
    )
    additions.create_index('ix_properties_name', 'properties', ['name', 'resource_id'])


def _leases() -> None:
    additions.create_table(
        'leases',
        sa.Column('id', types.exact(36), nullable=False),
        sa.Column('name', types.exact(80), nullable=False),
        sa.Column('user_id', types.exact(255), nullable=False),
        sa.Column('project_id', types.exact(255), nullable=False),
        sa.Column('start_date', types.UtcDateTime(), nullable=False),
        sa.Column('end_date', types.UtcDateTime(), nullable=False),
        sa.Column('status', types.exact(16), nullable=False),
        sa.Column('degraded', sa.Boolean(), nullable=False),
        sa.Column('before_end_date', types.UtcDateTime()),
        sa.Column('options', types.json_dict(), nullable=False),
        sa.Column('next_due', types.UtcDateTime()),
        sa.Column('claim_owner', types.exact(64)),
        sa.Column('claim_until', types.UtcDateTime()),
        sa.Column('created_at', types.UtcDateTime()),
        sa.Column('updated_at', types.UtcDateTime()),
        sa.Column('deleted_at', types.UtcDateTime()),
        sa.Column('trust_id', types.exact(64)),
        sa.PrimaryKeyConstraint('id'),
    )
    additions.create_index('ix_leases_all', 'leases', ['created_at', 'id'])
    additions.create_index('ix_leases_deleted', 'leases', ['deleted_at'])
    additions.create_index('ix_leases_end', 'leases', ['end_date'])
    additions.create_index('ix_leases_name', 'leases', ['name', 'deleted_at'])
    additions.create_index('ix_leases_next_due', 'leases', ['next_due'])
    additions.create_index('ix_leases_project', 'leases', ['project_id', 'created_at', 'id'])
    additions.create_index('ix_leases_start', 'leases', ['start_date'])
    additions.create_index('ix_leases_status', 'leases', ['status', 'deleted_at'])
    additions.create_index('ix_leases_degraded', 'leases', ['degraded', 'status'])
    additions.create_index('ix_leases_user', 'leases', ['user_id', 'created_at', 'id'])


def _reservations() -> None:
    additions.create_table(
        'reservations',
        sa.Column('id', types.exact(36), nullable=False),
        sa.Column('lease_id', types.exact(36), nullable=False),
        sa.Column('position', sa.Integer(), nullable=False),
        sa.Column('resource_type', types.exact(64), nullable=False),
        sa.Column('status', types.exact(16), nullable=False),
        sa.Column('request', types.json_dict(), nullable=False),
        sa.Column('facts', types.json_dict(), nullable=False),
        sa.Column('missing_resources', sa.Boolean(), nullable=False),
        sa.Column('resources_changed', sa.Boolean(), nullable=False),
        sa.Column('created_at', types.UtcDateTime()),
        sa.Column('updated_at', types.UtcDateTime()),
        sa.Column('part_of', types.exact(36)),
        sa.ForeignKeyConstraint(['lease_id'], ['leases.id']),
        sa.PrimaryKeyConstraint('id'),
    )
    additions.create_index('ix_reservations_lease', 'reservations', ['lease_id', 'resource_type'])


def _allocations() -> None:
    additions.create_table(
        'allocations',
        sa.Column('id', types.big_id(), nullable=False),
        sa.Column('reservation_id', types.exact(36), nullable=False),
        sa.Column('resource_id', sa.Integer(), nullable=False),
        sa.Column('resource_class', types.exact(255)),
        sa.Column('amount', types.big_id(), nullable=False),
        sa.Column('start_date', types.UtcDateTime(), nullable=False),
        sa.Column('end_date', types.UtcDateTime(), nullable=False),
        sa.Column('state', types.exact(16), nullable=False),
        sa.Column(
            'live',
            sa.SmallInteger(),
            sa.Computed("CASE WHEN state = 'released' THEN 0 ELSE 1 END", persisted=True),
            nullable=True,
        ),
        sa.ForeignKeyConstraint(['reservation_id'], ['reservations.id']),
        sa.ForeignKeyConstraint(['resource_id'], ['resources.id']),
        sa.PrimaryKeyConstraint('id'),
    )
    additions.create_index(
        'ix_allocations_live', 'allocations', ['resource_id', 'live', 'end_date', 'start_date']
    )
    additions.create_index('ix_allocations_reservation', 'allocations', ['reservation_id'])


def _events() -> None:
    additions.create_table(
        'events',
        sa.Column('id', types.exact(36), nullable=False),
        sa.Column('lease_id', types.exact(36), nullable=False),
        sa.Column('kind', types.exact(32), nullable=False),
        sa.Column('time', types.UtcDateTime(), nullable=False),
        sa.Column('due', types.UtcDateTime(), nullable=False),
        sa.Column('state', types.exact(16), nullable=False),
        sa.Column('attempts', sa.Integer(), nullable=False),
        sa.Column('begun_at', types.UtcDateTime()),
        sa.Column('error', sa.Text()),
        sa.Column('payload', types.json_dict(), nullable=False),
        sa.Column('created_at', types.UtcDateTime()),
        sa.Column('updated_at', types.UtcDateTime()),
        sa.ForeignKeyConstraint(['lease_id'], ['leases.id']),
        sa.PrimaryKeyConstraint('id'),
    )
    additions.create_index('ix_events_lease', 'events', ['lease_id', 'state'])


def _outbox() -> None:
    additions.create_table(
        'outbox',
        sa.Column('seq', types.big_id(), nullable=False),
        sa.Column('id', types.exact(36), nullable=False),
        sa.Column('lease_id', types.exact(36), nullable=False),
        sa.Column('event_type', types.exact(64), nullable=False),
        sa.Column('priority', types.exact(16), nullable=False),
        sa.Column('payload', types.json_dict(), nullable=False),
        sa.Column('created_at', types.UtcDateTime(), nullable=False),
        sa.Column('claim_owner', types.exact(64)),
        sa.Column('claim_until', types.UtcDateTime()),
        sa.Column('attempts', sa.Integer(), nullable=False, server_default=sa.text('0')),
        sa.Column('due', types.UtcDateTime()),
        sa.Column('error', sa.Text()),
        sa.Column('set_aside_at', types.UtcDateTime()),
        sa.Column('fanned', sa.Integer(), nullable=False, server_default=sa.text('0')),
        sa.PrimaryKeyConstraint('seq'),
        sa.UniqueConstraint('id', name='uniq_outbox_id'),
        sqlite_autoincrement=True,
    )
    additions.create_index('ix_outbox_lease', 'outbox', ['lease_id', 'seq'])
    additions.create_index('ix_outbox_fanned', 'outbox', ['fanned', 'seq'])


def _resource_types() -> None:
    additions.create_table(
        'resource_types',
        sa.Column('name', types.exact(64), nullable=False),
        sa.Column('declaration', types.json_dict(), nullable=False),
        sa.Column('created_at', types.UtcDateTime()),
        sa.Column('updated_at', types.UtcDateTime()),
        sa.PrimaryKeyConstraint('name'),
    )


def _maintenances() -> None:
    additions.create_table(
        'maintenances',
        sa.Column('id', types.exact(36), nullable=False),
        sa.Column('resource_id', sa.Integer(), nullable=False),
        sa.Column('start_date', types.UtcDateTime(), nullable=False),
        sa.Column('end_date', types.UtcDateTime(), nullable=False),
        sa.Column('reason', types.exact_text(), nullable=False),
        sa.Column('user_id', types.exact(255), nullable=False),
        sa.Column('created_at', types.UtcDateTime()),
        sa.Column('updated_at', types.UtcDateTime()),
        sa.ForeignKeyConstraint(['resource_id'], ['resources.id']),
        sa.PrimaryKeyConstraint('id'),
    )
    additions.create_index(
        'ix_maintenances_resource', 'maintenances', ['resource_id', 'end_date', 'start_date']
    )


def _chores() -> None:
    additions.create_table(
        'chores',
        sa.Column('name', types.exact(64), nullable=False),
        sa.Column('begun_at', types.UtcDateTime(), nullable=False),
        sa.Column('claim_owner', types.exact(64)),
        sa.Column('claim_until', types.UtcDateTime()),
        sa.PrimaryKeyConstraint('name'),
    )


def _charges() -> None:
    additions.create_table(
        'charges',
        sa.Column('seq', types.big_id(), nullable=False),
        sa.Column('charge_id', types.exact(36), nullable=False),
        sa.Column('judge', types.exact(64), nullable=False),
        sa.Column('lease_id', types.exact(36), nullable=False),
        sa.Column('state', types.exact(16), nullable=False),
        sa.Column('payload', types.json_dict(), nullable=False),
        sa.Column('due', types.UtcDateTime(), nullable=False),
        sa.Column('attempts', sa.Integer(), nullable=False),
        sa.Column('error', sa.Text()),
        sa.Column('created_at', types.UtcDateTime(), nullable=False),
        sa.Column('claim_owner', types.exact(64)),
        sa.Column('claim_until', types.UtcDateTime()),
        sa.PrimaryKeyConstraint('seq'),
    )
    additions.create_index('ix_charges_charge', 'charges', ['charge_id'])
    additions.create_index('ix_charges_due', 'charges', ['state', 'due'])
    additions.create_index('ix_charges_lease', 'charges', ['lease_id', 'seq'])


def _steps() -> None:
    additions.create_table(
        'steps',
        sa.Column('id', types.big_id(), nullable=False),
        sa.Column('lease_id', types.exact(36), nullable=False),
        sa.Column('event_id', types.exact(36), nullable=False),
        sa.Column('reservation_id', types.exact(36)),
        sa.Column('resource_type', types.exact(64)),
        sa.Column('effect', types.exact(16), nullable=False),
        sa.Column('state', types.exact(16), nullable=False),
        sa.Column('attempts', sa.Integer(), nullable=False),
        sa.Column('first_at', types.UtcDateTime(), nullable=False),
        sa.Column('last_at', types.UtcDateTime(), nullable=False),
        sa.Column('detail', types.json_dict(), nullable=False),
        sa.ForeignKeyConstraint(['lease_id'], ['leases.id'], ondelete='CASCADE'),
        sa.PrimaryKeyConstraint('id'),
    )
    additions.create_index('ix_steps_lease', 'steps', ['lease_id', 'event_id'])


def _trusts() -> None:
    additions.create_table(
        'trusts',
        sa.Column('id', types.exact(64), nullable=False),
        sa.Column('lease_id', types.exact(36)),
        sa.Column('made_at', types.UtcDateTime(), nullable=False),
        sa.Column('expires_at', types.UtcDateTime()),
        sa.Column('user_id', types.exact(255)),
        sa.Column('project_id', types.exact(255)),
        sa.Column('lost_reason', sa.Text()),
        sa.PrimaryKeyConstraint('id'),
    )


def _secrets() -> None:
    additions.create_table(
        'secrets',
        sa.Column('name', types.exact(64), nullable=False),
        sa.Column('value', types.exact(255), nullable=False),
        sa.Column('created_at', types.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint('name'),
    )


def _intents() -> None:
    additions.create_table(
        'intents',
        sa.Column('reservation_id', types.exact(36), nullable=False),
        sa.Column('resource_type', types.exact(64), nullable=False),
        sa.Column('project_id', types.exact(255), nullable=False),
        sa.Column('written_at', types.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint('reservation_id'),
    )


def _projects() -> None:
    additions.create_table(
        'projects',
        sa.Column('id', types.exact(255), nullable=False),
        sa.Column('generation', sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint('id'),
    )


def _idempotency_keys() -> None:
    additions.create_table(
        'idempotency_keys',
        sa.Column('id', types.big_id(), nullable=False),
        sa.Column('project_id', types.exact(255), nullable=False),
        sa.Column('idempotency_key', types.exact(255), nullable=False),
        sa.Column('fingerprint', types.exact(64), nullable=False),
        sa.Column('object_id', types.exact(36), nullable=False),
        sa.Column('claim_owner', types.exact(64)),
        sa.Column('claim_until', types.UtcDateTime()),
        sa.Column('status', sa.Integer()),
        sa.Column('headers', types.json_dict(), nullable=False),
        sa.Column('body', types.long_text()),
        sa.Column('created_at', types.UtcDateTime(), nullable=False),
        sa.Column('expires_at', types.UtcDateTime(), nullable=False),
        sa.Column('body_size', sa.Integer(), nullable=False, server_default=sa.text('0')),
        sa.Column('sealed_fingerprint', sa.Text()),
        sa.PrimaryKeyConstraint('id'),
        sa.UniqueConstraint('project_id', 'idempotency_key', name='uniq_idempotency_keys'),
    )
    additions.create_index('ix_idempotency_keys_expires', 'idempotency_keys', ['expires_at'])
    additions.create_index(
        'ix_idempotency_keys_project', 'idempotency_keys', ['project_id', 'expires_at', 'body_size']
    )


def _offers() -> None:
    additions.create_table(
        'offers',
        sa.Column('id', types.exact(36), nullable=False),
        sa.Column('project_id', types.exact(255), nullable=False),
        sa.Column('user_id', types.exact(255), nullable=False),
        sa.Column('request', types.long_text(), nullable=False),
        sa.Column('content', types.json_dict(), nullable=False),
        sa.Column('created_at', types.UtcDateTime(), nullable=False),
        sa.Column('expires_at', types.UtcDateTime(), nullable=False),
        sa.Column('held_until', types.UtcDateTime()),
        sa.Column('released_at', types.UtcDateTime()),
        sa.Column('lease_id', types.exact(36)),
        sa.PrimaryKeyConstraint('id'),
    )
    additions.create_index('ix_offers_expires', 'offers', ['expires_at'])
    additions.create_index('ix_offers_held', 'offers', ['held_until'])
    additions.create_index('ix_offers_released', 'offers', ['released_at'])
    additions.create_index('ix_offers_project', 'offers', ['project_id', 'held_until'])


def _webhooks() -> None:
    additions.create_table(
        'webhooks',
        sa.Column('id', types.exact(36), nullable=False),
        sa.Column('project_id', types.exact(255), nullable=False),
        sa.Column('user_id', types.exact(255), nullable=False),
        sa.Column('name', types.exact(255), nullable=False),
        sa.Column('url', sa.Text(), nullable=False),
        sa.Column('options', types.json_dict(), nullable=False),
        sa.Column('all_projects', sa.Boolean(), nullable=False),
        sa.Column('enabled', sa.Boolean(), nullable=False),
        sa.Column('secret', sa.Text(), nullable=False),
        sa.Column('previous_secret', sa.Text()),
        sa.Column('previous_until', types.UtcDateTime()),
        sa.Column('created_at', types.UtcDateTime(), nullable=False),
        sa.Column('updated_at', types.UtcDateTime()),
        sa.Column('stopped_reason', sa.Text()),
        sa.PrimaryKeyConstraint('id'),
    )
    additions.create_index('ix_webhooks_project', 'webhooks', ['project_id', 'enabled'])
    additions.create_index('ix_webhooks_everywhere', 'webhooks', ['all_projects', 'enabled'])


def _webhook_deliveries() -> None:
    additions.create_table(
        'webhook_deliveries',
        sa.Column('seq', types.big_id(), nullable=False),
        sa.Column('id', types.exact(36), nullable=False),
        sa.Column('webhook_id', types.exact(36), nullable=False),
        sa.Column('message_id', types.exact(36), nullable=False),
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
        sa.Column('claim_owner', types.exact(64)),
        sa.Column('claim_until', types.UtcDateTime()),
        sa.PrimaryKeyConstraint('seq'),
        sa.UniqueConstraint('id', name='uniq_webhook_deliveries_id'),
        sa.UniqueConstraint('webhook_id', 'message_id', name='uniq_webhook_deliveries_message'),
    )
    additions.create_index('ix_webhook_deliveries_due', 'webhook_deliveries', ['state', 'due'])
    additions.create_index(
        'ix_webhook_deliveries_webhook', 'webhook_deliveries', ['webhook_id', 'state', 'seq']
    )
    additions.create_index(
        'ix_webhook_deliveries_finished', 'webhook_deliveries', ['state', 'finished_at']
    )


def _feeds() -> None:
    additions.create_table(
        'feeds',
        sa.Column('id', types.exact(36), nullable=False),
        sa.Column('project_id', types.exact(255), nullable=False),
        sa.Column('user_id', types.exact(255), nullable=False),
        sa.Column('name', types.exact(255), nullable=False),
        sa.Column('kind', types.exact(16), nullable=False),
        sa.Column('lease_id', types.exact(36)),
        sa.Column('resource_id', sa.Integer()),
        sa.Column('secret_digest', types.exact(64), nullable=False),
        sa.Column('options', types.json_dict(), nullable=False),
        sa.Column('created_at', types.UtcDateTime(), nullable=False),
        sa.Column('expires_at', types.UtcDateTime(), nullable=False),
        sa.Column('stopped_reason', sa.Text()),
        sa.PrimaryKeyConstraint('id'),
        sa.UniqueConstraint('secret_digest', name='uniq_feeds_secret_digest'),
    )
    additions.create_index('ix_feeds_project', 'feeds', ['project_id', 'id'])
    additions.create_index('ix_feeds_expires', 'feeds', ['expires_at'])


def _refusals() -> None:
    additions.create_table(
        'refusals',
        sa.Column('day', sa.Date(), nullable=False),
        sa.Column('project_id', types.exact(255), nullable=False),
        sa.Column('resource_type', types.exact(64), nullable=False),
        sa.Column('resource_class', types.exact(255), nullable=False),
        sa.Column('requests', sa.BigInteger(), nullable=False),
        sa.Column('amount', sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint('day', 'project_id', 'resource_type', 'resource_class'),
    )


def _deletions() -> None:
    additions.create_table(
        'deletions',
        sa.Column('seq', types.big_id(), nullable=False),
        sa.Column('lease_id', types.exact(36), nullable=False),
        sa.Column('reservation_id', types.exact(36)),
        sa.Column('event_id', types.exact(36)),
        sa.Column('event', types.exact(32), nullable=False),
        sa.Column('object_type', types.exact(32), nullable=False),
        sa.Column('object_id', types.exact(255), nullable=False),
        sa.Column('name', types.exact(255), nullable=False),
        sa.Column('project_id', types.exact(255), nullable=False),
        sa.Column('host', types.exact(255), nullable=False),
        sa.Column('reason', types.exact(255), nullable=False),
        sa.Column('at', types.UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint('seq'),
    )
    additions.create_index('ix_deletions_lease', 'deletions', ['lease_id', 'seq'])


def _shortages() -> None:
    additions.create_table(
        'shortages',
        sa.Column('resource_id', sa.Integer(), nullable=False, autoincrement=False),
        sa.Column('resource_class', types.exact(255), nullable=False),
        sa.Column('capacity', sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint('resource_id', 'resource_class'),
    )
