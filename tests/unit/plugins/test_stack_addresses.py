# SPDX-License-Identifier: Apache-2.0

"""Floating IPs of templates come to be booked ones, all of them or none."""

from __future__ import annotations

from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.cloud import templates
from climate.cloud.protocols.stacks import StackDraft
from climate.plugins.stack import contents as stack_contents
from climate.plugins.stack import templates as stack_templates
from climate.plugins.stack.floating_ips import TYPE
from climate.simulator import templates as cloud
from tests import base
from tests.unit.plugins.test_stack_templates import draft

BOOKED = {'public': [f'p{i}' for i in range(40)], 'other': [f'o{i}' for i in range(40)]}


def floating_ip(network: Any = 'public', **more: Any) -> dict[str, Any]:
    """Return the definition of a floating IP."""
    return {'type': TYPE, 'properties': {'floating_network': network, **more}}


def rewritten(one: StackDraft) -> StackDraft:
    """Return a draft whose floating IPs are booked ones."""
    return stack_templates.rewritten(one, {}, BOOKED).draft


def ids(one: StackDraft) -> list[tuple[str, str]]:
    """Return network and id of each floating IP that Heat would have."""
    return [
        (item.properties['floating_network'], item.physical_id)
        for item in cloud.plan(one)
        if item.type == TYPE
    ]


def resources(one: StackDraft) -> dict[str, Any]:
    """Return what a template says."""
    found = templates.parse(one.template)['resources']
    assert isinstance(found, dict)
    return found


CHILD = """heat_template_version: pike
parameters: {network: {type: string}}
resources:
  a: {type: OS::Neutron::FloatingIP, properties: {floating_network: {get_param: network}}}
  b: {type: OS::Neutron::FloatingIP, properties: {floating_network: public}}
"""
OTHER = """heat_template_version: '2018-08-31'
parameters: {network: {type: string}}
resources:
  x: {type: child.yaml, properties: {network: {get_param: network}}}
  y: {type: child.yaml, properties: {network: {get_param: network}}}
"""
networks = st.sampled_from(['public', 'other'])
parts = st.one_of(
    st.builds(floating_ip, networks | st.just({'get_param': 'one'})),
    st.builds(
        lambda file, network: {'type': file, 'properties': {'network': network}},
        st.sampled_from(['child.yaml', 'other.yaml']),
        networks | st.just({'get_param': 'one'}),
    ),
)
drafts = st.builds(
    lambda items, one: draft(
        {f'r{place}': item for place, item in enumerate(items)},
        declared={'one': {'type': 'string'}},
        parameters={'one': one},
        files={'child.yaml': CHILD, 'other.yaml': OTHER},
    ),
    st.lists(parts, min_size=1, max_size=5),
    networks,
)


class TestProperties(base.TestCase):
    """Whatever a template is made of."""

    @hypothesis.given(drafts)
    def test_each_is_another_booked_one_of_its_network(self, one: StackDraft) -> None:
        before = [network for network, _ in ids(one)]
        after = ids(rewritten(one))
        self.assertEqual(before, [network for network, _ in after])
        self.assertEqual(len(after), len({own for _, own in after}))
        for network, own in after:
            self.assertIn(own, BOOKED[network])

    @hypothesis.given(drafts)
    def test_what_is_counted_is_what_is_used(self, one: StackDraft) -> None:
        contents = stack_contents.of(cloud.plan(one))
        counted = {network: amount for (network, _), amount in contents.addresses.items()}
        self.assertEqual(counted, stack_templates.rewritten(one, {}, BOOKED).adopted)
        self.assertEqual({}, stack_contents.of(cloud.plan(rewritten(one))).addresses)

    @hypothesis.given(drafts)
    def test_the_same_again_is_the_same(self, one: StackDraft) -> None:
        self.assertEqual(rewritten(one), rewritten(one))


