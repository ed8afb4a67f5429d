# SPDX-License-Identifier: Apache-2.0

"""The statements of the install page, and databases that lack something; two seconds each."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import textwrap
import uuid

import fixtures
import sqlalchemy as sa

from climate.cmd import config
from climate.cmd import manage
from climate.cmd.status import Checks
from tests import base
from tests import services
from tests.architecture import ROOT

_PAGE = ROOT / 'doc' / 'source' / 'install' / 'cloud.rst'


def statements(language: str, name: str) -> list[str]:
    """Return the statements of the page in a language, with another name for all."""
    text = _PAGE.read_text(encoding='utf-8')
    (block,) = re.findall(rf'^ *\.\. code-block:: {language}\n\n((?: +.*\n)+)', text, re.MULTILINE)
    lines = textwrap.dedent(block).strip().splitlines()
    return [re.sub(r'\bclimate\b', name, line).rstrip(';') for line in lines]


class _Statements(base.TestCase):
    """A server on which users of their own make databases of their own."""

    def setUp(self) -> None:
        super().setUp()
        services.require(self.kind)
        self.name = f'climate_test_{uuid.uuid4().hex[:12]}'
        self.file = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'climate.conf'

    def run_statements(self, *lines: str) -> None:
        for line in lines:
            services._run(self.kind, line)

    def make(self, *lines: str) -> None:
        """Make a database as the page says, or as *lines* say, and use it."""
        self.addCleanup(self.drop)
        self.run_statements(*(lines or statements(self.language, self.name)))
        url = services.address(self.kind).set(
            username=self.name, password='secret', database=self.name
        )
        text = url.render_as_string(hide_password=False).replace('%', '%%')
        self.file.write_text(f'[database]\nconnection = {text}\n')

    def drop(self) -> None:
        raise NotImplementedError

    def sync(self) -> tuple[int, str]:
        """Run ``climate-manage db sync``; return its status and what it prints."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = manage.main(['--config-file', str(self.file), 'db', 'sync'])
        return status, output.getvalue()

    def check(self) -> tuple[str, str]:
        """Return the result of the check of the server by ``climate-status``."""
        conf = config.new_conf()
        conf(['--config-file', str(self.file)], project='climate')
        found = Checks(conf)._check_prerequisites()
        return found.code.name, found.details or ''

    def assert_works(self) -> None:
        status, said = self.sync()
        self.assertEqual(0, status, said)
        self.assertRegex(said, r'empty -> \d+')
        self.assertNotEqual('FAILURE', self.check()[0], self.check()[1])

    def assert_refused(self, text: str) -> None:
        status, said = self.sync()
        self.assertEqual((2, 1), (status, len(said.splitlines())), said)
        self.assertIn(text, said)
        code, details = self.check()
        self.assertEqual('FAILURE', code)
        self.assertIn(text, details)
        self.assertNotIn('secret', said + details)


class TestOnPostgresql(_Statements):
    """PostgreSQL."""

    kind = services.POSTGRESQL
    language = 'postgresql'

    def drop(self) -> None:
        self.run_statements(
            f'DROP DATABASE IF EXISTS {self.name} WITH (FORCE)', f'DROP ROLE IF EXISTS {self.name}'
        )

    def make_with(self, options: str) -> None:
        role, _ = statements(self.language, self.name)
        self.make(role, f'CREATE DATABASE {self.name} {options}')

    def test_as_printed(self) -> None:
        self.make()
        self.assert_works()

    def test_a_database_of_another_role(self) -> None:
        self.make_with("TEMPLATE template0 ENCODING 'UTF8'")
        self.assert_refused(f'ALTER DATABASE {self.name} OWNER TO {self.name}')
        self.run_statements(f'ALTER DATABASE {self.name} OWNER TO {self.name}')
        self.assert_works()

    def test_another_encoding(self) -> None:
        self.make_with(
            f"OWNER {self.name} ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
        )
        self.assert_refused('SQL_ASCII')

    def test_tables_of_another_role(self) -> None:
        self.make()
        url = services.address(self.kind).set(database=self.name)
        engine = sa.create_engine(url, poolclass=sa.NullPool)
        with engine.begin() as connection:
            connection.exec_driver_sql('CREATE TABLE leases (id text)')
        self.assert_refused('may not alter the table leases')


class TestOnMariadb(_Statements):
    """MariaDB."""

    kind = services.MARIADB
    language = 'sql'

    def drop(self) -> None:
        self.run_statements(
            f'DROP DATABASE IF EXISTS {self.name}', f'DROP USER IF EXISTS {self.name}'
        )

    def test_as_printed(self) -> None:
        self.make()
        self.assert_works()

    def test_a_user_without_a_right(self) -> None:
        database, user, _ = statements(self.language, self.name)
        rights = 'SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES'
        self.make(database, user, f'GRANT {rights} ON {self.name}.* TO {self.name}')
        self.assert_refused('lacks TRIGGER')
        self.run_statements(f'GRANT TRIGGER ON {self.name}.* TO {self.name}')
        self.assert_works()
