# SPDX-License-Identifier: Apache-2.0

"""Servers of templates come to be of other flavors, all of them or none."""

from __future__ import annotations

from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.cloud import templates
from climate.cloud.protocols.stacks import StackDraft
from climate.plugins.stack import contents
from climate.plugins.stack import templates as stack_templates
from climate.simulator import templates as cloud
from tests import base

VERSION = 'heat_template_version: 2021-04-16\n'
FLAVORS = ('m1.tiny', 'm1.small', '7')
NEW = {name: f'reserved-{name}' for name in FLAVORS}


def server(flavor: Any) -> dict[str, Any]:
    """Return the definition of a server."""
    return {'type': stack_templates.SERVER, 'properties': {'flavor': flavor, 'image': 'cirros'}}


def draft(resources: dict[str, Any], **others: Any) -> StackDraft:
    """Return what is to be made."""
    template = {
        'heat_template_version': '2021-04-16',
        'parameters': others.pop('declared', {}),
        'resources': resources,
    }
    return StackDraft(name='web', template=templates.dump(template), **others)


def planned(one: StackDraft) -> list[str]:
    """Return the flavors of the servers that Heat would make, sorted."""
    grown = StackDraft(
        name=one.name,
        template=templates.at_its_largest(one.template),
        parameters=one.parameters,
        environment=one.environment,
        files={name: templates.at_its_largest(text) for name, text in one.files.items()},
    )
    return sorted(
        str(item.properties['flavor'])
        for item in cloud.plan(grown)
        if item.type == stack_templates.SERVER
    )


def rewritten(one: StackDraft, flavors: dict[str, str] | None = None) -> StackDraft:
    """Return a draft with the new flavors."""
    return stack_templates.rewritten(one, NEW if flavors is None else flavors).draft


names = st.sampled_from(FLAVORS)
plain = st.builds(server, names)
by_parameter = st.builds(server, st.sampled_from([{'get_param': 'one'}, {'get_param': 'two'}]))
grouped = st.recursive(
    plain | by_parameter,
    lambda inner: st.one_of(
        st.builds(
            lambda part, count: {
                'type': 'OS::Heat::ResourceGroup',
                'properties': {'count': count, 'resource_def': part},
            },
            inner,
            st.integers(1, 3),
        ),
        st.builds(
            lambda part, most: {
                'type': 'OS::Heat::AutoScalingGroup',
                'properties': {'min_size': 0, 'max_size': most, 'resource': part},
            },
            inner,
            st.integers(1, 3),
        ),
    ),
    max_leaves=3,
)
nested = st.builds(
    lambda file, flavor: {'type': file, 'properties': {'size': flavor}},
    st.sampled_from(['child.yaml', 'other.yaml']),
    names | st.just({'get_param': 'one'}),
)
CHILD = f"""{VERSION}
parameters: {{size: {{type: string}}, unused: {{type: string, default: x}}}}
resources:
  a: {{type: OS::Nova::Server, properties: {{flavor: {{get_param: size}}}}}}
  b: {{type: OS::Nova::Server, properties: {{flavor: m1.tiny}}}}
"""
OTHER = f"""{VERSION}
parameters: {{size: {{type: string}}}}
resources:
  deep: {{type: child.yaml, properties: {{size: {{get_param: size}}}}}}
"""
drafts = st.builds(
    lambda items, one: draft(
        {f'r{place}': item for place, item in enumerate(items)},
        declared={'one': {'type': 'string'}, 'two': {'type': 'string', 'default': 'm1.small'}},
        parameters={'one': one},
        files={'child.yaml': CHILD, 'other.yaml': OTHER},
    ),
    st.lists(grouped | nested, min_size=1, max_size=4),
    names,
)


class TestProperties(base.TestCase):
    """Whatever a template is made of."""

    @hypothesis.given(drafts)
    def test_every_server_comes_to_be_of_its_reservation(self, one: StackDraft) -> None:
        before = planned(one)
        result = stack_templates.rewritten(one, NEW)
        self.assertEqual(sorted(NEW[name] for name in before), planned(result.draft))
        self.assertEqual(set(before), result.found)

    @hypothesis.given(drafts)
    def test_twice_is_as_once(self, one: StackDraft) -> None:
        once = rewritten(one)
        self.assertEqual(planned(once), planned(rewritten(once)))

    @hypothesis.given(drafts)
    def test_nothing_changes_without_flavors(self, one: StackDraft) -> None:
        self.assertEqual(one, rewritten(one, {}))

    @hypothesis.given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text() | st.just('2021-04-16'),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=20,
        )
    )
    def test_what_is_written_is_read_as_the_same(self, value: Any) -> None:
        self.assertEqual(value, templates.parse(templates.dump(value)))


