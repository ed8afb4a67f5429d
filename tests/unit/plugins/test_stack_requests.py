# SPDX-License-Identifier: Apache-2.0

"""The request of a reservation of a stack: read, changed, stored, looked at."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import hypothesis
import jsonschema
from hypothesis import strategies as st

from climate import exceptions
from climate.clock import ManualClock
from climate.cloud.protocols.stacks import StackDraft
from climate.domain.leases import Reservation
from climate.plugins.stack.contents import Contents
from climate.plugins.stack.plugin import VirtualStack
from climate.plugins.stack.request import StackRequest
from climate.plugins.stack.settings import StackSettings
from climate.simulator import SimulatedCloud
from tests import base
from tests.functional.manager.harness import NOW
from tests.functional.manager.walk.stacks import TEMPLATE
from tests.functional.manager.walk.stacks import VERSION

PLUGIN = VirtualStack()
TYPE = 'virtual:stack'
SECRET = 'opensesame'

texts = st.text(st.characters(exclude_categories=['Cs'], exclude_characters='\0'), max_size=20)
mappings = st.dictionaries(texts, texts | st.integers() | st.lists(texts, max_size=2), max_size=2)
drafts = st.builds(
    StackDraft,
    name=st.from_regex(r'[A-Za-z][A-Za-z0-9_.-]{0,20}', fullmatch=True),
    template=texts.filter(str.strip),
    environment=texts,
    parameters=mappings,
    files=st.dictionaries(texts, texts, max_size=2),
)
made = st.builds(
    lambda draft, guarantee, end: StackRequest(
        name=draft.name,
        template=draft.template,
        environment=draft.environment,
        parameters=draft.parameters,
        files=draft.files,
        guarantee=guarantee and 'delete' in end,
        on_end=end,
    ),
    drafts,
    st.booleans(),
    st.sampled_from([('delete',), ('suspend', 'delete'), ('snapshot', 'suspend'), ()]),
)
existing = st.builds(
    lambda stack_id, end, before: StackRequest(stack_id=stack_id, on_end=end, before_end=before),
    st.uuids().map(str),
    st.sampled_from([('snapshot',), ('suspend',), ('snapshot', 'suspend'), ()]),
    st.sampled_from([('snapshot',), ('notify',), ('snapshot', 'notify'), ()]),
)
requests = made | existing
seen = st.builds(
    lambda request, thing, servers: dataclasses.replace(
        request, thing=thing, contents=None if request.draft is None else Contents(servers=servers)
    ),
    requests,
    texts.filter(bool),
    st.dictionaries(texts, st.integers(1, 9), max_size=3),
)


def body(**changes: Any) -> dict[str, Any]:
    """Return what makes a stack."""
    return {'resource_type': TYPE, 'name': 'web', 'template': TEMPLATE, **changes}


def sent(request: StackRequest) -> dict[str, Any]:
    """Return a body that asks for it."""
    draft = request.draft
    common = {
        'resource_type': TYPE,
        'on_end': list(request.on_end),
        'before_end': list(request.before_end),
        'guarantee': request.guarantee,
    }
    if draft is None:
        return {**common, 'stack_id': request.stack_id}
    return {
        **common,
        'name': draft.name,
        'template': draft.template,
        'environment': draft.environment,
        'parameters': dict(draft.parameters),
        'files': dict(draft.files),
    }


class TestParse(base.TestCase):
    """What clients send for a new one."""

    def test_what_is_left_out(self) -> None:
        found = PLUGIN.parse(body())
        self.assertEqual((('delete',), (), True), (found.on_end, found.before_end, found.guarantee))
        found = PLUGIN.parse({'resource_type': TYPE, 'stack_id': 'x'})
        self.assertEqual((('snapshot', 'suspend'), ()), (found.on_end, found.before_end))

    def test_actions_as_a_text(self) -> None:
        for text in ('suspend, delete', 'suspend,delete'):
            self.assertEqual(('suspend', 'delete'), PLUGIN.parse(body(on_end=text)).on_end)
        for text in ('', None, 'default'):
            self.assertEqual(('delete',), PLUGIN.parse(body(on_end=text)).on_end)

    def test_wrong_bodies(self) -> None:
        for changes, text in (
            ({'name': None}, 'name'),
            ({'name': '1st'}, 'name'),
            ({'name': 'a b'}, 'name'),
            ({'name': 'a' * 256}, 'name'),
            ({'template': None}, 'template'),
            ({'template': ' '}, 'template'),
            ({'template': 7}, 'template'),
            ({'template': 'a\0'}, 'template'),
            ({'template': 'a' * 600000}, 'are allowed'),
            ({'environment': []}, 'environment'),
            ({'parameters': []}, 'parameters'),
            ({'parameters': {'a': ['\0']}}, 'parameters'),
            ({'parameters': {'a': 'b' * 600000}}, 'template'),
            ({'files': {'a': 7}}, 'files'),
            ({'files': 'a'}, 'files'),
            ({'on_end': ['shelve']}, 'on_end'),
            ({'on_end': [[]]}, 'on_end'),
            ({'on_end': {}}, 'on_end'),
            ({'on_end': 7}, 'on_end'),
            ({'on_end': ['delete', 'delete']}, 'on_end'),
            ({'on_end': ['delete', 'suspend']}, "'suspend' cannot come after 'delete'"),
            ({'on_end': ['snapshot', 'delete']}, 'snapshots of a stack with it'),
            ({'on_end': ['suspend', 'snapshot']}, 'resume'),
            ({'on_end': ['suspend']}, 'guarantee'),
            ({'before_end': ['snapshot']}, 'before_end'),
            ({'before_end': ['delete']}, 'before_end'),
            ({'guarantee': 'perhaps'}, 'guarantee'),
            ({'stack_id': 'x'}, 'name'),
            ({'stack_id': 'x', 'name': None}, 'template'),
            ({'stack_id': []}, 'stack_id'),
        ):
            found = self.assertRaises(exceptions.InvalidInput, PLUGIN.parse, body(**changes))
            self.assertIn(text, found.message)
            self.assertEqual(400, found.code)

    def test_operators_say_how_long_a_template_may_be(self) -> None:
        plugin = VirtualStack(StackSettings(longest=100))
        self.assert_error(exceptions.MalformedParameter, '100 are allowed', plugin.parse, body())

    @hypothesis.given(requests)
    def test_what_is_asked_for_is_read(self, request: StackRequest) -> None:
        jsonschema.validate(sent(request), PLUGIN.request_schema)
        self.assertEqual(request, PLUGIN.parse(sent(request), strict=True))

    @hypothesis.given(seen)
    def test_what_is_stored_is_read_again(self, request: StackRequest) -> None:
        stored = json.loads(json.dumps(PLUGIN.dump(request)))
        self.assertEqual(request, PLUGIN.load(stored))
        self.assertEqual(stored, PLUGIN.dump(PLUGIN.load(stored)))


class TestChange(base.TestCase):
    """What can be changed: the end."""

    @hypothesis.given(seen)
    def test_what_is_the_same_is_no_change(self, request: StackRequest) -> None:
        self.assertEqual(request, PLUGIN.change(request, sent(request), strict=True))
        self.assertEqual(request, PLUGIN.change(request, {'id': 'r'}, strict=True, running=True))

    def test_the_end_can_be_changed(self) -> None:
        request = PLUGIN.parse(body(guarantee=False))
        changed = PLUGIN.change(
            request, {'on_end': ['snapshot'], 'before_end': 'notify'}, running=True
        )
        self.assertEqual((('snapshot',), ('notify',)), (changed.on_end, changed.before_end))
        self.assertFalse(PLUGIN.follows(request, changed))
        with self.assertRaises(exceptions.MalformedParameter):
            PLUGIN.change(request, {'on_end': ['nothing']})
        kept = PLUGIN.parse(body())
        with self.assertRaises(exceptions.MalformedParameter):
            PLUGIN.change(kept, {'on_end': ['suspend']})

    def test_the_rest_cannot(self) -> None:
        request = PLUGIN.parse(body(parameters={'size': 'm1.small'}))
        for key, value in (
            ('stack_id', 'x'),
            ('name', 'other'),
            ('template', 'other'),
            ('environment', '{}'),
            ('parameters', {'size': 'm1.tiny'}),
            ('files', {'a': 'b'}),
            ('guarantee', False),
        ):
            self.assertRaises(exceptions.CantUpdateParameter, PLUGIN.change, request, {key: value})


class TestSecrets(base.TestCase):
    """What a stack is made of is nobody's business."""

    def test_it_is_shown_nowhere(self) -> None:
        request = PLUGIN.parse(
            body(
                template=f'{TEMPLATE}#{SECRET}',
                parameters={'size': SECRET},
                environment=f'parameters: {{size: {SECRET}}}',
                files={'a.yaml': SECRET},
            )
        )
        stored = PLUGIN.dump(request)
        reservation = Reservation(id='r', lease_id='l', resource_type=TYPE, request=stored)
        self.assertNotIn(SECRET, json.dumps(PLUGIN.describe(reservation)))
        self.assertNotIn(SECRET, repr(request))


