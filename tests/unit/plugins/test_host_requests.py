# SPDX-License-Identifier: Apache-2.0

"""The request of a host reservation: read, changed, stored, chosen for."""

from __future__ import annotations

import random
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.domain.resources import Candidate
from climate.plugins import contract
from climate.plugins.host.plugin import HostRequest
from climate.plugins.host.plugin import PhysicalHost
from tests import base
from tests.unit.allocation import strategies

PLUGIN = PhysicalHost()
TYPE = 'physical:host'

texts = st.sampled_from(['', '["==", "$a", "b"]', '[">=", "$vcpus", "4"]'])
requests = st.builds(
    lambda counts, hypervisor, resource, before_end: HostRequest(
        minimum=min(counts),
        maximum=max(counts),
        hypervisor_properties=hypervisor,
        resource_properties=resource,
        before_end=before_end,
    ),
    st.tuples(st.integers(1, 99), st.integers(1, 99)),
    texts,
    texts,
    st.sampled_from(['', 'default', 'snapshot']),
)


def body(**changes: Any) -> dict[str, Any]:
    """Return what the command line sends."""
    return {
        'resource_type': TYPE,
        'min': 1,
        'max': 2,
        'hypervisor_properties': '',
        'resource_properties': '',
        **changes,
    }


class TestParse(base.TestCase):
    def test_bodies_of_real_clients(self) -> None:
        gpu = '["==", "$gpu", "True"]'
        vcpus = '[">=", "$vcpus", "2"]'
        plain = HostRequest(minimum=1, maximum=2)
        for sent, wanted in (
            # The command line, the dashboard.
            (body(), plain),
            (body(min='1', max='2'), plain),
            (
                body(hypervisor_properties=vcpus, resource_properties=gpu),
                HostRequest(
                    minimum=1, maximum=2, hypervisor_properties=vcpus, resource_properties=gpu
                ),
            ),
            (body(before_end='snapshot'), HostRequest(minimum=1, maximum=2, before_end='snapshot')),
            (body(before_end=''), HostRequest(minimum=1, maximum=2, before_end='')),
            # Heat, which says null where nothing is set.
            (
                {
                    'resource_type': TYPE,
                    'min': 1,
                    'max': 1,
                    'hypervisor_properties': None,
                    'resource_properties': None,
                    'before_end': 'default',
                },
                HostRequest(minimum=1, maximum=1),
            ),
            # Heat sends fields of other types as well; at 1.0 they are dropped.
            (body(amount=None, vcpus=None, affinity=False), plain),
        ):
            self.assertEqual(wanted, PLUGIN.parse(sent))

    def test_wrong_bodies(self) -> None:
        for changes, error, text in (
            ({'min': ''}, exceptions.MissingParameter, 'min'),
            ({'max': ''}, exceptions.MissingParameter, 'max'),
            ({'min': 'foo'}, exceptions.MalformedParameter, 'min'),
            ({'max': '2,foo=bar'}, exceptions.MalformedParameter, 'max'),
            ({'min': '1-2'}, exceptions.MalformedParameter, 'min'),
            ({'min': 3}, exceptions.InvalidRange, 'Max must be equal to or larger than min'),
            ({'before_end': 'explode'}, exceptions.MalformedParameter, 'before_end'),
            ({'before_end': {}}, exceptions.MalformedParameter, 'before_end'),
            ({'before_end': []}, exceptions.MalformedParameter, 'before_end'),
            ({'hypervisor_properties': '["'}, exceptions.MalformedRequirements, 'hypervisor_prop'),
            ({'resource_properties': 7}, exceptions.MalformedRequirements, 'resource_properties'),
        ):
            self.assertRaisesRegex(error, text, PLUGIN.parse, body(**changes))


class TestChange(base.TestCase):
    @hypothesis.given(requests, requests)
    def test_everything(self, old: HostRequest, new: HostRequest) -> None:
        self.assertEqual(new, PLUGIN.change(old, {'id': 'r', **PLUGIN.dump(new)}))

    def test_empty_text_removes_a_requirement(self) -> None:
        old = HostRequest(minimum=1, maximum=1, resource_properties='["==", "$a", "b"]')
        new = PLUGIN.change(old, {'resource_properties': ''})
        self.assertEqual(HostRequest(minimum=1, maximum=1), new)

    def test_wrong_changes(self) -> None:
        old = HostRequest(minimum=2, maximum=2)
        for sent, error in (
            ({'max': 1}, exceptions.InvalidRange),
            ({'min': '3'}, exceptions.InvalidRange),
            ({'min': 'x'}, exceptions.MalformedParameter),
            ({'resource_properties': '['}, exceptions.MalformedRequirements),
            ({'before_end': 'x'}, exceptions.MalformedParameter),
        ):
            self.assertRaises(error, PLUGIN.change, old, sent)
        with self.assertRaisesRegex(exceptions.MalformedParameter, 'amount'):
            PLUGIN.change(old, {'amount': 1}, strict=True)


class TestChoose(base.TestCase):
    @hypothesis.given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 3), st.integers())
    def test_between_minimum_and_maximum_or_not_enough(
        self, free: int, minimum: int, more: int, seed: int
    ) -> None:
        period = strategies.hours(1, 2)
        request = HostRequest(minimum=1, maximum=1)
        snapshot = contract.Snapshot(
            search=PLUGIN.search(request),
            start=period.start,
            end=period.end,
            minimum=minimum,
            maximum=minimum + more,
            candidates=tuple(
                Candidate(resource_id=number, name=str(number), generation=0)
                for number in range(free)
            ),
        )
        found = PLUGIN.choose(request, snapshot, random.Random(seed))
        self.assertEqual(found, PLUGIN.choose(request, snapshot, random.Random(seed)))
        if free < minimum:
            expected = contract.NotEnough(reason=f'{free} of {minimum} hosts are free')
            self.assertEqual(expected, found)
        else:
            assert isinstance(found, contract.Pick)
            actual = len({share.candidate for share in found.shares})
            self.assertEqual(min(free, minimum + more), actual)
