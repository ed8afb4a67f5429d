# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Initial tables

Revision: 0001, the first
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0001'
down_revision = None


def upgrade() -> None:
    """Create the tables, those that others refer to first."""
    _resources()
    _inventories()
    _property_keys()
    _properties()
    _leases()
    _reservations()
    _allocations()
    _events()
    _outbox()


def _resources() -> None:
    additions.create_table(
        'resources',
        sa.Column('id', sa.Integer(), nullable=False),
        sa.Column('resource_type', types.exact(64), nullable=False),
        sa.Column('name', types.exact(255), nullable=False),
        sa.Column('parent_id', sa.Integer(), nullable=True),
        sa.Column('reservable', sa.Boolean(), nullable=False),
        sa.Column('disabled', sa.Boolean(), nullable=False),
        sa.Column('generation', types.big_id(), nullable=False),
        sa.Column('deleted', sa.Integer(), nullable=False),
        sa.Column('created_at', types.UtcDateTime(), nullable=True),
        sa.Column('updated_at', types.UtcDateTime(), nullable=True),
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
        sa.Column('created_at', types.UtcDateTime(), nullable=True),
        sa.Column('updated_at', types.UtcDateTime(), nullable=True),
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
        sa.Column('number', sa.Double(), nullable=True),
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
        sa.Column('before_end_date', types.UtcDateTime(), nullable=True),
        sa.Column('options', types.json_dict(), nullable=False),
        sa.Column('next_due', types.UtcDateTime(), nullable=True),
        sa.Column('claim_owner', types.exact(64), nullable=True),
        sa.Column('claim_until', types.UtcDateTime(), nullable=True),
        sa.Column('created_at', types.UtcDateTime(), nullable=True),
        sa.Column('updated_at', types.UtcDateTime(), nullable=True),
        sa.Column('deleted_at', types.UtcDateTime(), nullable=True),
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
        sa.Column('created_at', types.UtcDateTime(), nullable=True),
        sa.Column('updated_at', types.UtcDateTime(), nullable=True),
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
        sa.Column('resource_class', types.exact(255), nullable=True),
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
        sa.Column('begun_at', types.UtcDateTime(), nullable=True),
        sa.Column('error', sa.Text(), nullable=True),
        sa.Column('payload', types.json_dict(), nullable=False),
        sa.Column('created_at', types.UtcDateTime(), nullable=True),
        sa.Column('updated_at', types.UtcDateTime(), nullable=True),
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
        sa.Column('claim_owner', types.exact(64), nullable=True),
        sa.Column('claim_until', types.UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint('seq'),
        sa.UniqueConstraint('id', name='uniq_outbox_id'),
    )
    additions.create_index('ix_outbox_lease', 'outbox', ['lease_id', 'seq'])
