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

"""The tables: a class for each noun.

Times are naive UTC with microseconds. Ended leases keep their rows;
``leases.deleted_at`` hides them. ``resources.deleted`` is 0 while the
resource lives and its id afterwards, so that a name can be used again.
"""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa
from oslo_db.sqlalchemy import models as oslo_models
from sqlalchemy import orm

from climate.db import guards
from climate.db import types

_MYSQL = {'mysql_engine': 'InnoDB', 'mysql_charset': 'utf8mb4'}


class Base(oslo_models.ModelBase, orm.DeclarativeBase):
    """Base of the models; its metadata is what migrations are compared with."""

    __table_args__: Any = _MYSQL


class Resource(Base):
    """One thing that can be reserved; of a project if it is one of :mod:`climate.db.things`."""

    __tablename__ = 'resources'
    __table_args__ = (
        sa.UniqueConstraint('resource_type', 'name', 'deleted', name='uniq_resources_type_name'),
        sa.Index('ix_resources_choice', 'resource_type', 'deleted', 'reservable', 'disabled', 'id'),
        sa.Index('ix_resources_parent', 'parent_id'),
        _MYSQL,
    )

    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    resource_type: orm.Mapped[str] = orm.mapped_column(types.exact(64))
    name: orm.Mapped[str] = orm.mapped_column(types.exact(255))
    parent_id: orm.Mapped[int | None] = orm.mapped_column(sa.ForeignKey('resources.id'))
    project_id: orm.Mapped[str | None] = orm.mapped_column(types.exact(255))
    reservable: orm.Mapped[bool] = orm.mapped_column(sa.Boolean(), default=True)
    disabled: orm.Mapped[bool] = orm.mapped_column(sa.Boolean(), default=False)
    failed_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    generation: orm.Mapped[int] = orm.mapped_column(types.big_id(), default=0)
    deleted: orm.Mapped[int] = orm.mapped_column(default=0)
    created_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    updated_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())


class ResourceType(Base):
    """A type of counted or whole things that an operator declared."""

    __tablename__ = 'resource_types'

    name: orm.Mapped[str] = orm.mapped_column(types.exact(64), primary_key=True)
    declaration: orm.Mapped[dict[str, Any]] = orm.mapped_column(types.json_dict())
    created_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    updated_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())


class Maintenance(Base):
    """A period in which a resource is out; nothing new is booked on it then."""

    __tablename__ = 'maintenances'
    __table_args__ = (
        sa.Index('ix_maintenances_resource', 'resource_id', 'end_date', 'start_date'),
        _MYSQL,
    )

    id: orm.Mapped[str] = orm.mapped_column(types.exact(36), primary_key=True)
    resource_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey('resources.id'))
    start_date: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    end_date: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    reason: orm.Mapped[str] = orm.mapped_column(types.exact_text())
    user_id: orm.Mapped[str] = orm.mapped_column(types.exact(255))
    created_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    updated_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())


class Inventory(Base):
    """How much of a resource class a resource has."""

    __tablename__ = 'inventories'
    __table_args__ = (
        sa.UniqueConstraint('resource_id', 'resource_class', name='uniq_inventories_class'),
        _MYSQL,
    )

    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    resource_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey('resources.id'))
    resource_class: orm.Mapped[str] = orm.mapped_column(types.exact(255))
    total: orm.Mapped[int] = orm.mapped_column(types.big_id())
    reserved: orm.Mapped[int] = orm.mapped_column(types.big_id(), default=0)
    min_unit: orm.Mapped[int] = orm.mapped_column(default=1)
    max_unit: orm.Mapped[int] = orm.mapped_column()
    step_size: orm.Mapped[int] = orm.mapped_column(default=1)
    allocation_ratio: orm.Mapped[float] = orm.mapped_column(sa.Double(), default=1.0)


