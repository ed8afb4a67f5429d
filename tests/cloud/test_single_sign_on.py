# SPDX-License-Identifier: Apache-2.0

"""Single sign-on to the web page, through the WebSSO of a real Keystone.

Keystone and the API of Climate are processes of the test, beside those of the cloud, with the
settings of the page on the web page. What a module of the web server of Keystone reports about a
user who has signed in at the identity provider, the browser sends here.
"""

from __future__ import annotations

import dataclasses
import html
import os
import pathlib
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from typing import Any
from typing import ClassVar
from urllib.parse import parse_qs
from urllib.parse import urlencode
from urllib.parse import urlsplit

import fixtures
import requests

from tests.architecture import ROOT
from tests.cloud import field
from tests.cloud.base import CloudTest
from tests.cloud.house import PATIENCE
from tests.cloud.house import PREFIX
from tests.cloud.people import Person
from tests.cloud.waiting import until
from tests.functional.processes import free_port
from tests.printed import blocks
from tests.printed.blocks import Block
from tests.printed.shell import Place
from tests.printed.shell import Shell
from tools.cloud import services
from tools.cloud.services import Command
from tools.cloud.state import Cloud

PRINTED = ROOT / 'doc' / 'source' / 'admin' / 'web-page.rst'
MARK = str(pathlib.Path(__file__).relative_to(ROOT))
KEYSTONE = 'https://keystone.example.org:5000'
CLIMATE = 'https://reservation.example.org'
PAGE = {'X-Climate-UI': '1', 'OpenStack-API-Version': 'reservation 1.7'}
LANDING = '/ui/session/websso'
WAYS = ('University', 'Others')
CAROL = f'{PREFIX}carol'
PROVIDER = 'idp.example.org'
TOKEN = re.compile(r'name="token"[^>]* value="([^"]+)"')
FORM = re.compile(r'<form [^>]*action="([^"]+)" method="post"')


