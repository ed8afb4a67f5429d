# SPDX-License-Identifier: Apache-2.0

"""The Containerfile, as far as it can be checked without carrying it out."""

from __future__ import annotations

import pathlib

import fixtures
import yaml

from tests import base
from tests import containerfiles
from tests import proxies
from tests.architecture import ROOT
from tests.containerfiles import Copy
from tests.containerfiles import Run

DEPLOY = ROOT / 'deploy'
FILE = """
# A comment.
FROM one AS build
ARG VERSION=3
WORKDIR /src
COPY . .
SHELL ["/bin/bash", "-c"]
RUN make \\
        # between
        all \\
    && make check
FROM two
ENV PATH=/opt/bin:$PATH \\
    NAME=value
COPY --from=build /opt /opt
USER 5:6
RUN id
WORKDIR /var
EXPOSE 80
CMD ["serve", "--all"]
"""


class ContainerfileTest(base.TestCase):
    """The parser, and the shipped file."""

    def test_it_reads_what_is_used(self) -> None:
        build, final = containerfiles.parse(FILE)
        self.assertEqual(('one', 'build'), (build.base, build.name))
        path = {'PATH': containerfiles._PATH}
        command = 'make  all  && make check'
        expected = [
            Copy('.', '/src'),
            Run(('/bin/bash', '-c', command), {'VERSION': '3', **path}, '', '/src'),
        ]
        self.assertEqual(expected, build.steps)
        wanted = {'PATH': f'/opt/bin:{path["PATH"]}', 'NAME': 'value'}
        self.assertEqual(wanted, final.environment)
        self.assertEqual(
            [Copy('/opt', '/opt', 'build'), Run(('/bin/sh', '-c', 'id'), wanted, '5:6', '/')],
            final.steps,
        )
        self.assertEqual(('5:6', '/var', [80]), (final.user, final.folder, final.ports))
        self.assertEqual(('serve', '--all'), final.command)

    def test_it_refuses_what_is_not(self) -> None:
        for line in (
            'ADD . .',
            'HEALTHCHECK NONE',
            'RUN --mount=type=cache,target=/root make',
            'RUN ["make"]',
            'COPY --chown=5:6 a b',
            'COPY a b c',
            'USER climate',
            'CMD serve',
            'ARG VERSION',
            'ENV NAME value',
            'EXPOSE 80/udp',
            'FROM one two',
        ):
            text = f'FROM one\n{line}\n'
            self.assertRaises(containerfiles.NotUnderstood, containerfiles.parse, text)
        self.assertRaises(containerfiles.NotUnderstood, containerfiles.parse, 'RUN make\n')

    def test_the_context(self) -> None:
        tree = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (tree / '.dockerignore').write_text('# Few.\n*\n!a\n!b/c\n**/no\n')
        for name in ('a/x', 'a/d/no', 'b/c', 'b/e', 'f'):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text('')
        containerfiles.copy_context(tree, tree / 'copy')
        found = {str(one.relative_to(tree / 'copy')) for one in (tree / 'copy').rglob('*')}
        self.assertEqual({'a', 'a/x', 'a/d', 'b', 'b/c'}, found)
        for text in ('a\n', '*\n**/no\n!a\n', '*\n!a\nb\n'):
            self.assertRaises(containerfiles.NotUnderstood, containerfiles.context, text)

    def test_the_image_and_its_compose_file_agree(self) -> None:
        *_, final = containerfiles.parse((DEPLOY / 'Containerfile').read_text(encoding='utf-8'))
        services = yaml.safe_load((DEPLOY / 'compose' / 'compose.yaml').read_text())['services']
        # gunicorn is reached through the proxy only, which has its network.
        self.assertEqual([], final.ports)
        self.assertIn('--bind=127.0.0.1:1235', final.command)
        self.assertIn('127.0.0.1:1235/', services['api']['healthcheck']['test'][-1])
        published = [*services['api']['ports'], *services['manager']['ports']]
        self.assertEqual({'127.0.0.1'}, {port.partition(':')[0] for port in published})
        self.assertIn('127.0.0.1:1234:1234', published)
        # One port for the metrics of each manager.
        first, last = services['manager']['ports'][0].split(':')[1].split('-')
        self.assertEqual(services['manager']['deploy']['replicas'], int(last) - int(first) + 1)
        self.assertEqual('service:api', services['proxy']['network_mode'])
        (source, _, _) = services['proxy']['volumes'][0].split(':')
        self.assertEqual(proxies.NGINX, (DEPLOY / 'compose' / source).resolve())
        self.assertNotEqual('0', final.user.partition(':')[0])
        for name in ('tables', 'samples', 'api', 'manager', 'proxy'):
            self.assertTrue(services[name]['read_only'], name)
            self.assertEqual(['ALL'], services[name]['cap_drop'], name)