class PropertyKey(Base):
    """A name under which resources of a type have values."""

    __tablename__ = 'property_keys'
    __table_args__ = (
        sa.UniqueConstraint('resource_type', 'name', name='uniq_property_keys_name'),
        _MYSQL,
    )

    id: orm.Mapped[str] = orm.mapped_column(types.exact(36), primary_key=True)
    resource_type: orm.Mapped[str] = orm.mapped_column(types.exact(64))
    name: orm.Mapped[str] = orm.mapped_column(types.exact(255))
    private: orm.Mapped[bool] = orm.mapped_column(sa.Boolean(), default=False)
    created_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    updated_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())


class Property(Base):
    """A value of a resource: from the cloud, from an operator, or a trait.

    ``number`` is the value as a number where it is one, so that a requirement
    can compare numbers as numbers.
    """

    __tablename__ = 'properties'
    __table_args__ = (
        sa.UniqueConstraint('resource_id', 'name', 'kind', name='uniq_properties_name'),
        sa.Index('ix_properties_name', 'name', 'resource_id'),
        _MYSQL,
    )

    id: orm.Mapped[int] = orm.mapped_column(types.big_id(), primary_key=True)
    resource_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey('resources.id'))
    kind: orm.Mapped[str] = orm.mapped_column(types.exact(16))
    name: orm.Mapped[str] = orm.mapped_column(types.exact(255))
    value: orm.Mapped[str] = orm.mapped_column(types.exact_text())
    number: orm.Mapped[float | None] = orm.mapped_column(sa.Double())


class Lease(Base):
    """A contract of one project."""

    __tablename__ = 'leases'
    __table_args__ = (
        sa.Index('ix_leases_next_due', 'next_due'),
        # Lists are walks in the order of these two. What is deleted is passed
        # over: PostgreSQL does not follow an order that comes after a NULL.
        sa.Index('ix_leases_project', 'project_id', 'created_at', 'id'),
        sa.Index('ix_leases_all', 'created_at', 'id'),
        sa.Index('ix_leases_deleted', 'deleted_at'),
        sa.Index('ix_leases_status', 'status', 'deleted_at'),
        sa.Index('ix_leases_name', 'name', 'deleted_at'),
        sa.Index('ix_leases_start', 'start_date'),
        sa.Index('ix_leases_end', 'end_date'),
        sa.Index('ix_leases_degraded', 'degraded', 'status'),
        _MYSQL,
    )

    id: orm.Mapped[str] = orm.mapped_column(types.exact(36), primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(types.exact(80))
    user_id: orm.Mapped[str] = orm.mapped_column(types.exact(255))
    project_id: orm.Mapped[str] = orm.mapped_column(types.exact(255))
    start_date: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    end_date: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    status: orm.Mapped[str] = orm.mapped_column(types.exact(16))
    degraded: orm.Mapped[bool] = orm.mapped_column(sa.Boolean(), default=False)
    before_end_date: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    options: orm.Mapped[dict[str, Any]] = orm.mapped_column(types.json_dict())
    trust_id: orm.Mapped[str | None] = orm.mapped_column(types.exact(64))
    next_due: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    claim_owner: orm.Mapped[str | None] = orm.mapped_column(types.exact(64))
    claim_until: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    created_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    updated_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    deleted_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())


class Reservation(Base):
    """One line of a lease."""

    __tablename__ = 'reservations'
    __table_args__ = (sa.Index('ix_reservations_lease', 'lease_id', 'resource_type'), _MYSQL)

    id: orm.Mapped[str] = orm.mapped_column(types.exact(36), primary_key=True)
    lease_id: orm.Mapped[str] = orm.mapped_column(types.exact(36), sa.ForeignKey('leases.id'))
    position: orm.Mapped[int] = orm.mapped_column(default=0)
    resource_type: orm.Mapped[str] = orm.mapped_column(types.exact(64))
    status: orm.Mapped[str] = orm.mapped_column(types.exact(16))
    request: orm.Mapped[dict[str, Any]] = orm.mapped_column(types.json_dict())
    facts: orm.Mapped[dict[str, Any]] = orm.mapped_column(types.json_dict())
    missing_resources: orm.Mapped[bool] = orm.mapped_column(sa.Boolean(), default=False)
    resources_changed: orm.Mapped[bool] = orm.mapped_column(sa.Boolean(), default=False)
    part_of: orm.Mapped[str | None] = orm.mapped_column(types.exact(36))
    created_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    updated_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())


