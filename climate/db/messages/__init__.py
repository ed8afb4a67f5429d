# SPDX-License-Identifier: Apache-2.0

"""What leaves the service: notifications, deliveries to webhooks, feeds and charges.

Start with ``outbox``. Imports ``engine``, ``leases``, ``schema`` and
``statements``.
"""
