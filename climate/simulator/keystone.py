# SPDX-License-Identifier: Apache-2.0

"""Simulated Keystone.

A token is the text ``user:project`` or ``user:project:role,role``, as in the standalone
service. A user who creates a trust with a token is registered with the roles of the
token. A user who is registered already keeps their roles, regardless of the token.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
import uuid
from collections.abc import Iterable

from climate import exceptions
from climate.cloud.base import CloudNotFound
from climate.cloud.base import TrustLost
from climate.cloud.protocols.members import Project
from climate.cloud.protocols.members import User
from climate.cloud.protocols.trusts import Trust
from climate.simulator.store import Db
from climate.simulator.store import SERVICE_PROJECT
from climate.simulator.store import VerbCaller
from climate.simulator.verbs import ServiceVerbs
from climate.simulator.verbs import verb

SCHEMA = """
CREATE TABLE IF NOT EXISTS users (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, enabled INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS user_emails (
    user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE, email TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS projects (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, enabled INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS roles (
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    PRIMARY KEY (user_id, project_id, role)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trusts (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    roles TEXT NOT NULL,
    expires_at REAL,
    redelegate INTEGER NOT NULL
) WITHOUT ROWID;
"""
TRUSTEE = SERVICE_PROJECT
_USER = """
SELECT u.id, u.name, u.enabled, coalesce(e.email, '') AS email
FROM users u LEFT JOIN user_emails e ON e.user_id = u.id WHERE u.id = ?
"""
_PUT = (
    'INSERT INTO {} (id, name, enabled) VALUES (?, ?, ?)'
    ' ON CONFLICT (id) DO UPDATE SET enabled = excluded.enabled'
)
_PROJECT = 'SELECT id, name, enabled FROM projects WHERE id = ?'
_TOKEN = re.compile(r'(?P<user>[^:\s]{1,255}):(?P<project>[^:\s]{1,255})(?::(?P<roles>[^:]*))?')
_IMPLIED = {'admin': ('manager', 'member', 'reader'), 'member': ('reader',)}


def put_user(db: Db, user_id: str, *, enabled: bool = True) -> None:
    """Create a user, or enable or disable an existing one."""
    db.run(_PUT.format('users'), user_id, user_id, enabled)


def put_email(db: Db, user_id: str, email: str) -> None:
    """Set the email address of a user; '' removes it."""
    db.delete('user_emails', user_id=user_id)
    if email:
        db.insert('user_emails', user_id=user_id, email=email)


def put_project(db: Db, project_id: str, *, enabled: bool = True) -> None:
    """Create a project, or enable or disable an existing one."""
    db.run(_PUT.format('projects'), project_id, project_id, enabled)


def set_roles(db: Db, user_id: str, project_id: str, roles: Iterable[str]) -> None:
    """Replace the roles of a user in a project."""
    db.delete('roles', user_id=user_id, project_id=project_id)
    for role in sorted(set(roles)):
        db.insert('roles', user_id=user_id, project_id=project_id, role=role)


def trustor(db: Db, trust_id: str) -> VerbCaller:
    """Return the user who created a trust.

    :raises TrustLost: if it does not exist or cannot be used
    """
    trust = _find_trust(db, trust_id)
    if trust is None:
        raise TrustLost('the trust is deleted or expired, or its user or project is deleted')
    if not _enabled(db, trust.trustor_user_id, trust.project_id) or not set(trust.roles) <= _roles(
        db, trust.trustor_user_id, trust.project_id
    ):
        raise TrustLost(
            f'the trust cannot be used: user {trust.trustor_user_id} has lost a role in '
            f'project {trust.project_id}, or one of them is disabled'
        )
    return VerbCaller(project_id=trust.project_id, sees_all=False, trust_id=trust_id)


def check_redelegation(db: Db) -> None:
    """Check that a service may delegate the identity of the caller further.

    :raises climate.exceptions.Transient: if the trust does not allow it, because Heat
        returns a 500
    """
    if db.row('SELECT 1 FROM trusts WHERE id = ? AND NOT redelegate', db.caller.trust_id):
        raise exceptions.Transient('Heat cannot delegate the trust: HTTP 500')


def owner(db: Db, token: str) -> VerbCaller:
    """Return the owner of a token.

    :raises climate.exceptions.Permanent: if the token is not valid
    """
    return VerbCaller(project_id=_caller(db, token)[1], sees_all=False)


def _find_user(db: Db, user_id: str) -> User | None:
    row = db.row(_USER, user_id)
    return None if row is None else User(**{**dict(row), 'enabled': bool(row['enabled'])})


def _find_project(db: Db, project_id: str) -> Project | None:
    row = db.row(_PROJECT, project_id)
    return None if row is None else Project(**{**dict(row), 'enabled': bool(row['enabled'])})


def _caller(db: Db, token: str) -> tuple[str, str, frozenset[str]]:
    """Return the user, the project and the roles of a token."""
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise exceptions.Permanent('Keystone does not accept the token of the caller')
    user_id, project_id = match['user'], match['project']
    if not db.has('users', id=user_id):
        named = [role.strip() for role in (match['roles'] or '').split(',') if role.strip()]
        return user_id, project_id, _implied(named or ['member'])
    roles = _roles(db, user_id, project_id)
    if not roles or not _enabled(db, user_id, project_id):
        raise exceptions.Permanent('Keystone does not accept the token of the caller')
    return user_id, project_id, roles


def _create_trust(
    db: Db,
    token: str,
    *,
    roles: frozenset[str],
    expires_at: datetime.datetime | None = None,
    redelegate: bool = False,
) -> Trust:
    user_id, project_id, held = _caller(db, token)
    if not roles <= held:
        raise CloudNotFound(f'Could not find role: {min(roles - held)}.')
    if not roles:
        raise exceptions.Permanent('At least one role should be specified')
    until = None if expires_at is None else expires_at.timestamp()
    if until is not None and until <= db.now:
        raise exceptions.Permanent("The 'expires_at' must not be before now.")
    if not db.has('users', id=user_id):
        put_user(db, user_id)
        put_project(db, project_id)
        set_roles(db, user_id, project_id, held)
    trust_id = uuid.uuid4().hex
    db.insert(
        'trusts',
        id=trust_id,
        user_id=user_id,
        project_id=project_id,
        roles=','.join(sorted(roles)),
        expires_at=until,
        redelegate=redelegate,
    )
    trust = _find_trust(db, trust_id)
    assert trust is not None
    return trust


def _find_trust(db: Db, trust_id: str) -> Trust | None:
    row = db.row(
        'SELECT * FROM trusts WHERE id = ? AND (expires_at IS NULL OR expires_at > ?)',
        trust_id,
        db.now,
    )
    if row is None:
        return None
    until = row['expires_at']
    return Trust(
        id=row['id'],
        trustor_user_id=row['user_id'],
        trustee_user_id=TRUSTEE,
        project_id=row['project_id'],
        roles=tuple(row['roles'].split(',')),
        expires_at=None if until is None else datetime.datetime.fromtimestamp(until, datetime.UTC),
    )


def _list_trusts(db: Db) -> tuple[Trust, ...]:
    trusts = (_find_trust(db, row['id']) for row in db.rows('SELECT id FROM trusts ORDER BY id'))
    return tuple(dataclasses.replace(trust, roles=()) for trust in trusts if trust is not None)


def _delete_trust(db: Db, trust_id: str) -> None:
    db.delete('trusts', id=trust_id)


def _enabled(db: Db, user_id: str, project_id: str) -> bool:
    row = db.row(
        'SELECT 1 FROM users u, projects p WHERE u.id = ? AND p.id = ? AND u.enabled AND p.enabled',
        user_id,
        project_id,
    )
    return row is not None


def _roles(db: Db, user_id: str, project_id: str) -> frozenset[str]:
    rows = db.rows(
        'SELECT role FROM roles WHERE user_id = ? AND project_id = ?', user_id, project_id
    )
    return _implied(row['role'] for row in rows)


def _implied(roles: Iterable[str]) -> frozenset[str]:
    """Return roles and the roles that they imply by default in Keystone."""
    return frozenset(name for role in roles for name in (role, *_IMPLIED.get(role, ())))


class SimulatedKeystone(ServiceVerbs):
    """Implements :class:`climate.cloud.base.IdentityService`."""

    create_trust = verb('identity.create_trust', _create_trust, 'roles', 'redelegate')
    find_trust = verb('identity.find_trust', _find_trust)
    list_trusts = verb('identity.list_trusts', _list_trusts)
    delete_trust = verb('identity.delete_trust', _delete_trust)
    find_user = verb('identity.find_user', _find_user)
    find_project = verb('identity.find_project', _find_project)
    list_roles = verb('identity.list_roles', _roles)
