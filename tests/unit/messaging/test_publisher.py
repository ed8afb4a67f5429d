# SPDX-License-Identifier: Apache-2.0

"""The message is the Notifier's own, and the options are the library's own."""

from __future__ import annotations

import pathlib

import fixtures
from oslo_config import cfg

from climate import conf as climate_conf
from climate import exceptions
from climate.conf import notifications
from climate.messaging import publisher
from climate.messaging import transport
from tests import base
from tests.unit.messaging import samples


class Recorder:
    """A driver that keeps what it was given."""

    def __init__(self) -> None:
        self.messages: list[dict[str, object]] = []

    def notify(self, ctxt: object, msg: dict[str, object], priority: str, retry: int) -> None:
        self.messages.append(msg)


def configured(text: str = '') -> cfg.ConfigOpts:
    folder = fixtures.TempDir()
    folder.setUp()
    try:
        path = pathlib.Path(folder.path) / 'climate.conf'
        path.write_text(text, encoding='utf-8')
        conf = cfg.ConfigOpts()
        conf([], project='climate', default_config_files=[str(path)])
    finally:
        folder.cleanUp()
    climate_conf.register_opts(conf, notifications)
    return conf


class TestEnvelope(base.TestCase):
    """Consumers see no difference."""

    def test_it_has_the_fields_of_notifier(self) -> None:
        # Late, for importing it first would print its deprecations.
        import oslo_messaging as notify

        notifier = notify.Notifier(
            transport.notification_transport(configured(), 'fake://'), 'who', driver='noop'
        )
        recorder = Recorder()
        notifier._driver_mgr.extensions[0].obj = recorder
        notifier.error({}, 'lease.create', {'a': 1})
        ours = publisher.envelope(samples.message(), 'who')
        (theirs,) = recorder.messages
        self.assertEqual(theirs.keys(), ours.keys())
        self.assertEqual('ERROR', theirs['priority'])
        self.assert_has(ours, message_id=samples.message().id, timestamp='2029-12-31 12:00:00')


class TestDefaults(base.TestCase):
    """What operators configure wins, and other configurations are let alone."""

    def test_defaults(self) -> None:
        conf = configured()
        transport.set_defaults(conf)
        transport.set_defaults(conf)
        self.assertEqual(['messagingv2'], conf.oslo_messaging_notifications.driver)
        self.assertEqual(30, conf.rpc_response_timeout)
        self.assertEqual(5, conf.oslo_messaging_rabbit.rabbit_interval_max)

    def test_the_operator_wins(self) -> None:
        conf = configured(
            '[DEFAULT]\nrpc_response_timeout = 7\n'
            '[oslo_messaging_notifications]\ndriver = log\ndriver = noop\n'
        )
        transport.set_defaults(conf)
        self.assertEqual(['log', 'noop'], conf.oslo_messaging_notifications.driver)
        self.assertEqual(7, conf.rpc_response_timeout)

    def test_other_configurations_keep_the_defaults_of_the_library(self) -> None:
        import oslo_messaging as notify

        transport.set_defaults(configured())
        other = configured()
        notify.get_notification_transport(other, url='fake://')
        self.assertEqual([], other.oslo_messaging_notifications.driver)

    def test_an_unusable_url_is_reported_without_its_password(self) -> None:
        for url in ('pigeon://me:secret@loft/', 'fake', 'rabbit://me:secret@loft:port/'):
            error = self.assertRaises(
                exceptions.ConfigurationError, transport.rpc_transport, configured(), url
            )
            self.assertNotIn('secret', error.message)


class TestWithin(base.TestCase):
    """Nothing is waited for longer than was said."""

    def test_done(self) -> None:
        done: list[int] = []
        self.assertTrue(transport.within(5, lambda: done.append(1), 'this'))
        self.assertEqual([1], done)

    def test_an_error_is_done_too(self) -> None:
        self.assertTrue(transport.within(5, [].pop, 'this'))
