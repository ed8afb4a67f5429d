# SPDX-License-Identifier: Apache-2.0

"""Climate sets the character set of its connections, whatever the URL says."""

from __future__ import annotations

import sqlalchemy as sa

from climate.db.schema import tables
from tests import services
from tests.functional.db import cases

_TEXT = 'rack \N{ROCKET} \N{CYRILLIC CAPITAL LETTER ZHE}'


class _CharacterSets:
    """A text is stored, found and read as it was written."""

    others: tuple[dict[str, str], ...]

    def test_whatever_the_url_says(self) -> None:
        for number, query in enumerate(self.others):
            url = sa.make_url(self.url)
            kept = {key: value for key, value in url.query.items() if key not in _NAMES}
            changed = url.set(query={**kept, **query}).render_as_string(hide_password=False)
            store = self.closing(cases.connect(changed, self.clock))
            name = f'{_TEXT} {number}'
            store.run(
                lambda tx, name=name: tx.session.execute(
                    sa.insert(tables.RESOURCES).values(resource_type='physical:host', name=name)
                )
            )
            with store.reading() as tx:
                found = sa.select(tables.RESOURCES.c.name).where(tables.RESOURCES.c.name == name)
                self.assertEqual([name], list(tx.session.scalars(found)))


_NAMES = ('charset', 'client_encoding')


class TestOnMariadb(_CharacterSets, cases.StoreCase):
    """MariaDB: most guides have the first one; the second is the default of oslo.db."""

    kind = services.MARIADB
    others = ({'charset': 'utf8'}, {}, {'charset': 'latin1'})


class TestOnPostgresql(_CharacterSets, cases.StoreCase):
    """PostgreSQL."""

    kind = services.POSTGRESQL
    others = ({'client_encoding': 'latin1'}, {})


class TestOnPsycopg2(TestOnPostgresql):
    """PostgreSQL, by the driver of before."""

    kind = services.PSYCOPG2
