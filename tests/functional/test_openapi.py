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

"""A few hundred requests made of the OpenAPI document; the exhaustive lane sends more."""

from __future__ import annotations

from tests import base
from tests.functional import fixtures
from tests.functional.fuzz import chosen_seed
from tests.functional.fuzz import Fuzzer


class OpenApiTest(base.TestCase):
    """The service does what its document says."""

    def test_answers_match_the_document(self) -> None:
        seed = chosen_seed()
        print(f'CLIMATE_FUZZ_SEED={seed}')
        service = self.useFixture(fixtures.Service(timelines=True))
        outcome = Fuzzer(service, '1.5', seed).run(2)
        self.assertGreater(outcome.sent, 150)
        self.assertEqual('', '\n\n'.join(outcome.faults.values()), f'CLIMATE_FUZZ_SEED={seed}')
