# SPDX-License-Identifier: Apache-2.0

"""Users in projects of their own, who come, lose rights and go."""

from __future__ import annotations

import abc
import uuid
from typing import Any

from keystoneauth1 import adapter as ksa_adapter
from keystoneauth1 import exceptions as ksa
from keystoneauth1 import loading as ks_loading
from keystoneauth1 import session as ksa_session
from keystoneauth1.identity import v3
from oslo_config import cfg

from climate import simulator

PASSWORD = 'does not matter'


class Person(abc.ABC):
    """A user with roles in a project that nobody else is in.

    :ivar user_id: of the user
    :ivar project_id: of the project
    :ivar token: as the user sends it to Climate
    """

    user_id: str
    project_id: str
    token: str

    @abc.abstractmethod
    def lose_roles(self) -> None:
        """Be removed from the project."""

    @abc.abstractmethod
    def enable(self, *, user: bool = True, project: bool = True) -> None:
        """Enable or disable user and project."""

    @abc.abstractmethod
    def set_email(self, email: str) -> None:
        """Have an address; '' for none."""

    @abc.abstractmethod
    def delete_user(self) -> None:
        """Let the user be gone; fine if it is."""

    @abc.abstractmethod
    def delete_project(self) -> None:
        """Let the project be gone; fine if it is."""

    def remove(self) -> None:
        """Leave nothing."""
        self.delete_user()
        self.delete_project()


class SimulatedPerson(Person):
    """Somebody who is known to a cloud."""

    def __init__(self, cloud: simulator.SimulatedCloud, *roles: str) -> None:
        self._cloud = cloud
        self.user_id, self.project_id = uuid.uuid4().hex, uuid.uuid4().hex
        self.token = cloud.put_member(self.user_id, self.project_id, *roles)

    def lose_roles(self) -> None:
        """Be removed from the project."""
        self._cloud.put_member(self.user_id, self.project_id)

    def enable(self, *, user: bool = True, project: bool = True) -> None:
        """Enable or disable user and project."""
        self._cloud.set_enabled(user_id=self.user_id, enabled=user)
        self._cloud.set_enabled(project_id=self.project_id, enabled=project)

    def set_email(self, email: str) -> None:
        """Have an address; '' for none."""
        self._cloud.set_email(self.user_id, email)

    def delete_user(self) -> None:
        """Let the user be gone."""
        self._cloud.remove_user(self.user_id)

    def delete_project(self) -> None:
        """Let the project be gone."""
        self._cloud.remove_project(self.project_id)


class RealPerson(Person):
    """Somebody who is known to a real Keystone.

    :param conf: whose [nova] may make users and projects
    """

    def __init__(self, conf: cfg.ConfigOpts, *roles: str) -> None:
        auth = ks_loading.load_auth_from_conf_options(conf, 'nova')
        session = ks_loading.load_session_from_conf_options(conf, 'nova', auth=auth)
        self._keystone: Any = ksa_adapter.Adapter(
            session=session, service_type='identity', version='3', interface='public'
        )
        name = f'contract-{uuid.uuid4()}'
        self.project_id = self._make('project', name=name)
        self.user_id = self._make('user', name=name, password=PASSWORD)
        ids = {role['name']: role['id'] for role in self._keystone.get('/roles').json()['roles']}
        self._grants = [
            f'/projects/{self.project_id}/users/{self.user_id}/roles/{ids[name]}' for name in roles
        ]
        for grant in self._grants:
            self._keystone.put(grant)
        theirs = v3.Password(
            auth_url=conf.nova.auth_url,
            user_id=self.user_id,
            password=PASSWORD,
            project_id=self.project_id,
        )
        self.token = ksa_session.Session(auth=theirs).get_token()

    def _make(self, kind: str, **values: object) -> str:
        body = {kind: {'domain_id': 'default', **values}}
        return str(self._keystone.post(f'/{kind}s', json=body).json()[kind]['id'])

    def _delete(self, path: str) -> None:
        try:
            self._keystone.delete(path)
        except ksa.NotFound:
            return

    def lose_roles(self) -> None:
        """Be removed from the project."""
        for grant in self._grants:
            self._keystone.delete(grant)

    def enable(self, *, user: bool = True, project: bool = True) -> None:
        """Enable or disable user and project."""
        self._keystone.patch(f'/users/{self.user_id}', json={'user': {'enabled': user}})
        self._keystone.patch(f'/projects/{self.project_id}', json={'project': {'enabled': project}})

    def set_email(self, email: str) -> None:
        """Have an address; '' for none."""
        self._keystone.patch(f'/users/{self.user_id}', json={'user': {'email': email}})

    def delete_user(self) -> None:
        """Let the user be gone."""
        self._delete(f'/users/{self.user_id}')

    def delete_project(self) -> None:
        """Let the project be gone."""
        self._delete(f'/projects/{self.project_id}')