class Allocation(Base):
    """An amount of a resource class on a resource, for a period.

    ``live`` is 0 once the resource was given back. It is made by the engine out
    of ``state``, for an index can only be entered by what is equal to something:
    ``ix_allocations_live`` answers "is this resource free then?" by itself, and
    however long a resource's history is, nobody has to read it.
    """

    __tablename__ = 'allocations'
    __table_args__ = (
        sa.Index('ix_allocations_live', 'resource_id', 'live', 'end_date', 'start_date'),
        sa.Index('ix_allocations_reservation', 'reservation_id'),
        _MYSQL,
    )

    id: orm.Mapped[int] = orm.mapped_column(types.big_id(), primary_key=True)
    reservation_id: orm.Mapped[str] = orm.mapped_column(
        types.exact(36), sa.ForeignKey('reservations.id')
    )
    resource_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey('resources.id'))
    resource_class: orm.Mapped[str | None] = orm.mapped_column(types.exact(255))
    amount: orm.Mapped[int] = orm.mapped_column(types.big_id(), default=1)
    start_date: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    end_date: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    state: orm.Mapped[str] = orm.mapped_column(types.exact(16))
    live: orm.Mapped[int | None] = orm.mapped_column(
        sa.SmallInteger(),
        sa.Computed("CASE WHEN state = 'released' THEN 0 ELSE 1 END", persisted=True),
    )


class Event(Base):
    """What must happen to a lease, and when."""

    __tablename__ = 'events'
    __table_args__ = (sa.Index('ix_events_lease', 'lease_id', 'state'), _MYSQL)

    id: orm.Mapped[str] = orm.mapped_column(types.exact(36), primary_key=True)
    lease_id: orm.Mapped[str] = orm.mapped_column(types.exact(36), sa.ForeignKey('leases.id'))
    kind: orm.Mapped[str] = orm.mapped_column(types.exact(32))
    time: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    due: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    state: orm.Mapped[str] = orm.mapped_column(types.exact(16))
    attempts: orm.Mapped[int] = orm.mapped_column(default=0)
    begun_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    error: orm.Mapped[str | None] = orm.mapped_column(sa.Text())
    payload: orm.Mapped[dict[str, Any]] = orm.mapped_column(types.json_dict())
    created_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    updated_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())


class Step(Base):
    """What an effect did to a reservation, for an event, with all its attempts.

    Events may be removed before their lease is, and what was done stays done.
    """

    __tablename__ = 'steps'
    __table_args__ = (sa.Index('ix_steps_lease', 'lease_id', 'event_id'), _MYSQL)

    id: orm.Mapped[int] = orm.mapped_column(types.big_id(), primary_key=True)
    lease_id: orm.Mapped[str] = orm.mapped_column(
        types.exact(36), sa.ForeignKey('leases.id', ondelete='CASCADE')
    )
    event_id: orm.Mapped[str] = orm.mapped_column(types.exact(36))
    reservation_id: orm.Mapped[str | None] = orm.mapped_column(types.exact(36))
    resource_type: orm.Mapped[str | None] = orm.mapped_column(types.exact(64))
    effect: orm.Mapped[str] = orm.mapped_column(types.exact(16))
    state: orm.Mapped[str] = orm.mapped_column(types.exact(16))
    attempts: orm.Mapped[int] = orm.mapped_column(default=1)
    first_at: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    last_at: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    detail: orm.Mapped[dict[str, Any]] = orm.mapped_column(types.json_dict())


