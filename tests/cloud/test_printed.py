# SPDX-License-Identifier: Apache-2.0

"""What the pages print for a real cloud works there, page by page."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import fixtures

from tests.cloud import field
from tests.cloud.house import PREFIX
from tests.cloud.settings import BootedLeasesTest
from tests.printed import blocks
from tests.printed import helpers
from tests.printed.marks import Where
from tests.printed.shell import Place
from tests.printed.shell import Shell

PAGES = sorted(
    {block.page for block in blocks.blocks() if block.mark and block.mark.where is Where.CLOUD}
)
# Of these names the house takes care.
OWN = ('experiment', 'my-server', 'desk-1')


class TestPages(BootedLeasesTest):
    """A test for each page; those for operators run as the administrator."""

    hosts = 1
    # Servers that are booted get a lease here; see BootingTest.
    site = 1

    def shell(self, page: str) -> Shell:
        """Return a shell with the login of a reader of a page."""
        user = self.alice if '/user/' in page else self.admin
        cloud = self.cloud
        place = Place(
            environment={
                **cloud.login(user.name),
                'HOME': '/nonexistent',  # where no clouds.yaml is
                'LANG': 'C.UTF-8',
                'PYTHONWARNINGS': 'ignore',
                'CLIMATE': cloud.reservation_url,
                'TOKEN': user.sdk.session.get_token(),
                'PREFIX': PREFIX,
            },
            commands=field.commands(cloud.directory),
            programs=('openstack',),
            words={
                'http://controller:1234': cloud.reservation_url.removesuffix('/v1'),
                'compute-1': self.lent[0],
                **dict.fromkeys(('IMAGE', 'cirros', 'ubuntu'), cloud.image),
                **dict.fromkeys(('FLAVOR', 'm1.small'), cloud.flavor),
                **dict.fromkeys(('NETWORK', 'private'), cloud.network),
                **{name: f'{PREFIX}{name}' for name in OWN},
            },
            path=str(cloud.bin),
        )
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        return Shell(folder, place, tuple(each.__name__ for each in helpers.HELPERS))

    def play(self, page: str) -> None:
        """Run the blocks of a page in one shell, in their order."""
        shell = self.useFixture(self.shell(page))
        for block in blocks.blocks():
            if block.page == page and block.mark and block.mark.where is Where.CLOUD:
                shell.play(block)


def _test(page: str) -> Callable[[TestPages], None]:
    return lambda self: self.play(page)


for _page in PAGES:
    _name = _page.removeprefix('doc/source/').removesuffix('.rst').replace('/', '_')
    setattr(TestPages, f'test_{_name.replace("-", "_")}', _test(_page))
