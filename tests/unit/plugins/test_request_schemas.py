# SPDX-License-Identifier: Apache-2.0

"""The published schema of a request takes exactly the bodies that are read.

Whole numbers are distinguished from fractions, which JSON does not do: ``5.0`` is no
integer for the reader.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import pathlib
import re
from typing import Annotated
from typing import Any
from typing import Literal

import hypothesis
import jsonschema
from hypothesis import strategies as st

from climate import exceptions
from climate.domain.resource_types import Declaration
from climate.domain.resources import Inventory
from climate.plugins import contract
from climate.plugins import fields
from climate.plugins import models
from climate.plugins import schemas
from climate.plugins.custom.plugin import Custom
from climate.plugins.fields import Fixed
from climate.plugins.floating_ip import errors
from climate.plugins.floating_ip.plugin import FloatingIP
from climate.plugins.host.plugin import PhysicalHost
from climate.plugins.instance.by_flavor import FlavorInstance
from climate.plugins.instance.by_size import VirtualInstance
from climate.plugins.network.plugin import NetworkPlugin
from climate.plugins.server.plugin import VirtualServer
from climate.plugins.stack.plugin import VirtualStack
from climate.plugins.storage.plugin import PhysicalStorage
from climate.plugins.volume.plugin import VirtualVolume
from tests import base
from tests.unit.allocation import strategies

UUID = '2c5a8a8e-52a4-4d2c-9f9b-6c3a1c3c1f10'
RACK = Declaration(name='custom:rack')
SEATS = Declaration(
    name='custom:seat', exclusive=False, classes=(Inventory(resource_class='SEAT', total=1),)
)
LICENCE = dataclasses.replace(
    SEATS, classes=(*SEATS.classes, Inventory(resource_class='CORE', total=1))
)
# Each type with a body that it reads.
TYPES: dict[str, tuple[contract.Plugin[Any], dict[str, Any]]] = {
    'host': (PhysicalHost(), {'min': 1, 'max': 2}),
    'size': (VirtualInstance(), {'vcpus': 1, 'memory_mb': 1, 'disk_gb': 0, 'amount': 1}),
    'flavor': (FlavorInstance(), {'flavor_id': '1', 'amount': 1}),
    'floating_ip': (FloatingIP(), {'network_id': 'n', 'amount': 2}),
    'network': (NetworkPlugin(), {'network_name': 'n'}),
    'storage': (PhysicalStorage(), {'min': 1, 'max': 1}),
    'custom': (Custom(RACK), {'amount': 1}),
    'custom_between': (Custom(RACK), {'min': 1, 'max': 2}),
    'custom_slots': (Custom(LICENCE), {'amount': 1, 'resources': {'SEAT': 1}}),
    'custom_units': (Custom(SEATS), {'amount': 1}),
    'volume': (VirtualVolume(), {'size': 1}),
    'volume_that_exists': (VirtualVolume(), {'volume_id': UUID}),
    'server': (VirtualServer(), {'name': 'n', 'flavor': '1', 'image': UUID}),
    'server_that_exists': (VirtualServer(), {'server_id': UUID}),
    'stack': (VirtualStack(), {'name': 'n', 'template': '{}'}),
    'stack_that_exists': (VirtualStack(), {'stack_id': UUID}),
}
# What no schema can state: an expression in a text, and one number beside another.
UNSTATED = (exceptions.MalformedRequirements, exceptions.InvalidRange, errors.TooLongFloatingIPs)
MISSING = object()
STEPS = (
    'snapshot',
    'create_image',
    'backup',
    'detach',
    'delete',
    'shelve',
    'suspend',
    'stop',
    'notify',
)
# Each field has each of these values in turn; what is drawn comes to them by chance only.
TELLING: tuple[Any, ...] = (
    *(None, '', True, False, [], {}, -1, 0, 1, 2, '0', '1', 'x', 'a' * 256),
    *('default', 'snapshot', 'delete', 'none', UUID, ['snapshot'], ['1.2.3.4']),
    *('["==", "$a", "b"]', ['==', '$a', 'b'], '["', {'SEAT': 1}),
)

numbers = st.integers(-2, 3) | st.sampled_from([99, 100, 101, 2**31 - 1, 2**31, -(2**31), 10**40])
digits = st.builds(lambda zeros, number: '0' * zeros + str(number), st.integers(0, 9), numbers)
steps = st.lists(st.sampled_from(STEPS), max_size=5)
values = st.one_of(
    st.sampled_from([MISSING, None, '', ' ', [], {}, True, False, 1.5]),
    st.sampled_from(['true', ' False ', 'NONE', 'default', 'snapshot', 'email', '5\n', '٣']),
    st.sampled_from(['\x00', '\ud800', '\u2028', 'a' * 255, 'a' * 256, 'a\nb', '😀']),
    st.sampled_from([UUID, UUID.upper(), f' {UUID.replace("-", "")}', f'{UUID}x', f'{{{UUID}}}']),
    st.sampled_from([['1.2.3.4'], ['::1', '1.2.3.4'], ['1.2.3'], [7], [None], ['1.2.3.4'] * 3]),
    st.dictionaries(st.sampled_from(['SEAT', 'CORE', 'VCPU']), st.sampled_from([1, '2', 0, None])),
    st.sampled_from(['any', 'apart', 'wide', 'web', 'web 1', 'web\n']),
    st.sampled_from([[{'uuid': 'n'}], [{'port': 'p', 'uuid': ''}], [{'uuid': 'n', 'port': 'p'}]]),
    st.sampled_from([[{'source_type': 'blank', 'boot_index': 0}], [{'uuid': 'n', 'net': None}]]),
    st.dictionaries(
        st.sampled_from(['a', '', 'climate:a', 'a\n', 'ä', 'a\0', 'a' * 256]),
        st.sampled_from(['b', '', 7, None, 'a' * 256, '\ud800', ['\0'], {'\0': 1}]),
        max_size=2,
    ),
    numbers,
    digits,
    steps,
    steps.map(','.join),
    steps.map(' , ,'.join),
    strategies.trees.map(schemas.requirements.dumps).map(json.loads),
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=4,
    ),
)


def _is_integer(checker: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine('integer', _is_integer),
)


def validator(schema: Any) -> Any:
    """Return the validator of a schema."""
    return Validator(dict(schema), format_checker=jsonschema.FormatChecker())


@base.test_each(TYPES)
class TestSchemas(base.TestCase):
    """A test for each type."""

    def check(self, name: str) -> None:
        """Hold the schema of a type against its reader."""
        plugin, _ = TYPES[name]
        validator(plugin.request_schema).check_schema(plugin.request_schema)
        keys = [*plugin.request_schema['properties'], 'colour']
        for key, value in itertools.product(keys, TELLING):
            self.check_body(name, {key: value})
        changes = st.dictionaries(st.sampled_from(keys), values, max_size=3)

        @hypothesis.settings(max_examples=300)
        @hypothesis.given(changes)
        def agree(changes: dict[str, Any]) -> None:
            self.check_body(name, changes)

        agree()

    def check_body(self, name: str, changes: dict[str, Any]) -> None:
        """Hold the schema against the reader for a body that is good but for some changes."""
        plugin, good = TYPES[name]
        validating = validator(plugin.request_schema)
        body = {**good, **changes, 'resource_type': plugin.resource_type}
        body = {key: value for key, value in body.items() if value is not MISSING}
        try:
            request = plugin.parse(body, strict=True)
        except (exceptions.InvalidInput, exceptions.Conflict) as error:
            if not isinstance(error, UNSTATED):
                self.assertFalse(validating.is_valid(body), (body, error.message))
        else:
            self.assertEqual([], [each.message for each in validating.iter_errors(body)], body)
            self.check_request(plugin, request, body)

    def check_request(
        self, plugin: contract.Plugin[Any], request: Any, body: dict[str, Any]
    ) -> None:
        """Hold a request against what it is stored as, and changes that ask for nothing else."""
        stored = _stored(plugin.dump(request))
        self.assertEqual(request, plugin.load(stored))
        # Fields of other types, which Heat sends as well.
        self.assertEqual(request, plugin.parse({**body, 'colour': 'red'}))
        keys = plugin.request_schema['properties']
        same = {
            key: stored[key]
            for key in keys
            if body.get(key) not in (None, '') and stored.get(key, '') not in ('', [], {})
        }
        for sent in ({}, {'id': 'r'}, dict.fromkeys(keys), same):
            for running in (False, True):
                changed = plugin.change(request, sent, strict=True, running=running)
                self.assertEqual(request, changed, sent)


def _stored(request: dict[str, Any]) -> Any:
    return json.loads(json.dumps(request))


class TestDocuments(base.TestCase):
    def test_the_user_guide_has_the_fields_of_each_type(self) -> None:
        pages = pathlib.Path(__file__).parents[3].joinpath('doc', 'source', 'user').glob('*.rst')
        text = ''.join(page.read_text(encoding='utf-8') for page in pages)
        found = {plugin.request_model for plugin, _ in TYPES.values()}
        actual = set(re.findall(r'request-fields:: (\S+)', text))
        self.assertEqual({f'{each.__module__}.{each.__qualname__}' for each in found}, actual)


class TestNumbers(base.TestCase):
    @hypothesis.given(st.integers(1, 10**12), st.integers(0, 10**12))
    def test_pattern_of_numbers(self, most: int, number: int) -> None:
        for other in (number, most, most + 1, most - 1, most // 2):
            found = re.fullmatch(schemas.up_to(most), str(other)) is not None
            self.assertEqual(1 <= other <= most, found, other)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ScopeRequest(models.Request):
    """A request as a package of its own might have it, with types that pydantic reads."""

    amount: Annotated[int, fields.Count('How many telescopes.', most=9)]
    filter: Annotated[Literal['red', 'blue'], fields.Field('The filter.', fixed=Fixed.RUNNING)] = (
        'red'
    )
    targets: Annotated[list[tuple[float, float]], fields.Field('Where to look.')] = (
        dataclasses.field(default_factory=list)
    )
    seen: str = ''


class TestModel(base.TestCase):
    """What follows from the class of a request."""

    def setUp(self) -> None:
        super().setUp()
        self.model = models.of(ScopeRequest)

    def parse(self, **body: Any) -> ScopeRequest:
        return self.model.parse(body, 'scope', strict=True)

    def test_types_that_pydantic_reads(self) -> None:
        request = self.parse(amount='2', filter='blue', targets=[[1, 2.5]])
        self.assert_has(request, amount=2, filter='blue', targets=[(1.0, 2.5)])
        for body, text in (
            ({'filter': 'green'}, "Malformed parameter filter: Input should be 'red' or 'blue'"),
            ({'targets': [[1, 'x']]}, 'Malformed parameter targets: .0.1 Input should be a valid'),
            ({'amount': 10}, 'Malformed parameter amount: it must be between 1 and 9'),
            ({'seen': 'x'}, "'seen' is not a field of scope"),
        ):
            with self.assertRaisesRegex(exceptions.MalformedParameter, text):
                self.parse(**{'amount': 1, **body})
        validating = validator(self.model.schema('scope'))
        good = {'resource_type': 'scope', 'amount': 1}
        for body, valid in (
            ({}, True),
            ({'filter': 'green'}, False),
            ({'filter': None}, True),
            ({'targets': [[1, 2.5]]}, True),
            ({'targets': [['x', 1]]}, False),
            ({'seen': 'x'}, False),
        ):
            self.assertEqual(valid, validating.is_valid({**good, **body}), body)

    def test_what_is_fixed_once_it_runs(self) -> None:
        request = self.parse(amount=1)
        for running in (False, True):
            changed = self.model.change(
                request, {'amount': 2, 'filter': 'red'}, 'scope', strict=True, running=running
            )
            self.assertEqual(2, changed.amount)
        blue = {'filter': 'blue'}
        self.model.change(request, blue, 'scope', strict=True, running=False)
        with self.assertRaisesRegex(exceptions.CantUpdateParameter, 'filter'):
            self.model.change(request, blue, 'scope', strict=True, running=True)

    def test_rows_of_other_releases(self) -> None:
        for stored in ({'amount': 10}, {'amount': 10, 'filter': 'red', 'colour': 'x'}):
            self.assertEqual(ScopeRequest(amount=10), self.model.load(stored))

    def test_options(self) -> None:
        amount, colour, _ = self.model.options()
        self.assertEqual(('amount', 'integer', '1 to 9', True), _four(amount))
        self.assert_has(colour, name='filter', default='red', fixed=Fixed.RUNNING)


def _four(option: models.Option) -> tuple[str, str, str, bool]:
    return option.name, option.kind, option.bounds, option.required