class OutboxMessage(Base):
    """A notification written in the transaction that it tells of.

    One that cannot be sent, though others can, is tried again when it is due,
    and in the end set aside.
    """

    __tablename__ = 'outbox'
    __table_args__ = (
        sa.Index('ix_outbox_lease', 'lease_id', 'seq'),
        sa.UniqueConstraint('id', name='uniq_outbox_id'),
        _MYSQL,
    )

    seq: orm.Mapped[int] = orm.mapped_column(types.big_id(), primary_key=True)
    id: orm.Mapped[str] = orm.mapped_column(types.exact(36))
    lease_id: orm.Mapped[str] = orm.mapped_column(types.exact(36))
    event_type: orm.Mapped[str] = orm.mapped_column(types.exact(64))
    priority: orm.Mapped[str] = orm.mapped_column(types.exact(16))
    payload: orm.Mapped[dict[str, Any]] = orm.mapped_column(types.json_dict())
    created_at: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    claim_owner: orm.Mapped[str | None] = orm.mapped_column(types.exact(64))
    claim_until: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    attempts: orm.Mapped[int] = orm.mapped_column(default=0, server_default=sa.text('0'))
    due: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())
    error: orm.Mapped[str | None] = orm.mapped_column(sa.Text())
    set_aside_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())


class Trust(Base):
    """A trust of Keystone that is not deleted yet; see :mod:`climate.db.trusts`."""

    __tablename__ = 'trusts'

    id: orm.Mapped[str] = orm.mapped_column(types.exact(64), primary_key=True)
    lease_id: orm.Mapped[str | None] = orm.mapped_column(types.exact(36))
    made_at: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    expires_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())


class Intent(Base):
    """What callers are about to make in the cloud; see :mod:`climate.db.intents`."""

    __tablename__ = 'intents'

    reservation_id: orm.Mapped[str] = orm.mapped_column(types.exact(36), primary_key=True)
    resource_type: orm.Mapped[str] = orm.mapped_column(types.exact(64))
    project_id: orm.Mapped[str] = orm.mapped_column(types.exact(255))
    written_at: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())


class Secret(Base):
    """What processes share and callers must not know; see :mod:`climate.db.secrets`."""

    __tablename__ = 'secrets'

    name: orm.Mapped[str] = orm.mapped_column(types.exact(64), primary_key=True)
    value: orm.Mapped[str] = orm.mapped_column(types.exact(255))
    created_at: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())


class Project(Base):
    """By which what a project has is counted; see :mod:`climate.db.projects`."""

    __tablename__ = 'projects'

    id: orm.Mapped[str] = orm.mapped_column(types.exact(255), primary_key=True)
    generation: orm.Mapped[int] = orm.mapped_column()


class Chore(Base):
    """What managers do now and then, one of them at a time."""

    __tablename__ = 'chores'

    name: orm.Mapped[str] = orm.mapped_column(types.exact(64), primary_key=True)
    begun_at: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    claim_owner: orm.Mapped[str | None] = orm.mapped_column(types.exact(64))
    claim_until: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())


class Charge(Base):
    """What a judge of leases is still to be told; see :mod:`climate.db.charges`.

    Without a foreign key: a question is written before its lease is, and may
    come to nothing.
    """

    __tablename__ = 'charges'
    __table_args__ = (
        sa.Index('ix_charges_charge', 'charge_id'),
        sa.Index('ix_charges_due', 'state', 'due'),
        sa.Index('ix_charges_lease', 'lease_id', 'seq'),
        _MYSQL,
    )

    seq: orm.Mapped[int] = orm.mapped_column(types.big_id(), primary_key=True)
    charge_id: orm.Mapped[str] = orm.mapped_column(types.exact(36))
    judge: orm.Mapped[str] = orm.mapped_column(types.exact(64))
    lease_id: orm.Mapped[str] = orm.mapped_column(types.exact(36))
    state: orm.Mapped[str] = orm.mapped_column(types.exact(16))
    payload: orm.Mapped[dict[str, Any]] = orm.mapped_column(types.json_dict())
    due: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    attempts: orm.Mapped[int] = orm.mapped_column(default=0)
    error: orm.Mapped[str | None] = orm.mapped_column(sa.Text())
    created_at: orm.Mapped[datetime.datetime] = orm.mapped_column(types.UtcDateTime())
    claim_owner: orm.Mapped[str | None] = orm.mapped_column(types.exact(64))
    claim_until: orm.Mapped[datetime.datetime | None] = orm.mapped_column(types.UtcDateTime())


guards.come_with(Base.metadata)
