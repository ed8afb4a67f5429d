# SPDX-License-Identifier: Apache-2.0

"""What every client of Cinder is held to about volume types and pools."""

from __future__ import annotations

from climate import exceptions
from climate.cloud import base
from tests.contract import backends
from tests.contract import contracts
from tests.contract import volume_contracts
from tests.narrowing import present


class VolumeTypeContract(volume_contracts.StorageContract):
    """Volume types and pools."""

    def kind(self, **specs: str) -> base.VolumeType:
        """Make a private type."""
        made = self.volume.create_volume_type(backends.unique(), specs)
        self.addCleanup(self.volume.delete_volume_type, made.id)
        return made

    def test_made_private_found_and_deleted_and_again(self) -> None:
        specs = {'volume_backend_name': 'somewhere', 'pool_name': 'some'}
        made = self.kind(**specs)
        self.assertEqual((False, specs), (made.public, made.extra_specs))
        self.assertEqual(made, self.volume.find_volume_type(made.name))
        listed = self.volume.list_volume_types()
        self.assertIn(made, listed)
        self.assertEqual(sorted(item.name for item in listed), [item.name for item in listed])
        for _ in range(2):
            self.volume.delete_volume_type(made.id)
            self.assertIsNone(self.volume.find_volume_type(made.name))

    def test_names_are_unique(self) -> None:
        self.refused(base.CloudConflict, self.volume.create_volume_type, self.kind().name, {})

    def test_projects_are_let_in_and_out_and_again(self) -> None:
        made = self.kind()
        one, two = '1' * 32, '2' * 32
        self.assertEqual((), self.volume.list_volume_type_projects(made.id))
        for _ in range(2):
            self.volume.allow_volume_type(made.id, two)
            self.volume.allow_volume_type(made.id, one)
            self.assertEqual((one, two), self.volume.list_volume_type_projects(made.id))
        for _ in range(2):
            self.volume.forbid_volume_type(made.id, one)
            self.assertEqual((two,), self.volume.list_volume_type_projects(made.id))

    def test_no_project_gets_access_to_a_missing_type(self) -> None:
        nobody = contracts.NOBODY
        self.refused(base.CloudNotFound, self.volume.allow_volume_type, nobody, '1' * 32)
        self.refused(base.CloudNotFound, self.volume.list_volume_type_projects, nobody)
        self.volume.forbid_volume_type(nobody, '1' * 32)
        self.assertIsNone(self.volume.find_volume_type(backends.unique()))

    def test_every_project_has_access_to_a_public_type(self) -> None:
        found = present(self.volume.find_volume_type(self.made().volume_type))
        self.assertTrue(found.public)
        project = '1' * 32
        self.refused(base.CloudNotFound, self.volume.list_volume_type_projects, found.id)
        self.refused(exceptions.Permanent, self.volume.allow_volume_type, found.id, project)
        self.refused(exceptions.Permanent, self.volume.forbid_volume_type, found.id, project)

    def test_made_allowed_and_deleted_although_the_answer_was_lost(self) -> None:
        name = backends.unique()
        create, allow = self.volume.create_volume_type, self.volume.allow_volume_type
        self.lost('volume.create_volume_type', create, name, {})
        found = present(self.volume.find_volume_type(name))
        self.refused(base.CloudConflict, create, name, {})
        self.lost('volume.allow_volume_type', allow, found.id, '1' * 32)
        allow(found.id, '1' * 32)
        self.lost('volume.delete_volume_type', self.volume.delete_volume_type, found.id)
        self.volume.delete_volume_type(found.id)

    def test_pools_are_reported_by_name(self) -> None:
        pools = self.volume.list_pools()
        self.assertTrue(pools)
        self.assertEqual(sorted(pool.name for pool in pools), [pool.name for pool in pools])
        for pool in pools:
            self.assertIn('@', pool.name)
            self.assertTrue(pool.backend_name)
            for size in (pool.allocated_gb, pool.provisioned_gb):
                self.assertIsInstance(size, float)
            for size in (pool.total_gb, pool.free_gb):
                self.assertTrue(size is None or isinstance(size, float))
