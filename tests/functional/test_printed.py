# SPDX-License-Identifier: Apache-2.0

"""What the pages print that people read first works."""

from __future__ import annotations

from tests.functional import pages


class TestPages(pages.PageCase):
    """A test for each of them."""

    def test_they_have_something_to_run(self) -> None:
        self.assertLessEqual(set(pages.FIRST), set(pages.all_pages()))


pages.add_tests(TestPages, pages.FIRST)
