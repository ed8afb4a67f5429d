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


"""What the pages print that people read first works."""

from __future__ import annotations

from tests.functional import pages


class TestPages(pages.PageCase):
    """A test for each of them."""

    def test_they_have_something_to_run(self) -> None:
        self.assertLessEqual(set(pages.FIRST), set(pages.all_pages()))


pages.add_tests(TestPages, pages.FIRST)
