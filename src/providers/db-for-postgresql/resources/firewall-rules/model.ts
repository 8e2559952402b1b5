/** The stored model of a firewall rule. */

export interface FirewallRule {
  readonly startIpAddress: string
  readonly endIpAddress: string
}
