# SPDX-License-Identifier: Apache-2.0

"""Sends mails to the owners of leases, from notifications on the message bus."""