class TestInspect(base.TestCase):
    """What the cloud says."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud = self.closing(SimulatedCloud(':memory:', clock=ManualClock(NOW)))
        self.cloud.seed()
        self.mine = self.cloud.of_caller('alice:blue')

    def inspect(self, request: StackRequest) -> StackRequest:
        """Look at the cloud as alice sees it."""
        return PLUGIN.inspect(request, lambda: self.mine, 'blue')

    def make(self, template: str = f'{VERSION}resources: {{}}', **seconds: float) -> str:
        """Make a stack of alice's and return its id."""
        self.cloud.set_seconds('stack', seconds.get('seconds', 0.0))
        return self.mine.orchestration.create_stack(StackDraft(name='mine', template=template))

    def test_what_a_template_contains(self) -> None:
        found = self.inspect(PLUGIN.parse(body()))
        self.assertEqual('blue:web', found.thing)
        expected = {
            'servers': [{'flavor_id': '1', 'amount': 1}, {'flavor_id': '2', 'amount': 3}],
            'volumes': [{'size': 3, 'volume_type': '', 'amount': 1}],
            'floating_ips': [],
        }
        self.assertEqual(expected, None if found.contents is None else found.contents.dump())
        self.assertEqual(
            [('flavor:instance', '1', 1), ('flavor:instance', '2', 3)],
            [
                (item['resource_type'], item['flavor_id'], item['amount'])
                for item in PLUGIN.parts(found)
            ],
        )
        self.assertEqual(('blue:web',), PLUGIN.things(found))
        self.assertEqual({'member', 'reader'}, PLUGIN.roles(found))
        self.assertEqual((1, 1, ('blue:web',)), self.searched(found))
        # It is looked at once, for the name is taken later: by itself.
        self.assertEqual(found, PLUGIN.inspect(found, self.fail, 'blue'))

    def searched(self, request: StackRequest) -> tuple[int, int, tuple[str, ...]]:
        """Return what is looked for."""
        search = PLUGIN.search(request)
        return search.minimum, search.maximum, search.names

    def test_without_guarantee_nothing_is_booked(self) -> None:
        self.assertEqual((), PLUGIN.parts(self.inspect(PLUGIN.parse(body(guarantee='false')))))
        odd = TEMPLATE.replace('m1.tiny', '{get_attr: [disk, name]}')
        self.inspect(PLUGIN.parse(body(template=odd, guarantee=False)))

    def test_operators_say_what_room_is_booked_for(self) -> None:
        typed = TEMPLATE.replace('{size: 3}', '{size: 3, volume_type: fast}')
        plugin = VirtualStack(StackSettings(guarantee=frozenset({'volumes'})))
        found = plugin.inspect(plugin.parse(body(template=typed)), lambda: self.mine, 'blue')
        expected = (
            {
                'resource_type': 'virtual:volume',
                'size': 3,
                'volume_type': 'fast',
                'amount': 1,
                'room_only': True,
            },
        )
        self.assertEqual(expected, plugin.parts(found))
        with self.assertRaisesRegex(exceptions.InvalidInput, 'volume_type'):
            plugin.inspect(plugin.parse(body()), lambda: self.mine, 'blue')

    def test_flavors_that_are_not_known_before(self) -> None:
        odd = TEMPLATE.replace('m1.tiny', '{get_attr: [disk, name]}')
        with self.assertRaisesRegex(exceptions.InvalidInput, 'guarantee: false'):
            self.inspect(PLUGIN.parse(body(template=odd)))

    def test_flavors_that_are_not_there(self) -> None:
        request = PLUGIN.parse(body(parameters={'size': 'm1.nothing'}))
        self.assertRaisesRegex(exceptions.InvalidInput, r'm1\.nothing', self.inspect, request)

    def test_what_heat_does_not_take(self) -> None:
        for template, reason in (
            ('resources: {}', 'version'),
            ('not: [yaml', 'valid format'),
            (f'{VERSION}resources: {{a: {{type: OS::Heat::Nonsense}}}}', 'Nonsense'),
        ):
            self.assert_error(
                exceptions.InvalidInput, reason, self.inspect, PLUGIN.parse(body(template=template))
            )

    def test_a_name_that_is_taken(self) -> None:
        self.make()
        with self.assertRaisesRegex(exceptions.Conflict, 'mine'):
            self.inspect(PLUGIN.parse(body(name='mine')))

    def test_one_that_exists_by_id_and_by_name(self) -> None:
        stack_id = self.make()
        for given in (stack_id, 'mine'):
            found = self.inspect(PLUGIN.parse({'resource_type': TYPE, 'stack_id': given}))
            self.assert_has(found, stack_id=stack_id, name='mine', thing='blue:mine')
            self.assertEqual((), PLUGIN.parts(found))
            self.assertEqual(frozenset({'member', 'reader'}), PLUGIN.roles(found))
        self.assertEqual(frozenset(), PLUGIN.roles(dataclasses.replace(found, on_end=('suspend',))))

    def test_one_that_is_not_there_for_the_caller(self) -> None:
        request = PLUGIN.parse({'resource_type': TYPE, 'stack_id': self.make()})
        for cloud, project in ((self.cloud.of_caller('bob:red'), 'red'), (self.cloud, 'red')):
            with self.assertRaisesRegex(exceptions.InvalidInput, 'not found'):
                PLUGIN.inspect(request, lambda c=cloud: c, project)

    def test_one_that_is_busy_or_broken(self) -> None:
        stack_id = self.make(seconds=60)
        request = PLUGIN.parse({'resource_type': TYPE, 'stack_id': stack_id})
        self.assert_error(exceptions.Conflict, 'CREATE_IN_PROGRESS', self.inspect, request)
        self.cloud.break_stack(stack_id, 'no quota')
        self.assert_error(exceptions.Conflict, 'CREATE_FAILED: no quota', self.inspect, request)

    def test_names_that_are_too_long_together(self) -> None:
        found = PLUGIN.inspect(PLUGIN.parse(body(name='a' * 255)), lambda: self.mine, 'b' * 64)
        self.assertEqual(36, len(found.thing))
