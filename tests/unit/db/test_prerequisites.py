# SPDX-License-Identifier: Apache-2.0

"""What databases lack, from what servers say of themselves."""

from __future__ import annotations

import dataclasses
import types

import sqlalchemy as sa

from climate.db.engine import prerequisites
from climate.db.engine import prerequisites_mariadb as mariadb
from climate.db.engine import prerequisites_postgresql as postgresql
from climate.db.engine import prerequisites_sqlite as sqlite
from tests import base

_MARIADB = mariadb.MariadbFacts(
    version='10.11.6-MariaDB-0+deb12u1',
    character_set='utf8mb4',
    log_bin=False,
    trusts=False,
    read_only=False,
    accepted=151,
    db='climate',
    user='climate@%',
    general=frozenset({'USAGE'}),
    rights=frozenset({'ALL PRIVILEGES'}),
    piecewise=False,
)
_POSTGRESQL = postgresql.PostgresqlFacts(
    number=150006,
    version='15.6',
    encoding='UTF8',
    read_only=False,
    accepted=97,
    database='climate',
    role='climate',
    schema='public',
    path='"$user", public',
    creates=True,
    owner='climate',
    of_others={},
)


class TestMariadb(base.TestCase):
    """MariaDB, and what is not."""

    def lacks(self, text: str, **facts: object) -> None:
        (found,) = mariadb.complaints(dataclasses.replace(_MARIADB, **facts))
        self.assertIn(text, found)

    def test_nothing(self) -> None:
        self.assertEqual([], list(mariadb.complaints(_MARIADB)))

    def test_versions(self) -> None:
        self.lacks('MySQL 8.0.36', version='8.0.36')
        self.lacks('too old', version='10.5.23-MariaDB')
        for good in ('10.6.1-MariaDB', '5.5.5-10.11.6-MariaDB', '12.0.2-MariaDB'):
            self.assertIsNone(mariadb.refusal(good))

    def test_character_set(self) -> None:
        self.lacks('latin1 instead of utf8mb4', character_set='latin1')

    def test_read_only(self) -> None:
        self.lacks('read-only', read_only=True)
        able = dataclasses.replace(_MARIADB, read_only=True, general=frozenset({'READ ONLY ADMIN'}))
        self.assertEqual([], list(mariadb.complaints(able)))

    def test_rights(self) -> None:
        some = frozenset(set(mariadb._NEEDED) - {'TRIGGER'})
        self.lacks('climate@% lacks TRIGGER on the database climate', rights=some)
        enough = dataclasses.replace(_MARIADB, rights=frozenset(mariadb._NEEDED))
        self.assertEqual([], list(mariadb.complaints(enough)))

    def test_binary_log(self) -> None:
        self.lacks('log_bin_trust_function_creators', log_bin=True)
        for facts in ({'trusts': True}, {'general': frozenset({'SUPER'})}):
            changed = dataclasses.replace(_MARIADB, log_bin=True, **facts)
            self.assertEqual([], list(mariadb.complaints(changed)))

    def test_what_grants_say(self) -> None:
        lines = (
            "GRANT USAGE ON *.* TO `climate`@`%` IDENTIFIED BY PASSWORD '*X'",
            'GRANT `reader` TO `climate`@`%`',
            'GRANT SELECT, INSERT ON `climate`.* TO `climate`@`%`',
            'GRANT TRIGGER ON `clim_te`.* TO `climate`@`%`',
            'GRANT DELETE ON `other`.* TO `climate`@`%`',
            r'GRANT DROP ON `clim\_te`.* TO `climate`@`%`',
        )
        general, rights, piecewise = mariadb.granted(lines, 'climate')
        self.assertEqual({'USAGE'}, general)
        self.assertEqual({'SELECT', 'INSERT', 'TRIGGER'}, rights)
        self.assertFalse(piecewise)
        _, rights, piecewise = mariadb.granted(
            (
                r'GRANT ALL PRIVILEGES ON `a\_b`.* TO `u`@`%`',
                'GRANT SELECT ON `a_b`.`leases` TO `u`@`%`',
            ),
            'a_b',
        )
        self.assertEqual({'ALL PRIVILEGES'}, rights)
        self.assertTrue(piecewise)


class TestPostgresql(base.TestCase):
    """PostgreSQL."""

    def lacks(self, text: str, **facts: object) -> None:
        changed = dataclasses.replace(_POSTGRESQL, **facts)
        self.assertIn(text, '; '.join(postgresql.complaints(changed)))

    def test_nothing(self) -> None:
        self.assertEqual([], list(postgresql.complaints(_POSTGRESQL)))

    def test_each(self) -> None:
        self.lacks('13.4 is too old', number=130004, version='13.4')
        self.lacks('the encoding SQL_ASCII', encoding='SQL_ASCII')
        self.lacks('read-only', read_only=True)
        self.lacks('no schema of the search path', schema=None)
        self.lacks('ALTER DATABASE climate OWNER TO climate', creates=False, owner='postgres')
        self.lacks('the table leases, and 1 others', of_others={'leases': 'a', 'offers': 'a'})


class TestOthers(base.TestCase):
    """SQLite, and the number of connections."""

    def test_sqlite(self) -> None:
        self.assertEqual([], list(sqlite.complaints((3, 40, 1))))
        (found,) = sqlite.complaints((3, 31, 0))
        self.assertIn('SQLite 3.31.0 is too old', found)

    def test_connections(self) -> None:
        conf = types.SimpleNamespace(max_pool_size=20, max_overflow=15)
        self.assertEqual([], list(prerequisites._few(140, conf)))
        self.assertEqual([], list(prerequisites._few(None, conf)))
        (found,) = prerequisites._few(139, conf)
        self.assertIn('may open 140', found)

    def test_it_asks_a_database(self) -> None:
        conf = types.SimpleNamespace(max_pool_size=20, max_overflow=None)
        with sa.create_engine('sqlite://').connect() as connection:
            self.assertEqual((), prerequisites.require(connection, conf).minor)
