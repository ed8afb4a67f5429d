# SPDX-License-Identifier: Apache-2.0

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
        outcome = Fuzzer(self.useFixture(fixtures.Service()), '1.5', seed).run(2)
        self.assertGreater(outcome.sent, 150)
        self.assertEqual('', '\n\n'.join(outcome.faults.values()), f'CLIMATE_FUZZ_SEED={seed}')
