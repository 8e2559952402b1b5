/**
 * The data of `pickZones`, one line each. Everything runs in one place here; the zones are the numbers that
 * templates expect.
 */

/** Types that can be put into a zone, in lower case and without the first word of their namespaces. */
const zonedTypes: ReadonlySet<string> = new Set([
  'apimanagement/service',
  'cache/redis',
  'cache/redisenterprise',
  'compute/disks',
  'compute/virtualmachines',
  'compute/virtualmachinescalesets',
  'containerinstance/containergroups',
  'containerservice/managedclusters',
  'dbformysql/flexibleservers',
  'dbforpostgresql/flexibleservers',
  'documentdb/databaseaccounts',
  'netapp/netappaccounts/capacitypools/volumes',
  'network/applicationgateways',
  'network/azurefirewalls',
  'network/bastionhosts',
  'network/loadbalancers',
  'network/natgateways',
  'network/publicipaddresses',
  'network/publicipprefixes',
  'network/virtualnetworkgateways',
])

const threeZones: readonly string[] = ['1', '2', '3']

/** The zones of locations, by their plain names. Other locations have none. */
const zonesByLocation: ReadonlyMap<string, readonly string[]> = new Map([
  ['australiaeast', threeZones],
  ['brazilsouth', threeZones],
  ['canadacentral', threeZones],
  ['centralindia', threeZones],
  ['centralus', threeZones],
  ['eastasia', threeZones],
  ['eastus', threeZones],
  ['eastus2', threeZones],
  ['francecentral', threeZones],
  ['germanywestcentral', threeZones],
  ['israelcentral', threeZones],
  ['italynorth', threeZones],
  ['japaneast', threeZones],
  ['koreacentral', threeZones],
  ['northeurope', threeZones],
  ['norwayeast', threeZones],
  ['polandcentral', threeZones],
  ['southafricanorth', threeZones],
  ['southcentralus', threeZones],
  ['southeastasia', threeZones],
  ['swedencentral', threeZones],
  ['switzerlandnorth', threeZones],
  ['uaenorth', threeZones],
  ['uksouth', threeZones],
  ['westeurope', threeZones],
  ['westus2', threeZones],
  ['westus3', threeZones],
])

/** The zones of a type in a location; empty when it has none. */
export function zonesOf(namespace: string, type: string, location: string): readonly string[] {
  const short = `${namespace.slice(namespace.indexOf('.') + 1)}/${type}`.toLowerCase()
  if (!zonedTypes.has(short)) return []
  return zonesByLocation.get(location.replace(/\s/g, '').toLowerCase()) ?? []
}
