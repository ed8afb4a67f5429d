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

"""Webhooks and calendar feeds

Only adds, so that the previous release runs on it.
"""

from __future__ import annotations

import sqlalchemy as sa

from climate.db import additions
from climate.db import types

revision = '0019'
down_revision = '0017'


def upgrade() -> None:
    """Add three tables, and a mark for notifications that webhooks have."""
    _add_webhooks()
    _add_deliveries()
    _add_feeds()
    additions.add_column(
        'outbox', sa.Column('fanned', sa.Integer(), nullable=False, server_default=sa.text('0'))
    )
    additions.create_index('ix_outbox_fanned', 'outbox', ['fanned', 'seq'])


def _add_webhooks() -> None:
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
        sa.PrimaryKeyConstraint('id'),
    )
    additions.create_index('ix_webhooks_project', 'webhooks', ['project_id', 'enabled'])
    additions.create_index('ix_webhooks_everywhere', 'webhooks', ['all_projects', 'enabled'])


def _add_deliveries() -> None:
    table = 'webhook_deliveries'
    additions.create_table(
        table,
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
    additions.create_index('ix_webhook_deliveries_due', table, ['state', 'due'])
    additions.create_index('ix_webhook_deliveries_webhook', table, ['webhook_id', 'state', 'seq'])
    additions.create_index('ix_webhook_deliveries_finished', table, ['state', 'finished_at'])


def _add_feeds() -> None:
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
        sa.PrimaryKeyConstraint('id'),
        sa.UniqueConstraint('secret_digest', name='uniq_feeds_secret_digest'),
    )
    additions.create_index('ix_feeds_project', 'feeds', ['project_id', 'id'])
    additions.create_index('ix_feeds_expires', 'feeds', ['expires_at'])
