# SPDX-License-Identifier: Apache-2.0

"""Webhooks: subscriptions, and what is sent to them.

The subscriptions of users, the form and signatures of events, and the client that sends
them only to addresses that the operator allows. :mod:`climate.manager.senders.webhooks` decides
when.
"""
