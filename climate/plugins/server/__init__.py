# SPDX-License-Identifier: Apache-2.0

"""``virtual:server``: existing servers, and servers booted when the lease starts."""
