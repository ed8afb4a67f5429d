# SPDX-License-Identifier: Apache-2.0

"""What all other pages print works."""

from __future__ import annotations

from tests.functional import pages


class TestPages(pages.PageCase):
    """A test for each page that has something to run."""


pages.add_tests(TestPages, [page for page in pages.all_pages() if page not in pages.FIRST])
