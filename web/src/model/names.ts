// SPDX-License-Identifier: Apache-2.0

/** Names of resources, as people know them. */
const OF_NETWORK = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:(?=.)/;

/** Return a name as it is shown: that of an address without the id of its network. */
export const plainName = (name: string): string => name.replace(OF_NETWORK, '');
