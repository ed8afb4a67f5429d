# SPDX-License-Identifier: Apache-2.0

"""Runs the YAML files in ``gabbits``: HTTP in, JSON out, SQL in between."""

from __future__ import annotations

import pathlib
import unittest
from typing import Any

import yaml
from fixtures import MonkeyPatch
from gabbi import driver

from tests import services
from tests.functional import fixtures

FOLDER = pathlib.Path(__file__).with_name('gabbits')


def load_tests(loader: unittest.TestLoader, _tests: Any, _pattern: Any) -> unittest.TestSuite:
    """Return a suite per file and kind of database; the name unittest calls."""
    suite = unittest.TestSuite()
    # In Python, reading the files takes most of the time that listing this lane takes, and
    # each worker lists it.
    with MonkeyPatch('yaml.SafeLoader', getattr(yaml, 'CSafeLoader', yaml.SafeLoader)):
        for database in services.DATABASES:
            suite.addTest(_suite(loader, database))
    return suite


def _suite(loader: unittest.TestLoader, database: str) -> unittest.TestSuite:
    # The files of one server stay together as the requests of one file do.
    name = __name__ if database == services.SQLITE else f'{__name__}.{database}'
    return driver.build_tests(
        str(FOLDER),
        loader,
        intercept=fixtures.running_app,
        fixture_module=fixtures.on(database),
        test_loader_name=name,
    )
