# SPDX-License-Identifier: Apache-2.0

"""What is installed is pinned, has hashes, and is newer than the faults that are known."""

from __future__ import annotations

import configparser
import csv
import re
from collections.abc import Iterator

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests import base
from tests.architecture import ROOT
from tools import locked

LISTS = (
    'requirements.txt',
    'build-requirements.txt',
    'test-requirements.txt',
    'doc/requirements.txt',
)
# What a test installs for itself.
GENERATORS = 'tests/exhaustive/generators/requirements'
HINT = 'run "make constraints"'


def _requirements(*lists: str) -> Iterator[Requirement]:
    for name in lists:
        for line in (ROOT / name).read_text(encoding='utf-8').splitlines():
            text = line.partition('#')[0].strip()
            if text:
                yield Requirement(text)


def _extras() -> Iterator[Requirement]:
    config = configparser.ConfigParser()
    config.read(ROOT / 'setup.cfg')
    for lines in config['extras'].values():
        for line in filter(None, lines.splitlines()):
            yield Requirement(line.partition('#')[0].strip())


def _pinned(name: str) -> dict[str, list[Version]]:
    """Return the versions of a list of constraints; several if they depend on the Python."""
    found: dict[str, list[Version]] = {}
    text = (ROOT / name).read_text(encoding='utf-8')
    for package, version in re.findall(r'^([a-z0-9-]+)==([^ \n]+)', text, re.MULTILINE):
        found.setdefault(package, []).append(Version(version))
    return found


def _lower_bound(requirement: Requirement) -> Version:
    bounds = [Version(s.version) for s in requirement.specifier if s.operator in ('>=', '~=')]
    return max(bounds, default=Version('0'))


class TestConstraints(base.TestCase):
    """The lists agree with each other."""

    def test_each_requirement_has_a_lower_bound(self) -> None:
        for requirement in (*_requirements(*LISTS), *_extras()):
            self.assertGreater(_lower_bound(requirement), Version('0'), requirement)

    def test_extras_ask_for_what_the_lists_ask_for(self) -> None:
        listed = {canonicalize_name(r.name): str(r.specifier) for r in _requirements(*LISTS)}
        for requirement in _extras():
            name = canonicalize_name(requirement.name)
            self.assertEqual(listed.get(name), str(requirement.specifier), name)

    def test_each_requirement_is_pinned(self) -> None:
        pinned = _pinned('constraints.txt')
        for requirement in _requirements(*LISTS):
            versions = pinned.get(canonicalize_name(requirement.name))
            self.assertTrue(versions, f'{requirement.name}: {HINT}')
            for version in versions or ():
                self.assertIn(version, requirement.specifier, f'{requirement.name}: {HINT}')

    def test_each_pin_has_hashes(self) -> None:
        for file, least in (('constraints.txt', 100), (f'{GENERATORS}.txt', 20)):
            entries = locked.entries((ROOT / file).read_text(encoding='utf-8'))
            self.assertGreater(len(entries), least)
            self.check_hashes(entries)

    def check_hashes(self, entries: list[tuple[str, str]]) -> None:
        """Check that each entry is one version with hashes."""
        for name, block in entries:
            self.assertRegex(block.splitlines()[0], r'^[a-z0-9-]+==\S+( ; .*)? \\$')
            self.assertRegex(block, r'--hash=sha256:[0-9a-f]{64}\b', name)

    def test_lower_bounds_are_what_is_tested(self) -> None:
        lowest = _pinned('lower-constraints.txt')
        for requirement in _requirements(*LISTS[:3]):
            name = canonicalize_name(requirement.name)
            self.assertEqual([_lower_bound(requirement)], lowest.get(name), f'{name}: {HINT}')


class TestAdvisories(base.TestCase):
    """What stands for pip-audit where there is no network."""

    def setUp(self) -> None:
        super().setUp()
        table = ROOT / 'doc' / 'source' / 'contributor' / 'advisories.csv'
        with table.open(encoding='utf-8', newline='') as file:
            self.advisories = list(csv.DictReader(file))

    def test_constraints_have_the_fix(self) -> None:
        pinned = _pinned('constraints.txt')
        for row in self.advisories:
            name = canonicalize_name(row['Package'])
            for version in pinned.get(name, ()):
                self.assertGreaterEqual(version, Version(row['Fixed in']), row)

    def test_lower_bounds_have_the_fix(self) -> None:
        bounds = {canonicalize_name(r.name): _lower_bound(r) for r in _requirements(*LISTS)}
        for row in self.advisories:
            bound = bounds.get(canonicalize_name(row['Package']))
            if bound is not None:
                self.assertGreaterEqual(bound, Version(row['Fixed in']), row)

    def test_each_is_of_something_that_is_installed(self) -> None:
        packages = {canonicalize_name(row['Package']) for row in self.advisories}
        self.assertLessEqual(packages, set(_pinned('constraints.txt')))
