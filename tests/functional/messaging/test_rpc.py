# SPDX-License-Identifier: Apache-2.0

"""API and managers talk to each other, with and without a broker."""

from __future__ import annotations

import logging

import fixtures
from oslo_context import context as oslo_context

from climate import exceptions
from climate.cmd import logs
from climate.domain.origins import RequestOrigin
from climate.domain.resources import Inventory
from climate.domain.resources import ResourceDraft
from climate.messaging import broker
from climate.messaging import endpoint
from climate.messaging import rpc
from climate.plugins.host import errors
from tests import drafts
from tests import waiting
from tests.functional.messaging import bus


class Annotated(logging.Handler):
    """Keeps the message and the fields of each record."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[str, dict[str, str]]] = []

    def emit(self, record: logging.LogRecord) -> None:
        logs.annotate(record)
        self.lines.append((record.getMessage(), vars(record).get('extra', {})))


class TestInProcess(bus.BusCase):
    """On the bus of the standalone service."""

    def serve(self) -> rpc.ManagerClient:
        _, server = self.manager('one')
        self.assertTrue(server.wait_until_listening(bus.SOON))
        return self.client()

    def test_a_call_is_answered(self) -> None:
        client = self.serve()
        client.ping()
        self.assertEqual(2, client.register_resource(drafts.host('compute-1', a='1', b='2')))

    def test_a_resource_travels_whole(self) -> None:
        manager, server = self.manager('one')
        self.assertTrue(server.wait_until_listening(bus.SOON))
        wanted = ResourceDraft(
            resource_type='custom:licence',
            name='cae',
            attributes={'site': 'north', 'seats': 4, 'note': None},
            capabilities={'vendor': 'x'},
            inventories=(Inventory(resource_class='SEAT', total=4, allocation_ratio=1.5),),
        )
        self.client().register_resource(wanted)
        self.assertEqual([wanted], manager.drafts)

    def test_the_ids_of_a_request_travel(self) -> None:
        manager, server = self.manager('one')
        self.assertTrue(server.wait_until_listening(bus.SOON))
        client = self.client()
        # Requests of other tests may have left a context in this thread.
        vars(oslo_context._request_store).clear()
        self.addCleanup(vars(oslo_context._request_store).clear)
        client.register_resource(drafts.host('compute-1'))
        made = oslo_context.RequestContext(request_id='req-1', global_request_id='req-2')
        client.register_resource(drafts.host('compute-2'))
        self.assertEqual(
            [RequestOrigin(), RequestOrigin(request_id=made.request_id, global_request_id='req-2')],
            manager.origins,
        )

    def test_the_ids_of_a_request_travel_with_its_wake_up(self) -> None:
        manager, server = self.manager('one')
        self.assertTrue(server.wait_until_listening(bus.SOON))
        annotated = Annotated()
        self.useFixture(fixtures.LogHandler(annotated, name=endpoint.__name__, level=logging.DEBUG))
        vars(oslo_context._request_store).clear()
        self.addCleanup(vars(oslo_context._request_store).clear)
        made = oslo_context.RequestContext(request_id='req-1', global_request_id='req-2')
        self.client().wake('lease')
        self.assertTrue(manager.woke.wait(bus.SOON))
        origin = RequestOrigin(request_id=made.request_id, global_request_id='req-2')
        self.assertEqual([origin], manager.woken_by)
        self.assertEqual(
            [('Woken up for: lease', {'request_id': 'req-1', 'global_request_id': 'req-2'})],
            annotated.lines,
        )

    def test_an_error_comes_back_as_itself(self) -> None:
        client = self.serve()
        error = self.assertRaises(errors.HostExists, client.register_resource, drafts.host('taken'))
        self.assertIs(errors.HostExists, type(error))
        self.assertEqual("Host 'taken' is registered already", error.message)
        self.assertEqual((error.message, 409), (str(error), error.code))
        in_use = self.assertRaises(errors.HostInUse, client.delete_resource, 7)
        self.assertEqual('HOST_IN_USE', in_use.error_name)

    def test_an_error_that_makes_its_text_comes_back_as_itself(self) -> None:
        error = self.assertRaises(
            exceptions.NotEnoughResources, self.serve().register_resource, drafts.host('short')
        )
        self.assertEqual('Not enough hosts available', error.message)

    def test_an_unexpected_error_reveals_nothing(self) -> None:
        error = self.assertRaises(
            exceptions.ClimateError, self.serve().register_resource, drafts.host('broken')
        )
        self.assertIs(exceptions.ClimateError, type(error))
        self.assertEqual('An unknown exception occurred', error.message)

    def test_every_manager_is_woken(self) -> None:
        managers = [self.manager(name) for name in ('one', 'two')]
        for _, server in managers:
            self.assertTrue(server.wait_until_listening(bus.SOON))
        self.client().wake('outbox')
        for manager, _ in managers:
            self.assertTrue(manager.woke.wait(bus.SOON))
            self.assertEqual(['outbox'], manager.woken)

    def test_no_manager_is_an_error_in_time(self) -> None:
        client = self.client(timeout=0.3)
        with waiting.coming_back():
            self.assertRaises(exceptions.ManagerUnavailable, client.ping)

    def test_stopping_is_prompt(self) -> None:
        _, server = self.manager('one')
        self.assertTrue(server.wait_until_listening(bus.SOON))
        with waiting.coming_back():
            server.stop()

    def test_the_broker_is_always_there(self) -> None:
        self.assertTrue(broker.BrokerCheck(self.conf(), self.url).reachable())


class TestRabbit(TestInProcess, bus.RabbitCase):
    """The same on RabbitMQ."""


class TestBrokerAway(bus.RabbitCase):
    """A broker that is away holds nobody up, and is found when it is back."""

    def setUp(self) -> None:
        super().setUp()
        self.proxy, self.through = self.door()

    def test_waking_returns_at_once_and_nothing_is_raised(self) -> None:
        client = self.client(self.through)
        with waiting.coming_back():
            for _ in range(1000):
                client.wake()
        self.eventually(lambda: 'Managers cannot be woken' in self.log.output)

    def test_a_call_fails_in_time_and_works_later(self) -> None:
        _, server = self.manager('one')
        self.assertTrue(server.wait_until_listening(bus.SOON))
        client = self.client(self.through, timeout=0.5)
        with waiting.coming_back():
            self.assertRaises(exceptions.ManagerUnavailable, client.ping)
        self.proxy.open()
        self.eventually(lambda: self._pings(client))
        # Away again, now that the queue for answers is open.
        self.proxy.shut()
        with waiting.coming_back():
            self.assertRaises(exceptions.ManagerUnavailable, client.ping)

    def _pings(self, client: rpc.ManagerClient) -> bool:
        try:
            client.ping()
        except exceptions.ManagerUnavailable:
            return False
        return True

    def test_a_manager_listens_when_the_broker_comes(self) -> None:
        with waiting.coming_back():
            manager, server = self.manager('one', self.through)
        self.assertFalse(server.wait_until_listening(0.1))
        self.proxy.open()
        self.assertTrue(server.wait_until_listening(bus.SOON))
        self.client().wake()
        self.assertTrue(manager.woke.wait(bus.SOON))

    def test_a_manager_outlives_an_outage(self) -> None:
        self.proxy.open()
        manager, server = self.manager('one', self.through)
        self.assertTrue(server.wait_until_listening(bus.SOON))
        self.proxy.shut()
        self.eventually(lambda: 'is unreachable' in self.log.output)
        self.proxy.open()
        client = self.client()

        def woken() -> bool:
            client.wake()
            return manager.woke.wait(0.1)

        self.eventually(woken)

    def test_stopping_without_a_broker_is_prompt(self) -> None:
        _, never = self.manager('one', self.through)
        self.proxy.open()
        _, lost = self.manager('two', self.through)
        self.assertTrue(lost.wait_until_listening(bus.SOON))
        self.proxy.shut()
        client = self.client(self.through, timeout=0.2)
        self.assertRaises(exceptions.ManagerUnavailable, client.ping)
        for stop in (never.stop, lost.stop, client.close):
            with waiting.coming_back():
                stop()

    def test_the_health_page_sees_it(self) -> None:
        check = broker.BrokerCheck(self.conf(), self.through)
        with waiting.coming_back():
            self.assertFalse(check.reachable(1.0))
        self.assertNotIn('guest', check.problem() or 'guest')
        self.proxy.open()
        self.assertTrue(check.reachable())
