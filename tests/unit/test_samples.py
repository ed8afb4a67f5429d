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

"""The samples in ``etc/climate`` say what the options and policies are now."""

from __future__ import annotations

import pathlib
import re

import fixtures
import testtools
from oslo_config import cfg
from oslo_config import generator as config_generator
from oslo_policy import generator as policy_generator

from tests.architecture import ROOT

ETC = ROOT / 'etc' / 'climate'
GENERATORS = {
    'climate.conf.sample': ('climate-config-generator.conf', 'genconfig'),
    'policy.yaml.sample': ('climate-policy-generator.conf', 'genpolicy'),
}


class TestSamples(testtools.TestCase):
    """A sample that is behind fails, and says how it is written anew."""

    maxDiff = None

    def generated(self, name: str, number: int = 0) -> str:
        """Return what the sample *name* should be."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        output = folder / f'{number}-{name}'
        arguments = ['--config-file', str(ETC / GENERATORS[name][0]), '--output-file', str(output)]
        if name.startswith('policy'):
            policy_generator.generate_sample(arguments, conf=cfg.ConfigOpts())
        else:
            conf = cfg.ConfigOpts()
            config_generator.register_cli_opts(conf)
            conf(arguments, project='climate')
            config_generator.generate(conf)
        return output.read_text(encoding='utf-8')

    def assert_tracked(self, name: str) -> None:
        tracked = (ETC / name).read_text(encoding='utf-8')
        hint = f'etc/climate/{name} is behind: run "make {GENERATORS[name][1]}"'
        self.assertTrue(self.generated(name) == tracked, hint)

    def test_configuration(self) -> None:
        self.assert_tracked('climate.conf.sample')

    def test_policy(self) -> None:
        self.assert_tracked('policy.yaml.sample')

    def test_samples_are_the_same_every_time(self) -> None:
        for name in GENERATORS:
            self.assertEqual(self.generated(name, 1), self.generated(name, 2))

    def test_samples_name_no_machine(self) -> None:
        # An option whose default is the home, the host name or the number of
        # processors of whoever wrote the sample needs a sample_default.
        for name in GENERATORS:
            text = self.generated(name)
            self.assertNotIn(str(ROOT), text)
            self.assertIsNone(re.search(r'^#\w+ = /(home|root)/', text, re.MULTILINE))

    def test_samples_say_something(self) -> None:
        self.assertIn('[manager]', self.generated('climate.conf.sample'))
        self.assertIn('climate:leases:', self.generated('policy.yaml.sample'))
