# SPDX-License-Identifier: Apache-2.0

"""What can be asked for about volumes and pools, and how it is kept."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from climate import exceptions
from climate.cloud.base import Source
from climate.domain.leases import Reservation
from climate.plugins.storage.plugin import PhysicalStorage
from climate.plugins.volume.plugin import VirtualVolume
from climate.plugins.volume.steps import VolumeSteps
from tests import base

VOLUMES, POOLS = VirtualVolume(), PhysicalStorage()
STEPS = ('snapshot', 'backup', 'detach', 'delete')
NEW: dict[str, Any] = {'size': 1}
VOLUME = 'c5a50c4b-7d4f-4f5e-9d2b-0c6c27b0b0d1'

# Words that are read, and words that are not.
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 200),
    st.text(max_size=5),
    st.sampled_from(['1', '100', '2147483648', 'true', 'backup', 'backup,delete', '\x00']),
    st.lists(st.one_of(st.sampled_from(STEPS), st.integers(), st.none()), max_size=5),
    st.dictionaries(st.text(max_size=2), st.none(), max_size=1),
)
keys = sorted(set(VirtualVolume.request_schema['properties']) - {'resource_type'})
bodies = st.dictionaries(st.sampled_from(keys), values, max_size=6)


def read(value: Any, known: tuple[str, ...]) -> Any:
    """Return steps as they are read."""
    return VolumeSteps('', words=known).of({'on_end': value}, 'on_end')


class RequestTest(base.TestCase):
    """``virtual:volume``."""

    @given(bodies)
    def test_whatever_is_read_is_kept_and_shown(self, body: dict[str, Any]) -> None:
        try:
            request = VOLUMES.parse(body)
        except exceptions.InvalidInput:
            return
        self.assertEqual(request, VOLUMES.load(VOLUMES.dump(request)))
        self.assertEqual(bool(request.volume_id), bool(VOLUMES.things(request)))
        search = VOLUMES.search(request)
        self.assertEqual(search.minimum, search.maximum)
        shown = VOLUMES.describe(
            Reservation(id='r', lease_id='l', resource_type='x', request=VOLUMES.dump(request))
        )
        again = {
            key: value
            for key, value in shown.items()
            if key in keys and (not request.volume_id or key in ('volume_id', 'on_end'))
        }
        self.assertEqual(request, VOLUMES.parse(again, strict=True))

    def test_blank_sources_name_nothing(self) -> None:
        request = VOLUMES.parse({**NEW, 'snapshot_id': ' ', 'image_id': VOLUME})
        self.assertEqual(VOLUME, request.image_id)
        self.assertIsNone(VOLUMES.parse({**NEW, 'snapshot_id': ' ', 'image_id': ' '}).source)
        with self.assertRaisesRegex(exceptions.MalformedParameter, 'one thing only'):
            VOLUMES.parse({**NEW, 'snapshot_id': VOLUME, 'image_id': VOLUME})

    @given(bodies, bodies, st.booleans())
    def test_no_change_takes_what_was_promised(
        self, body: dict[str, Any], change: dict[str, Any], running: bool
    ) -> None:
        try:
            request = VOLUMES.parse({**NEW, **body})
            changed = VOLUMES.change(request, change, running=running)
        except (exceptions.InvalidInput, exceptions.CantUpdateParameter):
            return
        self.assertEqual((request.volume_id, request.source), (changed.volume_id, changed.source))
        self.assertLessEqual(VOLUMES.roles(changed), VOLUMES.roles(request))
        if running:
            self.assertLessEqual(request.amount, changed.amount)
            self.assertEqual(request.size, changed.size)
        self.assertEqual(changed, VOLUMES.change(changed, change, running=running))

    @given(st.lists(st.sampled_from(STEPS), max_size=5))
    def test_no_list_of_steps_deletes_what_it_has_just_saved(self, steps: list[str]) -> None:
        for known in (STEPS, ('backup', 'detach', 'delete')):
            try:
                found = read(steps, known)
            except exceptions.MalformedParameter as error:
                self.assertIn('on_end', error.message)
                continue
            self.assertEqual(tuple(steps), found)
            self.assertEqual(found, read(','.join(steps), known))
            self.assertEqual(len(found), len(set(found)))
            if 'delete' in found:
                self.assertEqual('delete', found[-1])
                self.assertNotIn('snapshot', found)

    def test_a_trust_is_made_only_where_it_is_needed(self) -> None:
        for body, needed in (
            (NEW, True),
            ({'volume_id': VOLUME}, False),
            ({'volume_id': VOLUME, 'on_end': 'detach,delete'}, False),
            ({'volume_id': VOLUME, 'on_end': 'snapshot'}, True),
        ):
            self.assertEqual(needed, bool(VOLUMES.roles(VOLUMES.parse(body))), body)
        for steps, needed in ((None, False), ('backup,delete', True)):
            request = POOLS.parse({'min': 1, 'max': 1, 'on_end': steps})
            self.assertEqual(needed, bool(POOLS.roles(request)))

    def test_ids_are_written_in_one_way(self) -> None:
        """No text is pasted into an address, and none names a volume a second time."""
        sources = ('snapshot_id', 'image_id', 'source_volid')
        for text in (VOLUME, VOLUME.upper(), f' {VOLUME} ', VOLUME.replace('-', '')):
            self.assertEqual(VOLUME, VOLUMES.parse({'volume_id': text}).volume_id)
            for key in sources:
                source = VOLUMES.parse({**NEW, key: text}).source
                self.assertEqual(VOLUME, getattr(source, 'id', None))
        for text in ('../../other/volumes/x', f'{VOLUME}#2', f'{VOLUME}/', 'v', 7, f'{VOLUME}\n?'):
            for key in ('volume_id', *sources):
                with self.assertRaisesRegex(exceptions.MalformedParameter, key):
                    VOLUMES.parse({key: text} if key == 'volume_id' else {**NEW, key: text})

    def test_names_have_one_line(self) -> None:
        for name in ('a\nb', '\x1b[2J', 'a\u2028b', '\x7f', '\x85'):
            for key in ('name', 'volume_type', 'availability_zone'):
                with self.assertRaisesRegex(exceptions.MalformedParameter, f'{key}.*control'):
                    VOLUMES.parse({**NEW, key: name})
        self.assertEqual('Größe 1', VOLUMES.parse({**NEW, 'name': 'Größe 1'}).name)

    def test_defaults(self) -> None:
        self.assert_has(
            VOLUMES.parse({'snapshot_id': VOLUME}),
            size=0,
            amount=1,
            guarantee=True,
            on_end=('delete',),
            source=Source(kind='snapshot', id=VOLUME),
        )
        # What was there before is not deleted by default.
        self.assertEqual((), VOLUMES.parse({'volume_id': VOLUME}).on_end)

    def test_room_is_searched_for_where_volumes_of_the_type_lie(self) -> None:
        request = VOLUMES.load(
            {
                **VOLUMES.dump(VOLUMES.parse({'size': 7, 'amount': 3})),
                'backend': {'volume_backend_name': 'gold', 'pool_name': 'one'},
            }
        )
        search = VOLUMES.search(request)
        expected = ('physical:storage', 3, {'DISK_GB': 7})
        self.assertEqual(expected, (search.resource_type, search.minimum, dict(search.demand)))
        self.assertIn('gold', repr(search.requirement))
        self.assertIn('one', repr(search.requirement))


class PoolRequestTest(base.TestCase):
    """``physical:storage``."""

    @given(
        st.dictionaries(
            st.sampled_from(sorted(set(POOLS.request_schema['properties']) - {'resource_type'})),
            values,
        )
    )
    def test_whatever_is_read_is_kept(self, body: dict[str, Any]) -> None:
        try:
            request = POOLS.parse({'min': 1, 'max': 2, **body})
        except (exceptions.InvalidInput, exceptions.InvalidRange):
            return
        self.assertEqual(request, POOLS.load(POOLS.dump(request)))
        self.assertEqual(request, POOLS.change(request, POOLS.dump(request), strict=True))
        search = POOLS.search(request)
        self.assertEqual((request.minimum, request.maximum), (search.minimum, search.maximum))
