# SPDX-License-Identifier: Apache-2.0

"""What the tests of the web page need: Node.js, its packages, and browsers."""

from __future__ import annotations

import os
import pathlib
import shutil

from tests import services

SOURCES = pathlib.Path(__file__).parents[1] / 'web'
CHROMIUM = os.environ.get('CLIMATE_CHROMIUM', '/usr/bin/chromium')
FIREFOX = os.environ.get('CLIMATE_FIREFOX', '/usr/bin/firefox-esr')


def need_tools() -> None:
    """Skip the test if Node.js or its packages are missing, or fail: see services.missing."""
    if shutil.which('node') is None:
        services.missing('the tests of the web page need Node.js')
    if not (SOURCES / 'node_modules').is_dir():
        services.missing('the tests of the web page need what "make web-install" installs')


def need(browser: str) -> None:
    """Skip the test if a browser, or what drives it, is missing, or fail likewise.

    :param browser: the path of its program
    """
    need_tools()
    if not pathlib.Path(browser).exists():
        services.missing(f'the test of the web page needs a browser: no {browser}')
