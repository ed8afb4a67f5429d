# SPDX-License-Identifier: Apache-2.0

"""What every client promises when the way to its service is disturbed.

One reading verb and one making verb stand for all of a service: what becomes
of errors is decided in one place (:mod:`climate.cloud.errors`), and how
often a request is sent in one place per client.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.cloud import base
from climate.cloud.protocols.stacks import StackDraft
from tests import waiting
from tests.contract import backends
from tests.contract import contracts

# Beyond the time-outs themselves; a loaded machine is slow.
PATIENCE = 30.0
# Neutron asks nobody whether a project exists.
PROJECT = 'f' * 32


@dataclasses.dataclass(frozen=True)
class Sample:
    """How one service is tried.

    :ivar service: the property of :class:`climate.cloud.base.Cloud`
    :ivar read: a cheap verb that changes nothing, and its arguments
    :ivar make: makes something of this name
    :ivar thing: what is made, as the verbs call it that make, find and delete it
    :ivar missing: a verb, and arguments that name something that is not there
    """

    service: str
    _: dataclasses.KW_ONLY
    read: tuple[Any, ...]
    make: Callable[[Any, str], object]
    thing: str
    missing: tuple[Any, ...]

    @property
    def reads(self) -> str:
        """The verb that reads, in the table of requests."""
        return f'{self.service}.{self.read[0]}'

    @property
    def makes(self) -> str:
        """The verb that makes something, in the table of requests."""
        return f'{self.service}.create_{self.thing}'

    def find(self, client: Any, name: str) -> Any:
        """Return what has this name, or None."""
        return getattr(client, f'find_{self.thing}')(name)

    def remove(self, client: Any, name: str) -> None:
        """Remove what has this name; fine if nothing has."""
        found = self.find(client, name)
        if found is not None:
            number = found.uuid if self.thing == 'provider' else found.id
            getattr(client, f'delete_{self.thing}')(number)


def _call(client: Any, verb: str, *arguments: Any) -> object:
    return getattr(client, verb)(*arguments)


def _make_network(network: base.Networking, name: str) -> None:
    network.create_network(name, PROJECT, backends.free_vlan())


def _stack(name: str) -> StackDraft:
    return StackDraft(name=name, template='heat_template_version: 2021-04-16\n')


SAMPLES = (
    Sample(
        'compute',
        read=('list_aggregates',),
        make=lambda compute, name: compute.create_aggregate(name, None),
        thing='aggregate',
        missing=('set_aggregate_metadata', contracts.NO_AGGREGATE, {'key': 'value'}),
    ),
    Sample(
        'placement',
        read=('find_provider', 'nobody'),
        make=lambda placement, name: placement.create_provider(name, None),
        thing='provider',
        missing=('traits', contracts.NOBODY),
    ),
    Sample(
        'network',
        read=('list_networks', 'nobody'),
        make=_make_network,
        thing='network',
        missing=('create_floating_ip', contracts.NOBODY, PROJECT),
    ),
    Sample(
        'volume',
        read=('find_volume_type', 'nobody'),
        make=lambda volume, name: volume.create_volume_type(name, {}),
        thing='volume_type',
        missing=('list_volume_type_projects', contracts.NOBODY),
    ),
    Sample(
        'orchestration',
        read=('find_stack', 'nobody'),
        make=lambda heat, name: heat.create_stack(_stack(name)),
        thing='stack',
        missing=('suspend_stack', contracts.NOBODY),
    ),
)


class ErrorsContract(contracts.Contract):
    """What holds for the simulated cloud as well, of the service of a sample."""

    sample: Sample

    def setUp(self) -> None:
        super().setUp()
        self.client = getattr(self.backend.cloud, self.sample.service)
        self.name = backends.unique()
        self.addCleanup(self.sample.remove, self.client, self.name)
        self.addCleanup(self.backend.heal)

    def read(self) -> object:
        """Call the reading verb."""
        return _call(self.client, *self.sample.read)

    def make(self) -> object:
        """Call the making verb."""
        return self.sample.make(self.client, self.name)

    def made(self) -> bool:
        """Say whether it was made."""
        return self.sample.find(self.client, self.name) is not None

    def test_what_is_not_there_is_reported(self) -> None:
        self.assertRaises(base.CloudNotFound, _call, self.client, *self.sample.missing)

    def test_a_busy_service_is_transient_and_nothing_is_done(self) -> None:
        for status in (503, 429):
            for verb, call in ((self.sample.reads, self.read), (self.sample.makes, self.make)):
                self.backend.disturb(verb, 'status', status=status)
                self.assertRaises(exceptions.Transient, call)
        self.read()
        self.assertFalse(self.made())
        self.make()
        self.assertTrue(self.made())

    def test_a_refusal_is_of_its_kind(self) -> None:
        for status, kind in ((404, base.CloudNotFound), (409, base.CloudConflict)):
            self.backend.disturb(self.sample.makes, 'status', status=status)
            self.assertRaises(kind, self.make)
        self.assertFalse(self.made())

    def test_what_was_cut_before_the_work_is_transient_and_can_be_repeated(self) -> None:
        self.backend.disturb(self.sample.makes, 'refuse')
        self.assertRaises(exceptions.Transient, self.make)
        self.assertFalse(self.made())
        self.make()
        self.assertTrue(self.made())

    def test_what_was_made_although_the_answer_was_lost_is_found(self) -> None:
        self.backend.disturb(self.sample.makes, 'lose')
        self.assertRaises(exceptions.Transient, self.make)
        self.assertTrue(self.made())

    def test_what_was_made_although_the_answer_was_late_is_found(self) -> None:
        self.backend.disturb(self.sample.makes, 'stall')
        with waiting.coming_back():
            self.assertRaises(exceptions.Transient, self.make)
        # Whoever is late with the answer may be late with the work.
        waiting.until(self.made, PATIENCE, 'what was made is found')

    def test_an_unavailable_service_is_transient_until_it_is_back(self) -> None:
        self.read()
        with self.backend.away(self.sample.service):
            self.assertRaises(exceptions.Transient, self.read)
            self.assertRaises(exceptions.Transient, self.make)
        self.assertFalse(self.made())
        self.make()
        self.assertTrue(self.made())


class WireContract(ErrorsContract):
    """What needs requests and tokens: of clients that ask twice before they give up."""

    def test_what_only_looks_is_asked_twice(self) -> None:
        for kind in ('refuse', 'lose'):
            before = self.backend.count(self.sample.reads)
            self.backend.disturb(self.sample.reads, kind)
            self.read()
            self.assertEqual(before + 2, self.backend.count(self.sample.reads))

    def test_what_only_looks_is_not_asked_for_ever(self) -> None:
        self.backend.disturb(self.sample.reads, 'refuse', None)
        self.assertRaises(exceptions.Transient, self.read)
        self.assertEqual(2, self.backend.count(self.sample.reads))

    def test_what_makes_something_is_sent_once(self) -> None:
        for number, kind in enumerate(('refuse', 'lose'), 1):
            self.backend.disturb(self.sample.makes, kind, None)
            self.assertRaises(exceptions.Transient, self.make)
            self.assertEqual(number, self.backend.count(self.sample.makes))
            self.backend.heal()

    def test_what_was_made_although_the_answer_was_late_is_found(self) -> None:
        self.read()
        super().test_what_was_made_although_the_answer_was_late_is_found()
        self.assertEqual(1, self.backend.count(self.sample.makes))

    def test_what_only_looks_is_not_waited_for_after_twice_its_time(self) -> None:
        self.backend.disturb(self.sample.reads, 'stall', None)
        with waiting.coming_back():
            self.assertRaises(exceptions.Transient, self.read)

    def test_a_token_that_expires_in_the_middle_is_renewed_once(self) -> None:
        proxy = self.backend.proxy(self.sample.service)
        self.read()
        for number, (verb, call) in enumerate(
            ((self.sample.reads, self.read), (self.sample.makes, self.make)), 2
        ):
            before = self.backend.count(verb)
            self.backend.disturb(verb, 'expire')
            call()
            self.assertEqual(before + 2, self.backend.count(verb))
            self.assertEqual(number, len(proxy.tokens()))
        self.assertTrue(self.made())

    def test_a_service_that_takes_no_token_is_transient(self) -> None:
        for verb, call in ((self.sample.reads, self.read), (self.sample.makes, self.make)):
            before = self.backend.count(verb)
            self.backend.disturb(verb, 'expire', None)
            self.assertRaises(exceptions.Transient, call)
            self.assertEqual(before + 2, self.backend.count(verb))
            self.backend.heal()
        self.assertFalse(self.made())


def cases(
    module: str, prefix: str, contract: type[ErrorsContract], backend_type: type[backends.Backend]
) -> Mapping[str, type[ErrorsContract]]:
    """Return the contract as a test case for each service, by name.

    :param module: name of the module that they are to live in
    """
    found = {}
    for sample in SAMPLES:
        name = f'Test{prefix}{sample.service.capitalize()}Errors'
        contents = {
            '__doc__': f'Errors of {sample.service}.',
            '__module__': module,
            'sample': sample,
            'backend_type': backend_type,
        }
        found[name] = type(name, (contract,), contents)
    return found
