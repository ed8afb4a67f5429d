# SPDX-License-Identifier: Apache-2.0

"""Creates missing users, projects, services and endpoints.

Run it with the libraries of the cloud: ``python -m tools.cloud.inside.identity DIR``.
"""

from __future__ import annotations

import sys
from typing import Any

import openstack

from tools.cloud import config
from tools.cloud import state
from tools.cloud.services import sites
from tools.cloud.state import Cloud

# The process, the name and type of the service in the catalog, and the path of its
# endpoint.
_CATALOGUE = (
    ('keystone', 'keystone', 'identity', '/v3'),
    ('placement', 'placement', 'placement', ''),
    ('glance', 'glance', 'image', ''),
    ('nova-api', 'nova', 'compute', '/v2.1'),
    ('neutron', 'neutron', 'network', ''),
    ('cinder-api', 'cinder', 'block-storage', '/v3'),
    ('heat-api', 'heat', 'orchestration', '/v1/%(tenant_id)s'),
    ('climate-api', 'blazar', 'reservation', '/v1'),
)
_INTERFACES = ('public', 'internal', 'admin')


def connect(cloud: Cloud) -> Any:
    """Return a connection as the administrator."""
    return openstack.connect(
        auth_url=cloud.auth_url,
        username='admin',
        password=cloud.password,
        project_name='admin',
        user_domain_name='Default',
        project_domain_name='Default',
        region_name=cloud.region,
        app_name='climate-cloud',
        load_yaml_config=False,
        load_envvars=False,
    )


class Identity:
    """Creates objects in Keystone, unless they exist."""

    def __init__(self, identity: Any, password: str) -> None:
        self._identity = identity
        self._password = password
        self._domain = 'default'
        self._roles = {role.name: role for role in identity.roles()}

    def role(self, name: str) -> Any:
        """Return a role; create it if it is missing."""
        if name not in self._roles:
            self._roles[name] = self._identity.create_role(name=name)
        return self._roles[name]

    def project(self, name: str) -> Any:
        """Return a project; create it if it is missing."""
        found = self._identity.find_project(name, domain_id=self._domain)
        return found or self._identity.create_project(name=name, domain_id=self._domain)

    def user(self, name: str, domain: str | None = None) -> Any:
        """Return a user; create it if it is missing."""
        home = domain or self._domain
        found = self._identity.find_user(name, domain_id=home)
        return found or self._identity.create_user(
            name=name, password=self._password, domain_id=home
        )

    def grant(self, user: Any, project: Any, *roles: str) -> None:
        """Assign roles in *project* to *user*."""
        for name in roles:
            self._identity.assign_project_role_to_user(project, user, self.role(name))

    def heat_domain(self) -> None:
        """Create the domain in which Heat keeps the users of stacks."""
        domain = self._identity.find_domain('heat') or self._identity.create_domain(name='heat')
        user = self.user('heat_domain_admin', domain.id)
        self._identity.assign_domain_role_to_user(domain, user, self.role('admin'))

    def region(self, name: str) -> None:
        """Create a region."""
        if name not in {region.id for region in self._identity.regions()}:
            self._identity.create_region(id=name)

    def catalogue(self, cloud: Cloud) -> None:
        """Create the services, and their endpoints in all regions."""
        services = {service.type: service for service in self._identity.services()}
        present = {
            (each.service_id, each.region_id, each.interface) for each in self._identity.endpoints()
        }
        for process, name, kind, path in _CATALOGUE:
            service = services.get(kind) or self._identity.create_service(name=name, type=kind)
            urls = {
                site.region: site.url(
                    site.of_site(process) if process == 'climate-api' else process
                )
                for site in sites(cloud)
            }
            proxied = {cloud.proxied_region: cloud.proxied_url(process)}
            for region, url in (urls | proxied).items():
                for interface in _INTERFACES:
                    if (service.id, region, interface) not in present:
                        self._identity.create_endpoint(
                            service_id=service.id,
                            interface=interface,
                            region_id=region,
                            url=f'{url}{path}',
                        )


def main() -> None:
    """Create all objects for the cloud in the given directory."""
    cloud = state.load(sys.argv[1])
    identity = Identity(connect(cloud).identity, cloud.password)
    for name in ('service', 'heat_stack_owner', 'heat_stack_user'):
        identity.role(name)
    project = identity.project('service')
    for name in config.SERVICE_USERS:
        identity.grant(identity.user(name), project, 'admin', 'service')
    for site in sites(cloud):
        for name in site.users:
            user = identity.user(site.account(name))
            identity.grant(user, identity.project(site.project(name)), 'member')
        identity.region(site.region)
    identity.heat_domain()
    identity.region(cloud.proxied_region)
    identity.catalogue(cloud)


if __name__ == '__main__':
    main()
