/** The networks of addresses that are counted in groups. */

/**
 * Of a group of IPv6 addresses, or of a name that ends with one, what a customer may have at the most: a /48, which holds
 * 65,536 groups. Anything else is its own network.
 */
export function networkOf(group: string): string {
  return group.endsWith('::/64') ? group.split(':', 3).join(':') : group
}