class Server(fixtures.Fixture):
    """A process of a service beside those of the cloud, killed at the end.

    :param url: where it answers
    """

    def __init__(self, command: Command, url: str, log: pathlib.Path) -> None:
        super().__init__()
        self._command = command
        self._url = url
        self._log = log

    def _setUp(self) -> None:
        with self._log.open('wb') as log:
            self._process = subprocess.Popen(
                self._command.argv,
                env=self._command.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.addCleanup(self._kill)

    def _kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def wait_until_ready(self) -> None:
        """Return when it answers.

        :raises AssertionError: if it does not, with what it has written
        """

        def answers() -> bool:
            assert self._process.poll() is None, self._log.read_text(errors='replace')
            return services.replies(self._url)

        until(answers, PATIENCE, f'{self._command.argv[0]} answers')


class SignOn(fixtures.Fixture):
    """Keystone and the API of Climate as the page sets them up.

    :ivar keystone: the address of Keystone
    :ivar climate: that of Climate
    :ivar provider: the host of the identity provider
    :ivar log: what Keystone writes
    """

    def __init__(self, cloud: Cloud, admin: Person) -> None:
        super().__init__()
        self._cloud = cloud
        self._identity = admin.sdk.identity
        api = cloud.of_site('climate-api')
        own = {'keystone': free_port(), api: free_port()}
        self._beside = dataclasses.replace(cloud, ports={**cloud.ports, **own})
        self.keystone, self.climate = map(self._beside.url, own)
        self._blocks = blocks.read_page(PRINTED)
        self.provider = f'{cloud.account("idp")}.example.org'
        self._words = {
            KEYSTONE: self.keystone,
            CLIMATE: self.climate,
            PROVIDER: self.provider,
            'physics': cloud.project('alice'),
            **{name: f'{PREFIX}{cloud.account(name)}' for name in ('university', 'researchers')},
        }

    def _setUp(self) -> None:
        self._folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.log = self._folder / 'keystone.log'
        servers = self._keystone_server(), self._climate_server()
        for server in servers:
            self.useFixture(server)
        self._forget()
        self.addCleanup(self._forget)
        self._run_commands()
        for server in servers:
            server.wait_until_ready()

    def _printed(self, caption: str) -> Block:
        """Return the block of the page that is for this test and has a caption."""
        (found,) = (
            one
            for one in self._blocks
            if one.mark is not None and one.mark.what == MARK and one.caption == caption
        )
        return found

    def _here(self, text: str) -> str:
        """Return what the page prints with the names and addresses of this cloud."""
        for word, meant in self._words.items():
            text = re.sub(rf'\b{re.escape(word)}\b', lambda _, meant=meant: meant, text)
        return text

    def _keystone_server(self) -> Server:
        template = self._cloud.bin.parent / 'etc' / 'keystone' / 'sso_callback_template.html'
        # Packages of distributions put it where Keystone looks for it.
        place = f'[federation]\nsso_callback_template = {template}\n'
        added = ''
        settings = self._here(self._printed('keystone.conf').text)
        for name, text in (('printed.conf', settings), ('place.conf', place)):
            (self._folder / name).write_text(text, encoding='utf-8')
            added += f' --config-file={self._folder / name}'
        command = services.command(self._beside, 'keystone')
        *argv, files = command.argv
        assert files.startswith('--pyargv='), files
        command = dataclasses.replace(command, argv=(*argv, '--processes=1', files + added))
        return Server(command, self.keystone, self.log)

    def _climate_server(self) -> Server:
        (settings,) = (one.text for one in self._blocks if 'websso_url =' in one.text)
        folder = self._folder / 'climate'
        shutil.copytree(self._cloud.climate_conf.parent, folder)
        (folder / 'climate.conf.d').mkdir(exist_ok=True)
        # A token names its methods by their places among those of the configuration.
        at = f'[keystone_authtoken]\nauth_url = {self.keystone}/v3\n'
        (folder / 'climate.conf.d' / 'websso.conf').write_text(
            f'{self._here(settings)}{at}', encoding='utf-8'
        )
        command = services.command(self._beside, self._cloud.of_site('climate-api'))
        around = command.environment | {'OS_CLIMATE_CONFIG_DIR': str(folder)}
        argv = (*command.argv, '--workers=1')
        command = dataclasses.replace(command, argv=argv, environment=around)
        return Server(command, self.climate, self._folder / 'climate.log')

    def _run_commands(self) -> None:
        """Run the commands of the page, as the administrator."""
        place = Place(
            environment={**self._cloud.login(), 'HOME': '/nonexistent', 'PYTHONWARNINGS': 'ignore'},
            commands=field.commands(self._cloud.directory),
            programs=('openstack',),
            words={**self._words, KEYSTONE: self._cloud.url('keystone')},
        )
        shell = self.useFixture(Shell(self._folder / 'shell', place, ()))
        rules = self._here(self._printed('rules.json').text)
        (shell.folder / 'rules.json').write_text(rules, encoding='utf-8')
        shell.play(self._printed(''))

    def _forget(self) -> None:
        """Remove what the commands make, also what another run has left."""
        identity, name = self._identity, self._words['university']
        provider = next((one for one in identity.identity_providers() if one.id == name), None)
        if provider is not None:
            # Its protocols go with it, and with its domain its users.
            identity.delete_identity_provider(provider)
            identity.update_domain(provider.domain_id, is_enabled=False)
            identity.delete_domain(provider.domain_id)
        identity.delete_mapping(name)
        group = identity.find_group(self._words['researchers'])
        if group is not None:
            identity.delete_group(group)


class SingleSignOnTest(CloudTest):
    """A user of an identity provider, whom Keystone does not know yet."""

    hosts = 0

    keystone: ClassVar[str]
    climate: ClassVar[str]
    provider: ClassVar[str]
    log: ClassVar[pathlib.Path]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        place = SignOn(cls.cloud, cls.admin)
        place.setUp()
        cls.addClassCleanup(place.cleanUp)
        cls.keystone, cls.climate = place.keystone, place.climate
        cls.provider, cls.log = place.provider, place.log

    # -- what a browser does

    def browser(self) -> requests.Session:
        """Return one that has no cookies yet."""
        browser = requests.Session()
        self.addCleanup(browser.close)
        return browser

    def known(self) -> dict[str, str]:
        """Return what the module of the web server of Keystone knows of who has signed in."""
        return {'OIDC-ISS': f'https://{self.provider}', 'OIDC-Preferred-Username': CAROL}

    def ask(
        self, browser: requests.Session, method: str, path: str, body: Any = None
    ) -> requests.Response:
        """Send what the page sends."""
        return browser.request(
            method, f'{self.climate}{path}', json=body, headers=PAGE, timeout=PATIENCE
        )

    def start(self, browser: requests.Session, way: str) -> str:
        """Begin a sign-in; return where it continues."""
        answer = self.ask(browser, 'POST', '/ui/session/start', {'sso': way})
        self.assertEqual(200, answer.status_code, answer.text)
        for cookie in browser.cookies:
            # To browsers this machine is as safe as TLS.
            cookie.secure = False
        return str(answer.json()['location'])

    def at_keystone(
        self, browser: requests.Session, location: str, known: Mapping[str, str]
    ) -> requests.Response:
        """Open a page of Keystone.

        :param known: what the module of its web server knows of the user
        """
        self.assertTrue(location.startswith(f'{self.keystone}/v3/'), location)
        return browser.get(location, headers=known, timeout=PATIENCE)

    def form(self, page: requests.Response) -> tuple[str, str]:
        """Return the address to which a page of Keystone posts, and the token."""
        self.assertEqual(200, page.status_code, page.text)
        form, token = FORM.search(page.text), TOKEN.search(page.text)
        assert form is not None and token is not None, page.text
        return html.unescape(form[1]), token[1]

    def land(self, browser: requests.Session, token: str, origin: str) -> requests.Response:
        """Post a token as the page of an origin has a browser do."""
        sent = {'data': {'token': token}, 'headers': {'Origin': origin}}
        url = f'{self.climate}{LANDING}'
        return browser.post(url, allow_redirects=False, timeout=PATIENCE, **sent)

    def signed_in(self, way: str) -> requests.Session:
        """Sign the user in, all the way; return the browser."""
        browser = self.browser()
        self.assertIn(way, self.ask(browser, 'GET', '/ui/session').json()['sso'])
        location = self.start(browser, way)
        address, token = self.form(self.at_keystone(browser, location, self.known()))
        self.assertEqual(f'{self.climate}{LANDING}', address)
        landed = self.land(browser, token, self.keystone)
        self.assertEqual((303, '/ui/'), (landed.status_code, landed.headers.get('Location')))
        return browser

    # -- tests

    def test_a_user_of_a_provider(self) -> None:
        for way in WAYS:
            browser = self.signed_in(way)
            self.assertEqual(['climate_session'], browser.cookies.keys())
            answer = self.ask(browser, 'GET', '/v1/me')
            self.assertEqual(200, answer.status_code, answer.text)
            me = answer.json()['me']
            self.assertEqual(
                (CAROL, self.alice.project_id, True),
                (me['user_name'], me['project_id'], me['may']['leases:create']),
            )
            leases = self.ask(browser, 'GET', '/v1/leases')
            self.assertEqual((200, []), (leases.status_code, leases.json().get('leases')))
            left = self.ask(browser, 'DELETE', '/ui/session')
            self.assertEqual((204, []), (left.status_code, browser.cookies.keys()))

    def test_refusals(self) -> None:
        browser = self.browser()
        location = self.start(browser, WAYS[0])
        # No user has signed in at the provider, or one has signed in at another provider.
        elsewhere = {**self.known(), 'OIDC-ISS': 'https://other.example.org'}
        for known, status in (({}, 401), (elsewhere, 403)):
            refused = self.at_keystone(browser, location, known)
            self.assertEqual(status, refused.status_code, refused.text)
        split = urlsplit(location)
        self.assertEqual([f'{self.climate}{LANDING}'], parse_qs(split.query)['origin'])
        for origin in ('https://evil.example.org', f'{self.climate}/elsewhere'):
            elsewhere = split._replace(query=urlencode({'origin': origin})).geturl()
            refused = self.at_keystone(browser, elsewhere, self.known())
            self.assertEqual(401, refused.status_code, refused.text)
            self.assertIn(f'{origin} is not a trusted dashboard host', self.log.read_text())
        _, token = self.form(self.at_keystone(browser, location, self.known()))
        # It works, but the page of another site posts it.
        self.assertEqual(403, self.land(browser, token, 'https://evil.example.org').status_code)
        self.assertNotIn('climate_session', browser.cookies)
