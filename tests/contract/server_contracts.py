# SPDX-License-Identifier: Apache-2.0

"""What every client of Nova is held to about servers, and of Glance about images."""

from __future__ import annotations

from climate import exceptions
from climate.cloud import base
from tests.contract import backends
from tests.contract import contracts
from tests.narrowing import present
from tests.waiting import until


class ServerContract(contracts.Contract):
    """list_servers, find_server, delete_server, create_image."""

    def test_servers_of_a_host(self) -> None:
        here, there = self.backend.hosts[:2]
        mine = sorted(self.boot(here) for _ in range(3))
        self.boot(there)
        found = self.compute.list_servers(here)
        self.assertEqual(mine, [server.id for server in found])
        self.assertEqual({here}, {server.host for server in found})
        self.assertEqual(1, len({server.project_id for server in found}))
        self.assertEqual({'ACTIVE'}, {server.status for server in found})

    def test_a_host_that_is_not_there_has_none(self) -> None:
        self.assertEqual((), self.compute.list_servers('nobody'))

    def test_a_server_is_found(self) -> None:
        server_id = self.boot(self.backend.hosts[0], 'mine')
        found = present(self.compute.find_server(server_id))
        self.assertEqual((server_id, 'mine', None), (found.id, found.name, found.task_state))
        self.assertIsNone(self.compute.find_server(contracts.NOBODY))

    def test_deleted_and_again(self) -> None:
        server_id = self.boot(self.backend.hosts[0])
        self.gone(server_id)
        self.assertIsNone(self.compute.find_server(server_id))
        self.assertEqual((), self.compute.list_servers(self.backend.hosts[0]))
        self.compute.delete_server(server_id)
        self.compute.delete_server(contracts.NOBODY)

    def test_a_server_that_is_going_is_listed_until_it_is_gone(self) -> None:
        self.backend.slow('server_deletion')
        server_id = self.boot(self.backend.hosts[0])
        self.compute.delete_server(server_id)
        self.compute.delete_server(server_id)

        def gone() -> bool:
            left = self.compute.list_servers(self.backend.hosts[0])
            for server in left:
                self.assertEqual(server_id, server.id)
                # For an instant it is done, and still there.
                self.assertIn(
                    'deleting' if server.task_state else 'DELETED',
                    (server.task_state, server.status),
                )
            return not left

        until(gone, self.backend.patience, 'the server is gone')
        self.assertIsNone(self.compute.find_server(server_id))

    def test_deleted_although_the_answer_was_lost(self) -> None:
        server_id = self.boot(self.backend.hosts[0])
        self.lost('compute.delete_server', self.compute.delete_server, server_id)
        self.backend.until_gone(server_id)
        self.compute.delete_server(server_id)

    def test_no_image_of_what_is_not_there(self) -> None:
        self.assertRaises(base.CloudNotFound, self.compute.create_image, contracts.NOBODY, 'x')

    def test_no_image_of_what_is_going(self) -> None:
        self.backend.slow('server_deletion')
        server_id = self.boot(self.backend.hosts[0])
        self.compute.delete_server(server_id)
        refusals = (base.CloudConflict, base.CloudNotFound)
        self.assertRaises(refusals, self.compute.create_image, server_id, 'x')


