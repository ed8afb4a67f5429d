# SPDX-License-Identifier: Apache-2.0

"""The type of the page on plugins that has a service of its own, and mistakes in it."""

from __future__ import annotations

import sys
import types
import unittest
from typing import Any

from oslo_config import cfg

from climate.testing.cases import TypeTestCase
from climate.testing.kinds import LeasedType
from tests import base
from tests.exhaustive.test_example_type import printed

FILES = printed()


def load(name: str) -> types.ModuleType:
    """Return a module that the page prints."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(FILES[f'{name}.py'], f'{name}.py', 'exec'), vars(module))
    return module


class TestOwnServices(base.TestCase):
    """What the generated tests say about plugins that call a service of their own."""

    def setUp(self) -> None:
        super().setUp()
        for name in ('sockets', 'test_sockets'):
            self.addCleanup(sys.modules.pop, name)
            setattr(self, name, load(name))
        self.sockets: Any
        self.test_sockets: Any

    def run_tests(self, **changes: Any) -> dict[str, str]:
        """Run the tests of the page with another plugin; return what fails, by test."""
        given = {
            'plugin': self.sockets.Sockets,
            'services': {'switch': self.test_sockets.FakeSwitch},
            'furnish': self.test_sockets.furnish,
            **changes,
        }
        case = type('TestSockets', (TypeTestCase,), {'kind': LeasedType(**given)})
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
        self.assertGreater(result.testsRun, 9)
        return {test.id().rpartition('.')[2]: text for test, text in _failed(result)}

    def test_as_printed(self) -> None:
        self.assertEqual({}, self.run_tests())

    def test_a_plugin_that_never_releases(self) -> None:
        class Leaking(self.sockets.Sockets):  # type: ignore[misc, name-defined]  # it is printed on a page
            def end(self, work: Any, cloud: Any) -> Any:
                return self.sockets.contract.Done()

        Leaking.sockets = self.sockets
        failed = self.run_tests(plugin=Leaking)
        self.assertLessEqual({'test_walk_end', 'test_walk_delete', 'test_walk_start'}, set(failed))
        self.assertIn('own_services was', failed['test_walk_end'])

    def test_a_service_that_is_not_named(self) -> None:
        def hidden() -> Any:
            return self.sockets.Sockets(self.test_sockets.FakeSwitch())

        failed = self.run_tests(plugin=hidden, services={})
        self.assertIn('LeasedType.services', failed['test_walk_whole_life'])
        self.assertEqual({}, self.run_tests(plugin=hidden, services={}, has_effects=False))

    def test_a_plugin_that_takes_what_is_not_its_own(self) -> None:
        class Careless(self.sockets.Sockets):  # type: ignore[misc, name-defined]  # it is printed on a page
            def end(self, work: Any, cloud: Any) -> Any:
                for resource in work.resources:
                    self._switch.toggle(resource.name)
                return self.sockets.contract.Done()

        class Toggled(self.test_sockets.FakeSwitch):  # type: ignore[misc, name-defined]  # it is printed on a page
            def toggle(self, socket: str) -> None:
                if self.on.pop(socket, None) is None:
                    self.on[socket] = 'somewhere'

        Careless.sockets = self.sockets
        failed = self.run_tests(plugin=Careless, services={'switch': Toggled})
        self.assertIn('test_walk_end', failed)

    def test_its_options(self) -> None:
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        self.assertEqual('example:socket', self.sockets.Sockets.from_conf(conf).resource_type)
        self.assertEqual(10, conf.power_switch.timeout)


def _failed(result: unittest.TestResult) -> list[tuple[Any, str]]:
    return [*result.failures, *result.errors]
