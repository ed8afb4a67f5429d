# SPDX-License-Identifier: Apache-2.0

"""The rules in code, and that they say who may do what by default."""

from __future__ import annotations

from oslo_config import cfg

from climate import policies
from climate.policies import enforcer
from tests import base

ADMIN = {'user_id': 'a', 'project_id': 'ops', 'roles': ['admin', 'member', 'reader']}
MEMBER = {'user_id': 'm', 'project_id': 'p', 'roles': ['member', 'reader']}
READER = {'user_id': 'r', 'project_id': 'p', 'roles': ['reader']}
SERVICE = {'user_id': 'w', 'project_id': 'services', 'roles': ['service']}
NOBODY = {'user_id': 'n', 'project_id': 'p', 'roles': ['other']}
SYSTEM = {'user_id': 's', 'roles': ['admin'], 'system_scope': 'all'}

FOR_ALL = {'climate:me:show'}
FOR_READERS = {
    *FOR_ALL,
    'climate:availability:show',
    'climate:calendar:show',
    'climate:feeds:list',
    'climate:feeds:show',
    'climate:leases:list',
    'climate:leases:show',
    'climate:offers:show',
    'climate:hosts:list',
    'climate:hosts:show',
    'climate:allocations:list',
    'climate:allocations:show',
    'climate:properties:list',
    'climate:queue:show',
    'climate:floatingips:list',
    'climate:floatingips:show',
    'climate:resources:list',
    'climate:resources:show',
    'climate:resourcetypes:list',
    'climate:resourcetypes:show',
}
FOR_MEMBERS = {
    'climate:feeds:create',
    'climate:feeds:delete',
    'climate:webhooks:create',
    'climate:webhooks:delete',
    'climate:webhooks:deliveries',
    'climate:webhooks:list',
    'climate:webhooks:redeliver',
    'climate:webhooks:show',
    'climate:webhooks:test',
    'climate:webhooks:update',
    'climate:leases:create',
    'climate:leases:update',
    'climate:leases:delete',
    'climate:leases:reallocate',
    'climate:offers:create',
    'climate:offers:delete',
}


class RulesTest(base.TestCase):
    """What each persona may do."""

    def setUp(self):
        super().setUp()
        conf = cfg.ConfigOpts()
        conf([])
        self.enforcer = enforcer.make_enforcer(conf)
        self.names = {rule.name for rule in policies.list_rules() if ':' in rule.name}

    def allowed(self, credentials, project_id='p'):
        """Return the names of the rules that let *credentials* pass."""
        target = {'project_id': project_id}
        return {
            name for name in self.names if self.enforcer.authorize(name, target, dict(credentials))
        }

    def test_admin(self):
        self.assertEqual(self.names, self.allowed(ADMIN))

    def test_member(self):
        self.assertEqual(FOR_READERS | FOR_MEMBERS, self.allowed(MEMBER))

    def test_reader(self):
        self.assertEqual(FOR_READERS, self.allowed(READER))

    def test_service(self):
        self.assertEqual({'climate:leases:readiness', *FOR_ALL}, self.allowed(SERVICE))

    def test_others(self):
        self.assertEqual(FOR_ALL, self.allowed(NOBODY))
        self.assertEqual(FOR_ALL, self.allowed(MEMBER, project_id='other'))

    def test_a_token_of_the_system_has_no_project_to_lease_for(self):
        self.assertEqual(set(), self.allowed(SYSTEM))

    def test_the_tools_of_oslo_policy_find_the_rules(self):
        self.assertLessEqual(self.names, set(enforcer.get_enforcer().registered_rules))

    def test_every_rule_says_what_it_guards(self):
        for rule in policies.list_rules():
            self.assertTrue(rule.description, rule.name)
            if rule.name in self.names:
                self.assertTrue(rule.operations, rule.name)
                self.assertRegex(rule.name, r'^climate:[a-z]+:[a-z_]+$')