class TestCorners(base.TestCase):
    """What Heat lets templates be."""

    def assert_refused(self, one: StackDraft, word: str) -> None:
        """Check that no room can be booked, and that the reason is given."""
        error = self.assertRaises(exceptions.InvalidInput, rewritten, one)
        self.assert_contains(error.message, word, 'guarantee: false')

    def test_what_only_heat_knows_is_refused(self) -> None:
        for flavor in (
            {'get_attr': ['other', 'value']},
            {'get_resource': 'flavor'},
            {'if': ['large', 'm1.small', 'm1.tiny']},
            {'get_param': 'nowhere'},
            {'get_param': ['sizes', 'large']},
            {'str_replace': {'template': 'm1.x', 'params': {'x': 'tiny'}}},
            ['m1.tiny'],
            True,
            None,
        ):
            self.assert_refused(draft({'the-one': server(flavor)}), 'the-one')
        self.assert_refused(draft({'bare': {'type': stack_templates.SERVER}}), 'bare')

    def test_a_value_inside_of_a_parameter(self) -> None:
        one = draft(
            {'a': server({'get_param': ['sizes', 'large']}), 'b': server({'get_param': ['l', 1]})},
            declared={'sizes': {'type': 'json'}, 'l': {'default': ['x', 'm1.tiny']}},
            parameters={'sizes': {'large': 'm1.small'}},
        )
        self.assertEqual({'m1.small', 'm1.tiny'}, stack_templates.rewritten(one, NEW).found)

    def test_a_flavor_may_be_a_number(self) -> None:
        self.assertEqual(['reserved-7'], planned(rewritten(draft({'a': server(7)}))))

    def test_what_makes_servers_in_other_ways_is_refused(self) -> None:
        for kind in ('OS::Heat::ResourceChain', 'OS::Heat::InstanceGroup', 'AWS::EC2::Instance'):
            self.assert_refused(draft({'a': {'type': kind}}), kind)

    def test_names_of_the_environment(self) -> None:
        environment = """
parameters: {one: m1.small}
parameter_defaults: {unused: y, two: m1.tiny}
resource_registry:
  My::Server: child.yaml
  Your::*: My::*
  OS::Nova::Server: own.yaml
"""
        own = f"""{VERSION}
parameters: {{flavor: {{type: string}}, image: {{type: string}}}}
resources: {{s: {{type: OS::Nova::Server, properties: {{flavor: {{get_param: flavor}}}}}}}}
"""
        one = draft(
            {
                'a': {'type': 'Your::Server', 'properties': {'size': {'get_param': 'one'}}},
                'b': server({'get_param': 'two'}),
            },
            declared={'one': {'type': 'string'}, 'two': {'type': 'string', 'default': '7'}},
            environment=environment,
            files={'child.yaml': CHILD, 'own.yaml': own},
        )
        result = stack_templates.rewritten(one, NEW)
        self.assertEqual({'m1.small', 'm1.tiny'}, result.found)
        self.assertEqual(CHILD, result.draft.files['child.yaml'])
        types = [
            item['type'] for item in templates.parse(result.draft.template)['resources'].values()
        ]
        self.assertEqual(2, len([name for name in types if name.startswith('climate-')]))

    def test_types_of_single_resources_are_refused(self) -> None:
        environment = 'resource_registry: {resources: {a: {OS::Nova::Server: x.yaml}}}'
        self.assert_refused(draft({'a': server('7')}, environment=environment), 'environment')
        hooks = 'resource_registry: {resources: {a: {hooks: pre-create}}}'
        found = planned(rewritten(draft({'a': server('7')}, environment=hooks)))
        self.assertEqual(['reserved-7'], found)

    def test_the_older_language(self) -> None:
        text = """
HeatTemplateFormatVersion: '2012-12-12'
Parameters: {size: {Type: String, Default: m1.tiny}}
Resources:
  a: {Type: 'OS::Nova::Server', Properties: {flavor: {Ref: size}}}
"""
        found = rewritten(StackDraft(name='web', template=text))
        resources = templates.parse(found.template)['Resources']
        self.assertEqual('reserved-m1.tiny', resources['a']['Properties']['flavor'])

    def test_one_definition_in_two_places(self) -> None:
        text = f"""{VERSION}
resources:
  a: &it {{type: OS::Nova::Server, properties: {{flavor: m1.tiny}}}}
  b: *it
"""
        found = rewritten(StackDraft(name='web', template=text))
        self.assertEqual(['reserved-m1.tiny'] * 2, planned(found))

    def test_what_has_no_end_is_refused(self) -> None:
        endless = f"""{VERSION}
resources:
  a: &it
    type: OS::Heat::ResourceGroup
    properties: {{resource_def: *it}}
"""
        self.assert_refused(StackDraft(name='web', template=endless), 'large')
        own = f'{VERSION}resources: {{a: {{type: own.yaml}}}}'
        self.assert_refused(StackDraft(name='web', template=own, files={'own.yaml': own}), 'deep')
        self.assert_refused(StackDraft(name='web', template='a: [b'), 'read')

    def test_many_uses_of_one_file_are_read_once(self) -> None:
        uses = {f'r{i}': {'type': 'l0.yaml'} for i in range(20)}
        files = {
            f'l{level}.yaml': VERSION
            + 'resources: {'
            + ', '.join(f'r{i}: {{type: l{level + 1}.yaml}}' for i in range(20))
            + '}'
            for level in range(9)
        }
        files['l9.yaml'] = f'{VERSION}resources: {{s: {{type: OS::Nova::Server, properties: {{'
        files['l9.yaml'] += 'flavor: m1.tiny}}}'
        found = stack_templates.rewritten(draft(uses, files=files), NEW)
        self.assertEqual({'m1.tiny'}, found.found)
        self.assertEqual(20, len(found.draft.files))

    def test_what_takes_room_is_counted(self) -> None:
        one = draft(
            {
                'a': server('m1.tiny'),
                'g': {
                    'type': 'OS::Heat::ResourceGroup',
                    'properties': {
                        'count': 2,
                        'resource_def': {
                            'type': 'OS::Cinder::Volume',
                            'properties': {'size': '5', 'volume_type': 'fast'},
                        },
                    },
                },
                'ip': {
                    'type': 'OS::Neutron::FloatingIP',
                    'properties': {'floating_network': 'public'},
                },
            }
        )
        found = contents.of(cloud.plan(one))
        self.assertEqual({'m1.tiny': 1}, found.servers)
        self.assert_has(found, volumes={(5, 'fast'): 2}, addresses={('public', ''): 1})
        self.assertEqual(found, contents.Contents.load(found.dump()))


