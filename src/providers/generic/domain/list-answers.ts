/**
 * The answers of `list…` actions. This file is data, one line each. `{key:name}` is an invented key that stays the
 * same for the life of the resource.
 */

interface ListAnswer {
  /** Without the first word of the namespace. `*` is every type. */
  readonly type: string
  /** In lower case. `*` is every action. */
  readonly action: string
  readonly body: object
}

const busEndpoint =
  'Endpoint=sb://{lower:root}.servicebus.{host}/;SharedAccessKeyName={name};SharedAccessKey='
const documentEndpoint = 'AccountEndpoint=https://{lower:name}.documents.{host}:443/;AccountKey='
const busKeys = {
  keyName: '{name}',
  primaryKey: '{key:primary}',
  secondaryKey: '{key:secondary}',
  primaryConnectionString: `${busEndpoint}{key:primary}`,
  secondaryConnectionString: `${busEndpoint}{key:secondary}`,
}
const kubeconfig = { kubeconfigs: [{ name: 'generic', value: '{base64:apiVersion: v1}' }] }

/** The first entry that fits applies. */
// biome-ignore format: a table is read as a table.
export const listAnswers: readonly ListAnswer[] = [
  { type: 'Storage/storageAccounts', action: 'listkeys', body: { keys: [{ keyName: 'key1', value: '{key:1}', permissions: 'FULL' }, { keyName: 'key2', value: '{key:2}', permissions: 'FULL' }], key1: '{key:1}', key2: '{key:2}', primaryKey: '{key:1}', secondaryKey: '{key:2}' } },
  { type: 'Storage/storageAccounts', action: 'listaccountsas', body: { accountSasToken: 'sig={key:sas}' } },
  { type: 'Storage/storageAccounts', action: 'listservicesas', body: { serviceSasToken: 'sig={key:sas}' } },
  { type: 'OperationalInsights/workspaces', action: 'listkeys', body: { primarySharedKey: '{key:primary}', secondarySharedKey: '{key:secondary}' } },
  { type: 'OperationalInsights/workspaces', action: 'sharedkeys', body: { primarySharedKey: '{key:primary}', secondarySharedKey: '{key:secondary}' } },
  { type: 'DocumentDB/databaseAccounts', action: 'listkeys', body: { primaryMasterKey: '{key:primary}', secondaryMasterKey: '{key:secondary}', primaryReadonlyMasterKey: '{key:primaryRead}', secondaryReadonlyMasterKey: '{key:secondaryRead}' } },
  { type: 'DocumentDB/databaseAccounts', action: 'listconnectionstrings', body: { connectionStrings: [{ connectionString: `${documentEndpoint}{key:primary};`, description: 'Primary SQL Connection String' }, { connectionString: `${documentEndpoint}{key:secondary};`, description: 'Secondary SQL Connection String' }, { connectionString: `${documentEndpoint}{key:primaryRead};`, description: 'Primary Read-Only SQL Connection String' }, { connectionString: `${documentEndpoint}{key:secondaryRead};`, description: 'Secondary Read-Only SQL Connection String' }] } },
  { type: 'Automation/automationAccounts', action: 'listkeys', body: { keys: [{ keyName: 'Primary', value: '{key:primary}', permissions: 'Full' }, { keyName: 'Secondary', value: '{key:secondary}', permissions: 'Full' }] } },
  { type: 'ContainerRegistry/registries', action: 'listcredentials', body: { username: '{name}', passwords: [{ name: 'password', value: '{key:1}' }, { name: 'password2', value: '{key:2}' }] } },
  { type: 'ContainerService/managedClusters', action: '*', body: kubeconfig },
  { type: 'Batch/batchAccounts', action: 'listkeys', body: { accountName: '{name}', primary: '{key:primary}', secondary: '{key:secondary}' } },
  { type: 'Search/searchServices', action: 'listadminkeys', body: { primaryKey: '{key:primary}', secondaryKey: '{key:secondary}' } },
  { type: 'Search/searchServices', action: 'listquerykeys', body: { value: [{ name: 'query', key: '{key:query}' }] } },
  { type: 'AppConfiguration/configurationStores', action: 'listkeys', body: { value: ['Primary', 'Secondary', 'Primary Read Only', 'Secondary Read Only'].map((name, at) => ({ id: `{name}-${at}`, name, value: `{key:${at}}`, connectionString: `Endpoint=https://{lower:name}.azconfig.{host};Id={name}-${at};Secret={key:${at}}`, readOnly: at > 1 })) } },
  { type: 'Devices/provisioningServices', action: 'listkeys', body: { value: [{ keyName: 'provisioningserviceowner', primaryKey: '{key:primary}', secondaryKey: '{key:secondary}', rights: 'ServiceConfig, DeviceConnect, EnrollmentWrite' }] } },
  { type: 'Web/connections', action: 'listconsentlinks', body: { value: [{ link: 'https://consent.{host}/{hex:32}', displayName: '{name}', status: 'Authenticated' }] } },
  { type: 'Web/sites/functions', action: 'listkeys', body: { default: '{key:default}' } },
  { type: 'Web/sites/functions', action: 'listsecrets', body: { key: '{key:default}', trigger_url: 'https://{lower:root}.sites.{host}/api/{name}?code={key:default}' } },
  { type: 'App/containerApps', action: 'listsecrets', body: { value: [] } },
  { type: 'Devices/IotHubs', action: 'listkeys', body: { value: [{ keyName: 'iothubowner', primaryKey: '{key:primary}', secondaryKey: '{key:secondary}', rights: 'RegistryWrite, ServiceConnect, DeviceConnect' }] } },
  { type: 'Web/sites/host', action: 'listkeys', body: { masterKey: '{key:master}', functionKeys: { default: '{key:default}' }, systemKeys: {} } },
  { type: 'Web/sites/config', action: '*', body: { name: '{name}', properties: { publishingUserName: '{root}', publishingPassword: '{key:publishing}', scmUri: 'https://{root}:{key:publishing}@{lower:root}.scm.sites.{host}' } } },
  { type: 'Web/staticSites', action: 'listsecrets', body: { properties: { apiKey: '{key:api}' } } },
  { type: 'MachineLearningServices/workspaces', action: 'listkeys', body: { userStorageKey: '{key:storage}', appInsightsInstrumentationKey: '{uuid}' } },
  { type: 'DesktopVirtualization/hostPools', action: '*', body: { value: [{ token: '{key:token}', expirationTime: '2099-01-01T00:00:00Z' }] } },
  { type: 'DataFactory/factories/integrationRuntimes', action: 'listauthkeys', body: { authKey1: '{key:1}', authKey2: '{key:2}' } },
  { type: 'Logic/workflows/triggers', action: 'listcallbackurl', body: { value: 'https://logic.{host}/workflows/{hex:32}/triggers/{name}/paths/invoke?sig={key:callback}', method: 'POST' } },
  { type: 'Logic/workflows', action: 'listcallbackurl', body: { value: 'https://logic.{host}/workflows/{hex:32}?sig={key:callback}', method: 'POST' } },
  { type: 'Maps/accounts', action: 'listkeys', body: { primaryKey: '{key:primary}', secondaryKey: '{key:secondary}' } },
  { type: '*', action: '*', body: { ...busKeys, key1: '{key:primary}', key2: '{key:secondary}', authKey1: '{key:primary}', authKey2: '{key:secondary}', keys: [{ keyName: 'key1', value: '{key:primary}', permissions: 'FULL' }, { keyName: 'key2', value: '{key:secondary}', permissions: 'FULL' }], value: '{key:primary}' } },
]
