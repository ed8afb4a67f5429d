# SPDX-License-Identifier: Apache-2.0

"""The samples in ``etc/climate`` say what the options and policies are now."""

from __future__ import annotations

import pathlib
import re

import fixtures
from oslo_config import cfg
from oslo_policy import generator as policy_generator

from climate.conf import opts
from tests import base
from tests.architecture import ROOT
from tools import sample

ETC = ROOT / 'etc' / 'climate'
TRACKED = (ETC / 'climate.conf.sample').read_text(encoding='utf-8')
GENERATORS = {
    'climate.conf.sample': ('climate-config-generator.conf', 'genconfig'),
    'policy.yaml.sample': ('climate-policy-generator.conf', 'genpolicy'),
}


class TestSamples(base.TestCase):
    """A sample that is behind fails, and says how it is written anew."""

    maxDiff = None

    def generated(self, name: str, number: int = 0) -> str:
        """Return what the sample *name* should be."""
        if name == sample.FILE.name:
            return sample.text()
        output = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / f'{number}-{name}'
        arguments = ['--config-file', str(ETC / GENERATORS[name][0]), '--output-file', str(output)]
        policy_generator.generate_sample(arguments, conf=cfg.ConfigOpts())
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


class TestHead(base.TestCase):
    """The first part of the sample configuration."""

    def test_it_has_about_twenty_options_that_exist_once(self) -> None:
        named = [(group, name) for group, name, _ in sample.COMMON]
        self.assertIn(len(named), range(18, 26))
        self.assertEqual(len(named), len(set(named)))
        self.assertEqual(set(), set(named) - sample.options().keys())

    def test_examples_are_values_of_their_options(self) -> None:
        conf = cfg.ConfigOpts()
        for group, name, _ in sample.COMMON:
            where = None if group == 'DEFAULT' else group
            conf.register_opt(sample.options()[group, name], group=where)
        file = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'climate.conf'
        file.write_text(
            ''.join(f'[{group}]\n{name} = {value}\n' for group, name, value in sample.COMMON),
            encoding='utf-8',
        )
        conf(['--config-file', str(file)], project='climate', default_config_dirs=[])
        for group, name, value in sample.COMMON:
            # Raises if the value has another type.
            found = conf[name] if group == 'DEFAULT' else conf[group][name]
            self.assertIsNotNone(found, value)

    def test_defaults_are_those_that_it_states(self) -> None:
        text = ' '.join(sample.head().replace('\n#', ' ').split())
        for group, name, value in sample.COMMON:
            opt = sample.options()[group, name]
            about = text.partition(f' {name} = {value} ')[2]
            self.assertTrue(about, name)
            stated = about.partition('Default: ')[2].split(' ')[0]
            conf = cfg.ConfigOpts()
            conf([], default_config_files=[], default_config_dirs=[])
            conf.register_opt(opt)
            real = conf[opt.dest]
            if isinstance(real, list):
                real = ','.join(real) or None
            if opt.sample_default is not None and stated == str(opt.sample_default):
                continue
            shown = 'none' if real is None or real == '' else str(real)
            self.assertEqual(shown.lower(), stated.lower(), name)

    def test_all_of_it_is_comments(self) -> None:
        for line in sample.head().splitlines():
            self.assertTrue(line.startswith('#'), line)


class TestLogins(base.TestCase):
    """The options that each service has for its own login."""

    def test_what_is_left_out_is_the_same_for_nova(self) -> None:
        groups = dict(opts.list_opts())
        first = {opt.dest: opt.default for opt in groups['nova']}
        left_out = 0
        for part in re.split(r'(?m)^(?=\[)', TRACKED)[1:]:
            group = part[1 : part.index(']')]
            shown = set(re.findall(r'(?m)^#([a-z0-9_]+) =', part))
            for opt in groups[group]:
                if opt.dest not in shown:
                    self.assertEqual(first[opt.dest], opt.default, f'[{group}] {opt.dest}')
                    self.assertIn('those of [nova].', part)
                    left_out += 1
        self.assertGreater(left_out, 100)

    def test_each_option_is_in_the_sample_or_is_one_of_a_login(self) -> None:
        for part in re.split(r'(?m)^(?=\[)', TRACKED)[1:]:
            group = part[1 : part.index(']')]
            shown = set(re.findall(r'(?m)^#([a-z0-9_]+) =', part))
            every = {opt.dest for opt in dict(opts.list_opts())[group]}
            missing = every - shown
            self.assertEqual(set(), missing - sample.logins(), group)
