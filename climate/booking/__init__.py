# SPDX-License-Identifier: Apache-2.0

"""Use cases of callers: create, change and delete leases. One transaction each."""
