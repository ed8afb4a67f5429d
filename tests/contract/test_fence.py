# SPDX-License-Identifier: Apache-2.0

"""The fence looks at each request of a verb, also at one that is sent again."""

from __future__ import annotations

from climate import exceptions
from climate.cloud import deletions
from climate.cloud.fence import ClaimLost
from climate.cloud.fence import Fenced
from tests.contract.test_real import RealClientTest


class TestRequests(RealClientTest):
    """The real clients, over HTTP."""

    def setUp(self) -> None:
        super().setUp()
        self.backend = self.open(timeout=2.0, connect_retries=1)
        self.looks = 0
        # How many looks find the claim sure.
        self.sure = 0
        self.cloud = Fenced(self.backend.cloud, self.guard, deletions.log)

    def guard(self) -> None:
        self.looks += 1
        if self.looks > self.sure:
            raise ClaimLost(what='a lease')

    def test_what_is_not_answered_in_time_is_not_sent_again(self) -> None:
        pool = self.backend.cloud.compute.create_aggregate('a', None)
        deletions = 'DELETE /compute.*/os-aggregates/'
        self.backend.stub.trouble(deletions, 'hang', None)
        # The verb, and the first request.
        self.sure = 2
        self.assertRaises(ClaimLost, self.cloud.compute.delete_aggregate, pool.id)
        self.assertEqual(1, self.backend.stub.count(deletions))
        # It is the fence that keeps the second one back.
        self.sure = 100
        self.assertRaises(exceptions.Transient, self.cloud.compute.delete_aggregate, pool.id)
        self.assertEqual(3, self.backend.stub.count(deletions))

    def test_what_looks_is_not_asked(self) -> None:
        self.cloud.compute.list_aggregates()
        self.cloud.placement.find_provider('compute-1')
        self.assertEqual(0, self.looks)

    def test_outside_of_the_fence_nothing_is_asked(self) -> None:
        self.assertRaises(ClaimLost, self.cloud.compute.create_aggregate, 'a', None)
        self.assertEqual(1, self.looks)
        self.backend.cloud.compute.create_aggregate('a', None)
        self.assertEqual(1, self.looks)

    def test_each_request_of_a_verb_asks(self) -> None:
        self.backend.cloud.compute.list_aggregates()
        self.sure = 100
        self.cloud.compute.create_aggregate('a', None)
        self.assertEqual(1 + self.backend.stub.count('POST /compute/.*os-aggregates$'), self.looks)
