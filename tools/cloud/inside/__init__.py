# SPDX-License-Identifier: Apache-2.0

"""Programs that run in the virtual environment of the cloud, and use its libraries."""
