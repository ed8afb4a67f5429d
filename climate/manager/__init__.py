# SPDX-License-Identifier: Apache-2.0

"""The manager: claims due leases, runs their effects and sends the outbox."""
