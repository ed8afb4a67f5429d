# SPDX-License-Identifier: Apache-2.0

"""What every client of Keystone is held to."""

from __future__ import annotations

import dataclasses
import datetime
import secrets
from typing import Any

from climate import exceptions
from climate.cloud import base
from climate.cloud.protocols.trusts import Trust
from tests import waiting
from tests.contract import contracts
from tests.contract import people
from tests.narrowing import present

SOON = datetime.timedelta(seconds=4)
MEMBER = frozenset({'member'})


def later() -> datetime.datetime:
    """Return an instant at which no other trust of a test expires."""
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    return now + datetime.timedelta(days=1, seconds=secrets.randbelow(10_000))


class IdentityCase(contracts.Contract):
    """Opens a backend with a user in it."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud: base.Cloud = self.backend.cloud
        self.identity = self.cloud.identity
        self.person = self.somebody('member', 'reader')

    def somebody(self, *roles: str) -> people.Person:
        """Return a new user in a new project, until the end of the test."""
        made: people.Person = self.backend.person(*roles)
        self.addCleanup(made.remove)
        return made

    def trust(self, **wanted: Any) -> Trust:
        """Let the person trust us."""
        made = self.identity.create_trust(self.person.token, **({'roles': MEMBER} | wanted))
        self.addCleanup(self.identity.delete_trust, made.id)
        return made


class TrustContract(IdentityCase):
    """create_trust, find_trust, list_trusts, delete_trust."""

    def test_made_found_and_deleted_and_again(self) -> None:
        made = self.trust()
        mine = {'trustor_user_id': self.person.user_id, 'project_id': self.person.project_id}
        self.assert_has(made, **mine, roles=('member',), expires_at=None)
        self.assertEqual(made, self.identity.find_trust(made.id))
        for _ in range(2):
            self.identity.delete_trust(made.id)
            self.assertIsNone(self.identity.find_trust(made.id))

    def test_each_is_another_one(self) -> None:
        self.assertNotEqual(self.trust().id, self.trust().id)

    def test_it_is_for_the_roles_that_are_named(self) -> None:
        made = self.trust(roles=frozenset({'reader', 'member'}))
        self.assertEqual(('member', 'reader'), made.roles)

    def test_no_user_delegates_a_missing_role(self) -> None:
        for role in ('admin', 'no-such-role'):
            self.assertRaises(base.CloudNotFound, self.trust, roles=frozenset({role}))

    def test_no_trust_without_a_role(self) -> None:
        self.assertRaises(exceptions.Permanent, self.trust, roles=frozenset())

    def test_no_trust_of_a_user_without_a_token(self) -> None:
        for token in ('nonsense', 'gAAAAAB' + 'x' * 100):
            error = self.assertRaises(
                exceptions.Permanent, self.identity.create_trust, token, roles=MEMBER
            )
            self.assertNotIn(token, error.message)

    def test_not_one_that_has_expired(self) -> None:
        past = datetime.datetime.now(datetime.UTC) - SOON
        self.assertRaises(exceptions.Permanent, self.trust, expires_at=past)

    def test_deleted_although_the_answer_was_lost(self) -> None:
        made = self.trust()
        self.lost('identity.delete_trust', self.identity.delete_trust, made.id)
        self.assertIsNone(self.identity.find_trust(made.id))
        self.identity.delete_trust(made.id)

    def test_made_although_the_answer_was_lost(self) -> None:
        self.backend.lose_answer('identity.create_trust')
        self.assertRaises(exceptions.Transient, self.trust)
        self.assertIsNotNone(self.identity.find_trust(self.trust().id))

    def test_each_is_listed_until_it_is_deleted(self) -> None:
        made = [
            self.trust(),
            self.trust(expires_at=later()),
            self.trust(roles=frozenset({'member', 'reader'})),
        ]
        listed = self.identity.list_trusts()
        ids = [found.id for found in listed]
        self.assertEqual(sorted(set(ids)), ids)
        # Keystone lists no roles.
        wanted = {dataclasses.replace(trust, roles=()) for trust in made}
        self.assertEqual(set(), wanted - set(listed))
        self.identity.delete_trust(made[0].id)
        left = {found.id for found in self.identity.list_trusts()}
        self.assertEqual(
            [False, True, True], [trust.id in left for trust in made], 'only one was deleted'
        )

    def test_one_whose_answer_was_lost_is_listed(self) -> None:
        before, expires_at = self.identity.list_trusts(), later()
        self.backend.lose_answer('identity.create_trust')
        self.assertRaises(exceptions.Transient, self.trust, expires_at=expires_at)
        (made,) = set(self.identity.list_trusts()) - set(before)
        self.addCleanup(self.identity.delete_trust, made.id)
        mine = {'trustor_user_id': self.person.user_id, 'project_id': self.person.project_id}
        self.assert_has(made, **mine, expires_at=expires_at)


class ActingContract(IdentityCase):
    """What is done in the name of a user who trusts us."""

    def act(self, trust: Trust) -> None:
        """Do something in the name of the person."""
        self.assertIsNone(self.cloud.acting_for(trust.id).orchestration.find_stack('nobody'))

    def refused(self, trust: Trust) -> None:
        """Check that nothing can be done in the name of the person."""
        heat = self.cloud.acting_for(trust.id).orchestration
        for verb in (heat.find_stack, heat.suspend_stack, heat.delete_stack):
            error = self.assertRaises(base.TrustLost, verb, contracts.NOBODY)
            # It gets into notifications, where ids of trusts have no business.
            self.assertNotIn(trust.id, error.message)
            self.assertIn('trust', error.message)

    def test_it_expires(self) -> None:
        now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
        made = self.trust(expires_at=now + SOON)
        self.assertEqual(now + SOON, made.expires_at)
        waiting.until(
            lambda: self.identity.find_trust(made.id) is None, 20, 'the trust has expired'
        )
        self.refused(made)
        self.identity.delete_trust(made.id)

    def test_who_is_trusted_can_act(self) -> None:
        made = self.trust()
        for _ in range(2):
            self.act(made)

    def test_a_deleted_trust_is_refused(self) -> None:
        made = self.trust()
        self.identity.delete_trust(made.id)
        self.refused(made)

    def test_a_trust_of_a_deleted_user_is_refused(self) -> None:
        made = self.trust()
        self.person.delete_user()
        self.refused(made)

    def test_a_trust_in_a_deleted_project_is_refused(self) -> None:
        made = self.trust()
        self.person.delete_project()
        self.refused(made)

    def test_a_trust_of_a_user_who_left_the_project_is_refused(self) -> None:
        made = self.trust()
        self.person.lose_roles()
        self.refused(made)
        self.assertEqual(made, self.identity.find_trust(made.id))

    def test_a_trust_of_a_disabled_user_or_project_is_refused(self) -> None:
        made = self.trust()
        for user, project in ((False, True), (True, False)):
            self.person.enable(user=user, project=project)
            self.refused(made)
        self.person.enable()
        # What was said within the second in which Keystone took tokens back
        # counts as taken back too.
        waiting.until(lambda: self.acts(made), self.backend.patience, 'the person can be acted for')

    def acts(self, trust: Trust) -> bool:
        """Return whether something can be done in the name of the person."""
        try:
            self.act(trust)
        except exceptions.Transient:
            return False
        return True


class MemberContract(IdentityCase):
    """find_user, find_project, list_roles."""

    def test_users_and_projects_are_found(self) -> None:
        user = self.identity.find_user(self.person.user_id)
        project = self.identity.find_project(self.person.project_id)
        assert user is not None
        assert project is not None
        self.assertEqual((self.person.user_id, True), (user.id, user.enabled))
        self.assertEqual((self.person.project_id, True), (project.id, project.enabled))
        self.assertTrue(user.name)
        self.assertTrue(project.name)

    def test_whether_they_are_enabled_is_reported(self) -> None:
        self.person.enable(user=False, project=False)
        user = self.identity.find_user(self.person.user_id)
        project = self.identity.find_project(self.person.project_id)
        assert user is not None
        self.assertEqual((False, False), (user.enabled, project.enabled))

    def test_the_address_of_a_user(self) -> None:
        for address in ('', 'alice@example.org', 'no address at all', ''):
            if address or self.email():
                self.person.set_email(address)
            self.assertEqual(address, self.email())

    def email(self) -> str:
        """Return the address of the person."""
        return present(self.identity.find_user(self.person.user_id)).email

    def test_what_is_not_there_is_none(self) -> None:
        for nobody in (contracts.NOBODY, 'a/b?c=d', 'ä%'):
            self.assertIsNone(self.identity.find_user(nobody))
            self.assertIsNone(self.identity.find_project(nobody))
            self.assertIsNone(self.identity.find_trust(nobody))
            self.identity.delete_trust(nobody)

    def test_roles_and_what_they_imply(self) -> None:
        other = self.somebody('member')
        roles = self.identity.list_roles
        self.assertEqual({'member', 'reader'}, roles(other.user_id, other.project_id))
        self.assertEqual(frozenset(), roles(self.person.user_id, other.project_id))

    def test_who_left_the_project_has_none(self) -> None:
        self.person.lose_roles()
        roles = self.identity.list_roles
        self.assertEqual(frozenset(), roles(self.person.user_id, self.person.project_id))
        self.person.delete_project()
        self.assertEqual(frozenset(), roles(self.person.user_id, self.person.project_id))
        self.person.delete_user()
        self.assertEqual(frozenset(), roles(self.person.user_id, self.person.project_id))
        self.assertIsNone(self.identity.find_user(self.person.user_id))

    def test_a_busy_keystone_is_transient(self) -> None:
        for status in (503, 429):
            self.backend.disturb('identity.find_user', 'status', status=status)
            self.assertRaises(exceptions.Transient, self.identity.find_user, self.person.user_id)
        self.assertIsNotNone(self.identity.find_user(self.person.user_id))

    def test_an_unavailable_keystone_is_transient(self) -> None:
        self.identity.find_user(self.person.user_id)
        with self.backend.away('identity'):
            self.assertRaises(exceptions.Transient, self.identity.find_user, self.person.user_id)
        self.assertIsNotNone(self.identity.find_user(self.person.user_id))


class CallerContract(IdentityCase):
    """The cloud of somebody who calls us."""

    def test_the_caller_acts_for_themselves(self) -> None:
        cloud = self.cloud.of_caller(self.person.token)
        self.assertIsNone(cloud.orchestration.find_stack('nobody'))

    def test_we_act_for_ourselves_again(self) -> None:
        cloud = self.cloud.of_caller('nonsense').as_service()
        self.assertIsNone(cloud.orchestration.find_stack('nobody'))

    def test_a_token_that_is_not_valid_is_refused(self) -> None:
        for token in ('nonsense', 'gAAAAAB' + 'x' * 100):
            verb = self.cloud.of_caller(token).orchestration.find_stack
            error = self.assertRaises(exceptions.Permanent, verb, 'nobody')
            self.assertNotIn(token, f'{error!r} {error.message}')

    def test_nothing_reveals_the_token(self) -> None:
        cloud = self.cloud.of_caller(self.person.token)
        cloud.orchestration.find_stack('nobody')
        self.assertNotIn(self.person.token, f'{cloud!r} {vars(type(cloud))!r}')


class IdentityContract(TrustContract, ActingContract, MemberContract, CallerContract):
    """Every verb of Identity, and what follows of it."""