class LimitsTest(base.TestCase):
    """What grows beyond all measure is refused."""

    def refused(self, one: StackDraft) -> str:
        """Return why a draft is not rewritten."""
        return self.assertRaises(exceptions.InvalidInput, rewritten, one).message

    def test_values_that_grow_from_level_to_level(self):
        grow = [{'get_param': 'x'}] * 10
        files = {
            f'{level}.yaml': templates.dump(
                {
                    'heat_template_version': '2021-04-16',
                    'parameters': {'x': {'type': 'json'}},
                    'resources': {'a': {'type': f'{level + 1}.yaml', 'properties': {'x': grow}}},
                }
            )
            for level in range(10)
        }
        first = {'a': {'type': '0.yaml', 'properties': {'x': [1] * 10}}}
        self.assertIn('too large', self.refused(draft(first, files={**files, '10.yaml': VERSION})))

    def test_templates_used_over_and_over(self):
        long = VERSION + 'parameters: {x: {type: number}}\noutputs: {a: {value: [' + '1, ' * 999
        uses = {
            f'n{number}': {'type': 'n.yaml', 'properties': {'x': number}} for number in range(200)
        }
        self.assertIn('too large', self.refused(draft(uses, files={'n.yaml': long + '1]}}'})))

    def test_a_registry_without_an_end(self):
        environment = templates.dump({'resource_registry': {'a*': 'aa*'}})
        one = draft({'s': {'type': 'ab'}}, environment=environment)
        self.assertIn('maps types on types', self.refused(one))

    def test_a_registry_of_many_patterns(self):
        registry = {f'x{number}*': 'y' for number in range(2000)}
        environment = templates.dump({'resource_registry': registry})
        one = draft({f's{i}': {'type': f't{i}'} for i in range(200)}, environment=environment)
        self.assertIn('too large', self.refused(one))
