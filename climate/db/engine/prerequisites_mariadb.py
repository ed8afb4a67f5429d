# SPDX-License-Identifier: Apache-2.0

"""What MariaDB needs."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Final

import sqlalchemy as sa

_OLDEST: Final = (10, 6)
_CHARACTER_SET: Final = 'utf8mb4'
_NEEDED: Final = (
    *('SELECT', 'INSERT', 'UPDATE', 'DELETE'),
    *('CREATE', 'ALTER', 'DROP', 'INDEX', 'REFERENCES', 'TRIGGER'),
)
_ALL: Final = 'ALL PRIVILEGES'
# Any of these lets a user create triggers on a server with a binary log.
_TRUSTED: Final = frozenset((_ALL, 'SUPER'))
_WRITING: Final = frozenset((_ALL, 'SUPER', 'READ ONLY ADMIN'))

_FACTS: Final = sa.text("""
    SELECT VERSION() AS version, @@character_set_connection AS character_set,
           @@log_bin AS log_bin, @@log_bin_trust_function_creators AS trusts,
           @@read_only AS read_only, @@max_connections AS accepted,
           DATABASE() AS db, CURRENT_USER() AS user
""")
_GRANT: Final = re.compile(r'GRANT (?P<rights>.+?) ON (?P<what>\S+) TO ', re.DOTALL)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MariadbFacts:
    """What a server says of itself, of the session and of the user.

    :ivar general: the user's rights on the whole server
    :ivar rights: those on the database
    :ivar piecewise: whether the user also has rights on single tables
    """

    version: str
    character_set: str
    log_bin: bool
    trusts: bool
    read_only: bool
    accepted: int
    db: str
    user: str
    general: frozenset[str]
    rights: frozenset[str]
    piecewise: bool


def read(connection: sa.Connection) -> MariadbFacts:
    """Ask the server."""
    row = dict(connection.execute(_FACTS).one()._mapping)
    # MariaDB 12 has names instead of numbers.
    row |= {key: _is_on(row[key]) for key in ('log_bin', 'trusts', 'read_only')}
    grants = [str(line) for line in connection.scalars(sa.text('SHOW GRANTS'))]
    general, rights, piecewise = granted(grants, row['db'])
    return MariadbFacts(**row, general=general, rights=rights, piecewise=piecewise)


def _is_on(value: object) -> bool:
    return str(value).upper() not in ('0', 'OFF')


def granted(lines: Iterable[str], db: str) -> tuple[frozenset[str], frozenset[str], bool]:
    """Return the rights that SHOW GRANTS lists, as fields of :class:`MariadbFacts`."""
    general: set[str] = set()
    rights: set[str] = set()
    piecewise = False
    for line in lines:
        match = _GRANT.match(line)
        if match is None:
            # The grant of a role, whose own rights follow.
            continue
        words = {word.strip().upper() for word in match['rights'].split(',')}
        owner, _, table = match['what'].rpartition('.')
        if match['what'] == '*.*':
            general |= words
        elif table == '*' and _covers(owner, db):
            rights |= words
        elif table != '*' and owner.strip('`') == db:
            piecewise = True
    return frozenset(general), frozenset(rights), piecewise


def _covers(pattern: str, db: str) -> bool:
    """Whether the pattern of a grant, with the wildcards of LIKE, covers a database."""
    parts = re.split(r'(\\[%_]|%|_)', pattern.strip('`'))
    wild = {'%': '.*', '_': '.'}
    expression = ''.join(wild.get(part) or re.escape(part.removeprefix('\\')) for part in parts)
    return re.fullmatch(expression, db) is not None


def refusal(version: str) -> str | None:
    """Return why the version of a server is not supported; None if it is."""
    if 'mariadb' not in version.lower():
        return f'MySQL {version} is not supported: Climate needs MariaDB 10.6 or later'
    # Proxies and replicas see 5.5.5- before it.
    match = re.match(r'(?:5\.5\.5-)?(\d+)\.(\d+)', version)
    if match is not None and (int(match[1]), int(match[2])) < _OLDEST:
        return f'MariaDB {version} is too old: Climate needs 10.6 or later'
    return None


def complaints(facts: MariadbFacts) -> Iterator[str]:
    """Yield a sentence for each thing that it lacks."""
    refused = refusal(facts.version)
    if refused is not None:
        yield refused
    if facts.character_set != _CHARACTER_SET:
        yield (
            f'connections have the character set {facts.character_set} instead of'
            f' {_CHARACTER_SET}: remove init_connect from the server and init_command from'
            ' [database] connection'
        )
    if facts.read_only and not facts.general & _WRITING:
        yield 'the server is read-only: connect to the primary'
    yield from _of_rights(facts)


def _of_rights(facts: MariadbFacts) -> Iterator[str]:
    known = facts.general | facts.rights
    missing = [] if _ALL in known else [right for right in _NEEDED if right not in known]
    if missing and not facts.piecewise:
        yield (
            f'{facts.user} lacks {", ".join(missing)} on the database {facts.db}:'
            f' GRANT ALL ON {facts.db}.* TO {facts.user.partition("@")[0]}'
        )
    if facts.log_bin and not facts.trusts and not facts.general & _TRUSTED:
        yield (
            f'the server writes a binary log, and {facts.user} lacks SUPER: triggers need'
            ' log_bin_trust_function_creators = 1 while tables are created or upgraded'
        )
