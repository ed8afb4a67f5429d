# SPDX-License-Identifier: Apache-2.0

"""The base class of all test cases."""

from __future__ import annotations

import functools
import os
import pathlib
import re
import unittest
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Protocol
from typing import TypeVar

import fixtures
import hypothesis
import testtools

from tests import generations
from tests import loops

# No deadline, so that tests do not fail on a busy machine. No database of examples, so
# that a run does not depend on earlier ones. With CI set, as in .ci/run, the examples are
# the same in each run, so that a check fails because of the change that it checks.
hypothesis.settings.register_profile(
    'climate',
    deadline=None,
    database=None,
    derandomize=bool(os.environ.get('CI')),
    max_examples=50,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile('climate')


class _Closes(Protocol):
    def close(self) -> None: ...


Closable = TypeVar('Closable', bound=_Closes)
Case = TypeVar('Case')


class TestCase(testtools.TestCase):
    """The base class of all test cases; importing it configures hypothesis.

    The log of a test is shown only if this test fails. A failure in a loop shows the
    variables of the loop. A functional test also fails if a transaction of the service changes
    what is free without announcing it.
    """

    def setUp(self) -> None:
        super().setUp()
        self.useFixture(
            fixtures.FakeLogger(
                level=None, format='%(levelname)s %(name)s: %(message)s', nuke_handlers=False
            )
        )
        self.addCleanup(self._check_generations)

    def useFixture(self, fixture: fixtures.Fixture) -> fixtures.Fixture:
        """Use a fixture; skip the test if another fixture that it uses skips it.

        Fixtures wrap the exceptions of those they use, which would make a skip an error.
        """
        try:
            return super().useFixture(fixture)
        except Exception as error:
            cause: BaseException | None = error
            while cause is not None:
                if isinstance(cause, unittest.SkipTest):
                    raise cause from None
                cause = cause.__context__
            raise

    def closing(self, opened: Closable) -> Closable:
        """Return what is closed when the test ends."""
        self.addCleanup(opened.close)
        return opened

    def assert_has(self, found: Any, **expected: object) -> None:
        """Check some attributes of an object, or items of a mapping, by their names."""
        read = (
            found.__getitem__ if isinstance(found, Mapping) else functools.partial(getattr, found)
        )
        self.assertEqual(expected, {name: read(name) for name in expected})

    def assert_contains(self, found: Any, *parts: object) -> None:
        """Check that a text or a collection contains each of some parts."""
        for part in parts:
            self.assertIn(part, found)

    def assert_error(
        self, error: type[Exception], part: str, call: Any, *args: Any, **facts: Any
    ) -> None:
        """Check that a call raises an error whose message contains a part."""
        raised = self.assertRaises(error, call, *args, **facts)
        # Errors that explain themselves say less as a text.
        self.assertIn(part, f'{getattr(raised, "message", "")} {raised}')

    def onException(self, exc_info: Any, tb_label: str = 'traceback') -> None:
        """Name the row of a table of cases before the failure is reported."""
        _, error, failure = exc_info
        for line in loops.variables(failure):
            error.add_note(line)
        super().onException(exc_info, tb_label)

    def _check_generations(self) -> None:
        self.assertEqual([], generations.taken(), 'written without raising a generation')


def test_each(names: Iterable[str]) -> Callable[[type[Case]], type[Case]]:
    """Return a decorator that gives a class one test for each name, which calls ``check``.

    The test of 'a lease at 1.1' is called ``test_a_lease_at_1_1``.
    """

    def decorate(case: type[Case]) -> type[Case]:
        for name in names:

            def test(self: Any, name: str = name) -> None:
                self.check(name)

            setattr(case, 'test_' + re.sub(r'\W', '_', name).lower(), test)
        return case

    return decorate


class FolderCase(TestCase):
    """A test case with an empty folder.

    :ivar folder: deleted afterwards
    """

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
