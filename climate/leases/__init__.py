# SPDX-License-Identifier: Apache-2.0

"""Rules of leases that booking, upkeep and running share."""
