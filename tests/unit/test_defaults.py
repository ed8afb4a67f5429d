# SPDX-License-Identifier: Apache-2.0

"""The default of an option is written once."""

from __future__ import annotations

import dataclasses
import datetime

from oslo_config import cfg

from climate import conf as climate_conf
from climate.conf import manager
from climate.conf.settings import option
from climate.conf.settings import part
from climate.conf.settings import seconds
from climate.conf.settings import Settings
from tests import architecture
from tests import base
from tests import defaults

OPTIONS = {'max_sleep': [5.0], 'notices': [('a', 'b')], 'enabled': [False]}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Retries(Settings):
    """Settings of three options."""

    first: float = option('manager', 'retry_first_pause')
    deadline: datetime.timedelta = option('manager', 'effect_deadline', seconds)
    token: str = option('enforcement', 'external_service_token', secret=True)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Whole(Settings):
    """Settings within settings."""

    retries: Retries = part(Retries)


class TestSettings(base.TestCase):
    """Fields that are options."""

    def configured(self) -> cfg.ConfigOpts:
        conf = cfg.ConfigOpts()
        climate_conf.register_opts(conf)
        conf([], project='climate', default_config_files=[])
        return conf

    def test_defaults_are_those_of_the_options(self) -> None:
        known = {each.dest: each.default for each in manager.OPTS}
        self.assertEqual(known['retry_first_pause'], Retries().first)
        self.assertEqual(known['effect_deadline'], Retries().deadline.total_seconds())
        self.assertEqual(Whole(), Whole.from_conf(self.configured()))

    def test_a_configuration_is_read(self) -> None:
        conf = self.configured()
        conf.set_override('effect_deadline', 7.0, group='manager')
        found = Whole.from_conf(conf).retries
        self.assertEqual(Retries(deadline=datetime.timedelta(seconds=7)), found)

    def test_a_secret_is_not_shown(self) -> None:
        self.assertNotIn('hush', repr(Retries(token='hush')))

    def test_an_unknown_option_is_refused(self) -> None:
        self.assertRaises(KeyError, option, 'manager', 'retry_frist_pause')


class TestDefaults(base.TestCase):
    """A default that is written twice is found."""

    maxDiff = None

    def complaints(self, text: str, path: str = 'climate/manager/x.py') -> list[str]:
        return list(defaults.repeated(architecture.Source(path=path, text=text), OPTIONS))

    def test_the_tree(self) -> None:
        known = defaults.defaults()
        tree = architecture.sources('climate')
        self.assertEqual([], [each for source in tree for each in defaults.repeated(source, known)])

    def test_fields_of_settings(self) -> None:
        for value in ('5.0', 'datetime.timedelta(seconds=5)', 'HealActive.EMPTY', 'frozenset()'):
            for text in (
                f'class A(Settings):\n    nap: float = {value}',
                f'class A:\n    nap: float = {value}\n    def from_conf(cls): pass',
                f'class A(Settings):\n    nap: float = dataclasses.field(default={value})',
            ):
                self.assertEqual(1, len(self.complaints(f'@dataclasses.dataclass()\n{text}')), text)
        for value in (
            "option('a', 'b')",
            'part(B)',
            'dataclasses.field(default_factory=B)',
            'None',
        ):
            text = f'@dataclasses.dataclass()\nclass A(Settings):\n    nap: float = {value}'
            self.assertEqual([], self.complaints(text), text)

    def test_parameters_and_other_fields(self) -> None:
        for text in (
            'def f(a, max_sleep=5.0): pass',
            'def f(a, *, max_sleep: float = 5.0): pass',
            "def f(notices=('a', 'b')): pass",
            'class A:\n    max_sleep: float = 5.0',
        ):
            self.assertEqual(1, len(self.complaints(text)), text)
            self.assertEqual([], self.complaints(text, 'climate/conf/x.py'))
        for text in ('def f(max_sleep=6.0): pass', 'def f(enabled=False): pass', 'def f(a): pass'):
            self.assertEqual([], self.complaints(text), text)