class ServerLifeContract(contracts.Contract):
    """create_server, and what can be done with a server."""

    def make(self, **wanted: object) -> str:
        """Begin to make a server that goes away after the test."""
        server_id = self.compute.create_server(self.backend.draft(**wanted))
        self.addCleanup(self.gone, server_id)
        return server_id

    def still(self, server_id: str, status: str) -> base.Server:
        """Wait until nothing is done with a server, and check its status."""
        found = self.backend.until_still(server_id)
        self.assertEqual((status, ''), (found.status, found.fault))
        return found

    def test_made_as_described(self) -> None:
        host = self.backend.hosts[1]
        metadata = {'climate:lease_end': '2030-01-01 00:00', 'a': 'ü'}
        draft = self.backend.draft(host, name='mine')
        server_id = self.make(
            host=host,
            name='mine',
            metadata=metadata,
            user_data='#!/bin/sh\necho ä\n',
            scheduler_hints={'lease_params': '{"name": "x"}'},
        )
        found = self.still(server_id, 'ACTIVE')
        self.assert_has(found, id=server_id, name='mine', volume_ids=(), locked=False)
        self.assert_has(found, flavor_id=draft.flavor_id, metadata=metadata)
        self.assert_has(found, host=host, hypervisor_hostname=host)
        self.assertIn(found, self.compute.list_servers_of_flavor(draft.flavor_id))
        self.assertEqual((), self.compute.list_servers_of_flavor('nobody'))

    def test_no_room_is_reported_by_the_server(self) -> None:
        server_id = self.make(host='nobody')
        found = self.backend.until_still(server_id)
        self.assertEqual(('ERROR', ''), (found.status, found.host))
        until(lambda: self.shows_fault(server_id), self.backend.patience, 'the fault is shown')

    def shows_fault(self, server_id: str) -> bool:
        """Return whether it is said that there was no room."""
        found = self.compute.find_server(server_id)
        return found is not None and 'No valid host' in found.fault

    def test_what_the_draft_names_has_to_be_there(self) -> None:
        for wanted in (
            {'flavor_id': 'nobody'},
            {'metadata': {'ä': '1'}},
            {'scheduler_hints': {'group': contracts.NOBODY}},
        ):
            draft = self.backend.draft(**wanted)
            error = self.assertRaises(exceptions.Permanent, self.compute.create_server, draft)
            self.assertIs(exceptions.Permanent, type(error))

    def test_a_quota_that_is_used_up(self) -> None:
        for resource in ('cores', 'instances'):
            with self.backend.poor(resource) as compute:
                self.assertRaises(base.CloudQuota, compute.create_server, self.backend.draft())

    def test_shelved_and_back(self) -> None:
        server_id = self.make(host=self.backend.hosts[0])
        self.still(server_id, 'ACTIVE')
        self.backend.slow('server_action')
        self.compute.shelve_server(server_id)
        self.compute.shelve_server(server_id)
        offloaded = self.until_offloaded(server_id)
        self.assertEqual('', offloaded.hypervisor_hostname)
        for host in self.backend.hosts:
            self.assertNotIn(server_id, [each.id for each in self.compute.list_servers(host)])
        self.assertIn(offloaded, self.compute.list_servers_of_flavor(offloaded.flavor_id))
        self.compute.shelve_server(server_id)
        self.compute.offload_server(server_id)
        for verb in (self.compute.stop_server, self.compute.start_server):
            self.assertRaises(base.CloudConflict, verb, server_id)
        self.assertRaises(base.CloudConflict, self.compute.create_image, server_id, 'x')
        self.compute.unshelve_server(server_id)
        self.compute.unshelve_server(server_id)
        back = until(lambda: self.settled(server_id, 'ACTIVE'), self.backend.patience, 'it is back')
        self.assertTrue(back.host)
        self.compute.unshelve_server(server_id)

    def test_put_back_onto_a_host_of_our_choice(self) -> None:
        here, there = self.backend.hosts[:2]
        server_id = self.make(host=here)
        self.still(server_id, 'ACTIVE')
        self.compute.shelve_server(server_id)
        self.until_offloaded(server_id)
        error = self.assertRaises(
            exceptions.Permanent, self.compute.unshelve_server, server_id, 'nobody'
        )
        self.assertIs(exceptions.Permanent, type(error))
        self.assertIsNotNone(self.settled(server_id, 'SHELVED_OFFLOADED'))
        self.compute.unshelve_server(server_id, there)
        self.compute.unshelve_server(server_id, there)
        back = until(lambda: self.settled(server_id, 'ACTIVE'), self.backend.patience, 'it is back')
        self.assertEqual(there, back.host)
        self.compute.unshelve_server(server_id, there)

    def test_those_of_a_project_are_listed(self) -> None:
        made = self.still(self.make(host=self.backend.hosts[0]), 'ACTIVE')
        mine = self.compute.list_servers_of_project(made.project_id)
        self.assertIn(made, mine)
        self.assertEqual({made.project_id}, {each.project_id for each in mine})
        self.assertEqual((), self.compute.list_servers_of_project(contracts.NOBODY))

    def settled(self, server_id: str, status: str) -> base.Server | None:
        """Return a server if it has this status and nothing is done with it."""
        found = present(self.compute.find_server(server_id))
        return found if (found.status, found.task_state) == (status, None) else None

    def until_offloaded(self, server_id: str) -> base.Server:
        """Wait until a server is off its host, which Nova reports an instant later."""

        def offloaded() -> base.Server | None:
            found = self.settled(server_id, 'SHELVED_OFFLOADED')
            return found if found and not found.host else None

        return until(offloaded, self.backend.patience, 'the server is off its host')

    def test_a_shelved_server_holds_nothing_and_its_image_goes_with_it(self) -> None:
        server_id = self.make(host=self.backend.hosts[0])
        root = self.still(server_id, 'ACTIVE').hypervisor_hostname
        provider = present(self.placement.find_provider(root))

        def holds() -> bool:
            held = self.placement.allocations(provider.uuid)
            return server_id in [each.consumer_id for each in held]

        self.assertTrue(holds())
        self.compute.shelve_server(server_id)
        self.until_offloaded(server_id)
        until(lambda: not holds(), self.backend.patience, 'the server holds nothing')
        images = self.backend.cloud.image
        mine = {'instance_uuid': server_id}
        self.assertEqual(1, len(images.list_images(properties=mine)))
        self.gone(server_id)
        until(
            lambda: not images.list_images(properties=mine), self.backend.patience, 'it is gone too'
        )

    def test_suspended_resumed_stopped_and_started(self) -> None:
        server_id = self.make(host=self.backend.hosts[0])
        self.still(server_id, 'ACTIVE')
        self.backend.slow('server_action')
        for verb, status in (
            (self.compute.suspend_server, 'SUSPENDED'),
            (self.compute.resume_server, 'ACTIVE'),
            (self.compute.stop_server, 'SHUTOFF'),
            (self.compute.start_server, 'ACTIVE'),
        ):
            verb(server_id)
            verb(server_id)
            self.still(server_id, status)
            verb(server_id)
            self.still(server_id, status)

    def test_what_does_not_fit_its_state_is_a_conflict(self) -> None:
        server_id = self.make(host=self.backend.hosts[0])
        self.still(server_id, 'ACTIVE')
        self.assertRaises(base.CloudConflict, self.compute.offload_server, server_id)
        self.compute.suspend_server(server_id)
        self.still(server_id, 'SUSPENDED')
        for verb in (
            self.compute.stop_server,
            self.compute.start_server,
            self.compute.unshelve_server,
            self.compute.offload_server,
        ):
            self.assertRaises(base.CloudConflict, verb, server_id)

    def test_nothing_is_done_with_what_is_not_there(self) -> None:
        for verb in (
            self.compute.shelve_server,
            self.compute.offload_server,
            self.compute.unshelve_server,
            self.compute.suspend_server,
            self.compute.resume_server,
            self.compute.stop_server,
            self.compute.start_server,
        ):
            self.assertRaises(base.CloudNotFound, verb, contracts.NOBODY)

    def test_an_answer_that_was_lost(self) -> None:
        server_id = self.make(host=self.backend.hosts[0])
        self.still(server_id, 'ACTIVE')
        self.lost('compute.stop_server', self.compute.stop_server, server_id)
        self.compute.stop_server(server_id)
        self.still(server_id, 'SHUTOFF')


