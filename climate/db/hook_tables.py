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

"""The tables of webhooks and calendar feeds, as SQLAlchemy describes them."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from climate.db import types
from climate.db.metadata import METADATA
from climate.db.metadata import MYSQL

WEBHOOKS: Final = sa.Table(
    'webhooks',
    METADATA,
    sa.Column('id', types.exact(36), primary_key=True),
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
    sa.Index('ix_webhooks_project', 'project_id', 'enabled'),
    sa.Index('ix_webhooks_everywhere', 'all_projects', 'enabled'),
    **MYSQL,
)
"""An address that a project has notified; see :mod:`climate.db.webhooks`.

The address and the secrets are encrypted if the configuration has keys.
"""

WEBHOOK_DELIVERIES: Final = sa.Table(
    'webhook_deliveries',
    METADATA,
    sa.Column('seq', types.big_id(), primary_key=True),
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
    sa.Column('error', types.OutsideText()),
    sa.Column('status', sa.Integer()),
    sa.Column('created_at', types.UtcDateTime(), nullable=False),
    sa.Column('finished_at', types.UtcDateTime()),
    sa.Column('claim_owner', types.exact(64)),
    sa.Column('claim_until', types.UtcDateTime()),
    sa.UniqueConstraint('id', name='uniq_webhook_deliveries_id'),
    sa.UniqueConstraint('webhook_id', 'message_id', name='uniq_webhook_deliveries_message'),
    sa.Index('ix_webhook_deliveries_due', 'state', 'due'),
    sa.Index('ix_webhook_deliveries_webhook', 'webhook_id', 'state', 'seq'),
    sa.Index('ix_webhook_deliveries_finished', 'state', 'finished_at'),
    **MYSQL,
)
"""A notification for a webhook; see :mod:`climate.db.deliveries`.

It has no foreign key: a webhook may be deleted while its notifications are written. What
then remains is removed later.
"""

FEEDS: Final = sa.Table(
    'feeds',
    METADATA,
    sa.Column('id', types.exact(36), primary_key=True),
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
    sa.UniqueConstraint('secret_digest', name='uniq_feeds_secret_digest'),
    sa.Index('ix_feeds_project', 'project_id', 'id'),
    sa.Index('ix_feeds_expires', 'expires_at'),
    **MYSQL,
)
"""A secret link to a calendar; see :mod:`climate.db.feeds`."""
