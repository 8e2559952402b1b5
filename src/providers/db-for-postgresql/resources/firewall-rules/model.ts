/** A firewall rule as it is stored. */

export interface FirewallRule {
  readonly startIpAddress: string
  readonly endIpAddress: string
}