class ImageContract(contracts.Contract):
    """Images of servers."""

    def setUp(self) -> None:
        super().setUp()
        self.images = self.backend.cloud.image

    def image(self, server_id: str, name: str = 'reserved_vm') -> str:
        """Begin to make an image that goes away after the test."""
        image_id = self.compute.create_image(server_id, name)
        self.addCleanup(self.images.delete_image, image_id)
        return image_id

    def active(self, image_id: str) -> base.Image:
        """Wait until an image is active."""

        def found() -> base.Image | None:
            image = present(self.images.find_image(image_id))
            return image if image.status == 'active' else None

        return until(found, self.backend.patience, 'the image is active')

    def test_of_a_server_becomes_active_and_is_found(self) -> None:
        server_id = self.boot(self.backend.hosts[0])
        self.backend.slow('image')
        image_id = self.image(server_id, backends.unique('reserved'))
        early = present(self.images.find_image(image_id))
        self.assertIn(early.status, ('queued', 'saving', 'active'))
        image = self.active(image_id)
        server = self.backend.until_still(server_id)
        self.assertEqual((image_id, server.project_id), (image.id, image.owner))
        self.assertEqual(server_id, image.properties['instance_uuid'])
        facts = {'name': image.name, 'owner': image.owner}
        facts['properties'] = {'instance_uuid': server_id}
        for wanted in (*({name: value} for name, value in facts.items()), facts):
            self.assertIn(image, self.images.list_images(**wanted))
        self.assertEqual((), self.images.list_images(name=image.name, owner=contracts.NOBODY))
        self.gone(server_id)
        self.assertEqual(image, self.images.find_image(image_id))

    def test_of_a_server_there_may_be_many(self) -> None:
        server_id = self.boot(self.backend.hosts[0])
        first = self.image(server_id)
        self.backend.until_still(server_id)
        second = self.image(server_id)
        self.backend.until_still(server_id)
        self.assertNotEqual(first, second)
        listed = self.images.list_images(properties={'instance_uuid': server_id})
        self.assertEqual(sorted((first, second)), [image.id for image in listed])

    def test_belongs_to_the_caller_and_is_given_to_another_project(self) -> None:
        server_id = self.boot(self.backend.hosts[0])
        image_id = self.image(server_id)
        self.assertNotEqual(self.backend.other_project, self.images.find_image(image_id).owner)
        wanted = {'properties': {'instance_uuid': server_id}, 'own': True}
        self.assertEqual([image_id], [image.id for image in self.images.list_images(**wanted)])
        for _ in range(2):
            self.images.give_image(image_id, self.backend.other_project)
            self.assertEqual(self.backend.other_project, self.images.find_image(image_id).owner)
            self.assertEqual((), self.images.list_images(**wanted))
        self.assertEqual(self.backend.other_project, self.active(image_id).owner)
        self.lost('image.give_image', self.images.give_image, image_id, contracts.NOBODY)
        self.assertEqual(contracts.NOBODY, self.images.find_image(image_id).owner)

    def test_deleted_and_again(self) -> None:
        server_id = self.boot(self.backend.hosts[0])
        image_id = self.image(server_id)
        self.active(image_id)
        self.backend.until_still(server_id)
        for _ in range(2):
            self.images.delete_image(image_id)
            self.assertIsNone(self.images.find_image(image_id))

    def test_what_is_not_there(self) -> None:
        self.assertIsNone(self.images.find_image(contracts.NOBODY))
        self.images.delete_image(contracts.NOBODY)
        give = self.images.give_image
        self.assertRaises(base.CloudNotFound, give, contracts.NOBODY, contracts.NOBODY)
        self.assertEqual((), self.images.list_images(name=backends.unique()))

    def test_nova_is_busy_while_it_is_made_and_drops_it_if_the_server_goes(self) -> None:
        self.backend.slow('image')
        server_id = self.boot(self.backend.hosts[0])
        image_id = self.image(server_id)
        self.assertRaises(base.CloudConflict, self.image, server_id)
        self.gone(server_id)

        def decided() -> bool:
            image = self.images.find_image(image_id)
            return image is None or image.status == 'active'

        until(decided, self.backend.patience, 'the image is gone, or was quicker')

    def test_deleted_although_the_answer_was_lost(self) -> None:
        image_id = self.image(self.boot(self.backend.hosts[0]))
        self.active(image_id)
        self.lost('image.delete_image', self.images.delete_image, image_id)
        self.assertIsNone(self.images.find_image(image_id))
        self.images.delete_image(image_id)