class TestCorners(base.TestCase):
    """What Heat lets templates be."""

    def assert_refused(self, one: StackDraft, word: str) -> None:
        """Check that it cannot be booked, and that the reason is given."""
        error = self.assertRaises(exceptions.InvalidInput, rewritten, one)
        self.assert_contains(error.message, word, 'guarantee: false')

    def test_its_destination_is_separate(self) -> None:
        wanted = floating_ip(port_id={'get_resource': 'port'}, fixed_ip_address='10.0.0.7')
        wanted |= {'depends_on': 'gateway', 'condition': 'outside'}
        found = resources(rewritten(draft({'ip': wanted, 'ip-association': {'type': 'X'}})))
        expected = {
            'type': TYPE,
            'external_id': 'p0',
            'properties': {'floating_network': 'public'},
            'condition': 'outside',
        }
        self.assertEqual(expected, found['ip'])
        self.assertEqual(
            {
                'type': 'OS::Neutron::FloatingIPAssociation',
                'properties': {
                    'floatingip_id': {'get_resource': 'ip'},
                    'port_id': {'get_resource': 'port'},
                    'fixed_ip_address': '10.0.0.7',
                },
                'depends_on': 'gateway',
                'condition': 'outside',
            },
            found['ip-association-2'],
        )

    def test_one_that_leads_nowhere_needs_nothing_more(self) -> None:
        self.assertEqual(['ip'], list(resources(rewritten(draft({'ip': floating_ip()})))))

    def test_one_definition_in_two_places(self) -> None:
        text = """heat_template_version: 2021-04-16
resources:
  a: &it {type: OS::Neutron::FloatingIP, properties: {floating_network: public}}
  b: *it
"""
        found = rewritten(StackDraft(name='web', template=text))
        self.assertEqual([('public', 'p0'), ('public', 'p1')], ids(found))

    def test_one_use_of_a_file_in_two_places(self) -> None:
        use = {'type': 'child.yaml', 'properties': {'network': 'other'}}
        one = draft({'a': use, 'b': use}, files={'child.yaml': CHILD})
        self.assertIn('*', one.template)
        self.assertEqual(['o0', 'p0', 'o1', 'p1'], [own for _, own in ids(rewritten(one))])

    def test_members_of_groups_are_refused(self) -> None:
        for kind, key in (
            ('OS::Heat::ResourceGroup', 'resource_def'),
            ('OS::Heat::AutoScalingGroup', 'resource'),
        ):
            for member in (floating_ip(), {'type': 'child.yaml', 'properties': {'network': 'x'}}):
                group = {'type': kind, 'properties': {key: member}}
                self.assert_refused(draft({'g': group}, files={'child.yaml': CHILD}), 'group')

    def test_the_same_file_in_a_group_and_beside_it_is_refused(self) -> None:
        use = {'type': 'child.yaml', 'properties': {'network': 'other'}}
        group = {'type': 'OS::Heat::ResourceGroup', 'properties': {'resource_def': use}}
        self.assert_refused(draft({'a': use, 'g': group}, files={'child.yaml': CHILD}), 'group')

    def test_what_only_heat_knows_is_refused(self) -> None:
        for network in ({'get_attr': ['net', 'name']}, {'get_param': 'nowhere'}, None, True, ['x']):
            self.assert_refused(draft({'the-one': floating_ip(network)}), 'the-one')

    def test_what_a_booked_one_cannot_be_is_refused(self) -> None:
        for name in ('floating_ip_address', 'floating_subnet', 'dns_name', 'value_specs'):
            self.assert_refused(draft({'ip': floating_ip(**{name: 'x'})}), name)

    def test_what_heat_could_not_read_is_refused(self) -> None:
        body = f'resources: {{a: {{type: {TYPE}, properties: {{floating_network: public}}}}}}'
        for version in ('2016-04-08', "'2013-05-23'", 'mitaka'):
            text = f'heat_template_version: {version}\n{body}'
            self.assert_refused(StackDraft(name='web', template=text), 'heat_template_version')
        for version in ('2016-10-14', 'newton', "'2021-04-16'", 'wallaby'):
            text = f'heat_template_version: {version}\n{body}'
            found = ids(rewritten(StackDraft(name='web', template=text)))
            self.assertEqual([('public', 'p0')], found)

    def test_those_that_a_user_has_already_are_left_alone(self) -> None:
        one = draft({'a': {**floating_ip(), 'external_id': 'mine'}, 'b': floating_ip()})
        self.assertEqual([('public', 'mine'), ('public', 'p0')], ids(rewritten(one)))
        self.assertEqual({('public', ''): 1}, stack_contents.of(cloud.plan(one)).addresses)

    def test_more_than_there_are_is_refused(self) -> None:
        one = draft({'a': floating_ip(), 'b': floating_ip()})
        with self.assertRaisesRegex(exceptions.InvalidInput, 'one more'):
            stack_templates.rewritten(one, {}, {'public': ['p0']})

    def test_two_names_of_one_network_share_what_it_has(self) -> None:
        one = draft({'a': floating_ip('public'), 'b': floating_ip('4711'), 'c': floating_ip()})
        shared = ['p0', 'p1', 'p2']
        found = stack_templates.rewritten(one, {}, {'public': shared, '4711': shared}).draft
        self.assertEqual(shared, [own for _, own in ids(found)])

    def test_without_any_booked_nothing_is_changed(self) -> None:
        one = draft({'a': floating_ip(None), 'b': floating_ip(dns_name='x')})
        self.assertEqual(one, stack_templates.rewritten(one, {}).draft)
