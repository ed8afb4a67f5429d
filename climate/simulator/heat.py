# SPDX-License-Identifier: Apache-2.0

"""Simulated Heat.

Stacks consist of names: no servers or volumes are created. An action takes as long as
``set_seconds('stack', …)`` sets, or longer if a resource of type ``OS::Heat::Delay``
requires it. A resource of type ``OS::Heat::TestResource`` may fail.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.cloud import stack_orders
from climate.cloud import templates as real_templates
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.protocols.stacks import PlannedResource
from climate.cloud.protocols.stacks import Stack
from climate.cloud.protocols.stacks import StackDraft
from climate.cloud.protocols.stacks import StackSnapshot
from climate.simulator import floating_ips
from climate.simulator import keystone
from climate.simulator import templates
from climate.simulator.store import Db
from climate.simulator.verbs import ServiceVerbs
from climate.simulator.verbs import verb

SCHEMA = """
CREATE TABLE IF NOT EXISTS stacks (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    project_id TEXT NOT NULL,
    tags TEXT NOT NULL,
    resources TEXT NOT NULL,
    action TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('COMPLETE', 'FAILED')),
    reason TEXT NOT NULL,
    done_at REAL NOT NULL,
    UNIQUE (project_id, name)
);
CREATE TABLE IF NOT EXISTS stack_snapshots (
    id TEXT PRIMARY KEY,
    stack_id TEXT NOT NULL REFERENCES stacks (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    done_at REAL NOT NULL,
    reason TEXT NOT NULL DEFAULT ''
);
"""
_DELAY = 'OS::Heat::Delay'
_SERVER = 'OS::Nova::Server'
_FLOATING_IP = 'OS::Neutron::FloatingIP'


def _find(db: Db, name_or_id: str) -> Stack | None:
    db.run("DELETE FROM stacks WHERE action = 'DELETE' AND done_at <= ?", db.now)
    project = db.caller.project_id
    row = db.row(
        'SELECT * FROM stacks WHERE (id = ? AND (? OR project_id = ?))'
        ' OR (name = ? AND project_id = ?)',
        name_or_id,
        db.caller.sees_all,
        project,
        name_or_id,
        project,
    )
    return None if row is None else _stack(row, db.now)


def _require(db: Db, stack_id: str) -> Stack:
    stack = _find(db, stack_id)
    if stack is None:
        raise CloudNotFound(f'the simulated cloud has no stack {stack_id}')
    return stack


def _plan(db: Db, draft: StackDraft) -> tuple[PlannedResource, ...]:
    planned = templates.plan(draft)
    stack = _find(db, draft.name)
    if stack is not None and stack.name == draft.name:
        raise CloudConflict(f'The Stack ({draft.name}) already exists.')
    return planned


def _preview(db: Db, draft: StackDraft) -> tuple[PlannedResource, ...]:
    grown = StackDraft(
        name=draft.name,
        template=real_templates.at_its_largest(draft.template),
        parameters=draft.parameters,
        environment=draft.environment,
        files={name: real_templates.at_its_largest(text) for name, text in draft.files.items()},
    )
    return _plan(db, grown)


def _create(db: Db, draft: StackDraft) -> str:
    keystone.check_redelegation(db)
    planned = _plan(db, draft)
    for item in planned:
        _check_external(db, item)
    return _insert(db, db.caller.project_id, draft, planned)


def _check_external(db: Db, item: PlannedResource) -> None:
    """Check that an existing floating IP in a template belongs to the project."""
    if item.type != _FLOATING_IP or not item.physical_id:
        return
    project = db.caller.project_id
    addresses = floating_ips.floating_ips(db)
    if not any(one.id == item.physical_id and one.project_id == project for one in addresses):
        raise exceptions.Permanent(
            f'Invalid external resource: Resource {item.physical_id} ({item.type}) '
            'can not be found.'
        )


def _suspend(db: Db, stack_id: str) -> None:
    stack = _require(db, stack_id)
    if stack_orders.wants_suspension(stack):
        _begin(db, stack.id, 'SUSPEND')


def _resume(db: Db, stack_id: str) -> None:
    stack = _require(db, stack_id)
    if stack_orders.wants_resumption(stack):
        _begin(db, stack.id, 'RESUME')


def _snapshot(db: Db, stack_id: str, name: str) -> str:
    stack = _require(db, stack_id)
    stack_orders.check_snapshot(stack)
    snapshot_id = str(uuid.uuid4())
    db.insert(
        'stack_snapshots',
        id=snapshot_id,
        stack_id=stack.id,
        project_id=db.caller.project_id,
        name=name,
        done_at=_begin(db, stack.id, 'SNAPSHOT'),
    )
    return snapshot_id


def _snapshots(db: Db, stack_id: str) -> tuple[StackSnapshot, ...]:
    stack = _find(db, stack_id)
    rows = db.rows(
        'SELECT id, name, done_at, reason FROM stack_snapshots WHERE stack_id = ?'
        ' AND project_id = ? ORDER BY name, id',
        '' if stack is None else stack.id,
        db.caller.project_id,
    )
    return tuple(
        StackSnapshot(
            id=row['id'],
            name=row['name'],
            status=_snapshot_status(row, db.now),
            reason=row['reason'],
        )
        for row in rows
    )


def _delete(db: Db, stack_id: str) -> None:
    stack = _find(db, stack_id)
    if stack is not None and stack.action != 'DELETE':
        _begin(db, stack.id, 'DELETE')
        _find(db, stack_id)


def stacks(db: Db) -> tuple[Stack, ...]:
    """Return every stack, by project and name."""
    db.run("DELETE FROM stacks WHERE action = 'DELETE' AND done_at <= ?", db.now)
    rows = db.rows('SELECT * FROM stacks ORDER BY project_id, name')
    return tuple(_stack(row, db.now) for row in rows)


def add_stack(db: Db, project_id: str, draft: StackDraft, stack_id: str) -> None:
    """Add a stack to a project.

    :raises climate.exceptions.Permanent: if Heat would reject the stack
    """
    _insert(db, project_id, draft, templates.plan(draft), stack_id)


def _insert(
    db: Db,
    project_id: str,
    draft: StackDraft,
    planned: tuple[PlannedResource, ...],
    stack_id: str | None = None,
) -> str:
    stack_id = stack_id or str(uuid.uuid4())
    resources = [
        {
            'name': item.name,
            'type': item.type,
            'physical_id': item.physical_id or str(uuid.uuid4()),
            'properties': _kept(item),
        }
        for item in planned
    ]
    db.insert(
        'stacks',
        id=stack_id,
        name=draft.name,
        project_id=project_id,
        tags=json.dumps(draft.tags),
        resources=json.dumps(resources),
        action='CREATE',
        outcome='COMPLETE',
        reason='',
        done_at=0,
    )
    broken = next((item.name for item in planned if item.properties.get('fail')), None)
    _begin(db, stack_id, 'CREATE', broken)
    return stack_id


def break_stack(db: Db, stack_id: str, reason: str = 'it broke') -> None:
    """Make the current or latest action of a stack and its running snapshots fail."""
    db.run(
        "UPDATE stacks SET outcome = 'FAILED', reason = ?, done_at = min(done_at, ?) WHERE id = ?",
        reason,
        db.now,
        stack_id,
    )
    db.run(
        'UPDATE stack_snapshots SET reason = ? WHERE stack_id = ? AND done_at > ?',
        reason,
        stack_id,
        db.now,
    )


def _snapshot_status(row: sqlite3.Row, now: float) -> str:
    if row['reason']:
        return 'FAILED'
    return 'COMPLETE' if row['done_at'] <= now else 'IN_PROGRESS'


def _kept(item: PlannedResource) -> dict[str, Any]:
    """Return the properties that are needed later; others may be secret."""
    names = {_DELAY: ('min_wait', 'actions'), _SERVER: ('flavor',)}.get(item.type, ())
    return {key: item.properties.get(key) for key in names}


def _begin(db: Db, stack_id: str, action: str, broken: str | None = None) -> float:
    """Start an action on a stack and return the time at which it will be complete."""
    row = db.row('SELECT resources FROM stacks WHERE id = ?', stack_id)
    assert row is not None
    waits = [_wait(item, action) for item in json.loads(row['resources'])]
    done_at = db.now + max([db.seconds('stack'), *waits])
    reason = f'Stack {action} completed successfully'
    if broken is not None:
        reason = f'Resource {action} failed: resources.{broken}: Test Resource failed {broken}'
    db.update(
        'stacks',
        stack_id,
        action=action,
        outcome='FAILED' if broken is not None else 'COMPLETE',
        reason=reason,
        done_at=done_at,
    )
    return done_at


def _wait(item: Mapping[str, Any], action: str) -> float:
    properties = item['properties']
    if action not in (properties.get('actions') or ['CREATE']):
        return 0.0
    return float(properties.get('min_wait') or 0)


def _stack(row: sqlite3.Row, now: float) -> Stack:
    busy = now < row['done_at']
    return Stack(
        id=row['id'],
        name=row['name'],
        project_id=row['project_id'],
        action=row['action'],
        status='IN_PROGRESS' if busy else row['outcome'],
        reason=f'Stack {row["action"]} started' if busy else row['reason'],
        tags=tuple(json.loads(row['tags'])),
    )


class SimulatedHeat(ServiceVerbs):
    """Implements :class:`climate.cloud.base.Orchestration`."""

    preview_stack = verb('orchestration.preview_stack', _preview, 'draft.name')
    create_stack = verb('orchestration.create_stack', _create, 'draft.name')
    find_stack = verb('orchestration.find_stack', _find)
    suspend_stack = verb('orchestration.suspend_stack', _suspend)
    resume_stack = verb('orchestration.resume_stack', _resume)
    snapshot_stack = verb('orchestration.snapshot_stack', _snapshot)
    list_stack_snapshots = verb('orchestration.list_stack_snapshots', _snapshots)
    delete_stack = verb('orchestration.delete_stack', _delete)
