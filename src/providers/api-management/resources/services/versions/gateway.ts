/**
 * What published clients write and read of a service's gateway. This service is a registry without one: what is written
 * is kept and answered, and what is left out is answered as it is here: nothing extra listens, nothing is closed off.
 */

import Type from 'typebox'
import type { VendorWords } from '#kernel/vendor.ts'
import { added } from '#plane/declare/added.ts'

const open = Type.Object({}, { additionalProperties: true })
const openList = Type.Array(open, { maxItems: 100 })
const text = Type.String({ maxLength: 2000 })
const either = Type.Enum(['Enabled', 'Disabled'])

/** Properties of bodies and answers. */
export const gatewayProperties = {
  notificationSenderEmail: added(Type.String({ maxLength: 100 })),
  virtualNetworkType: added(Type.Enum(['None', 'External', 'Internal'])),
  virtualNetworkConfiguration: added(open),
  customProperties: added(Type.Record(Type.String(), text, { maxProperties: 100 })),
  apiVersionConstraint: added(Type.Object({ minApiVersion: Type.Optional(text) })),
  publicNetworkAccess: added(either),
  natGatewayState: added(either),
  disableGateway: added(Type.Boolean()),
  enableClientCertificate: added(Type.Boolean()),
  publicIpAddressId: added(text),
  additionalLocations: added(openList),
  legacyPortalStatus: added(either),
  developerPortalStatus: added(either),
  configurationApi: added(Type.Object({ legacyApi: Type.Optional(either) })),
}

/** Properties of answers only. */
export const gatewayAnswers = {
  targetProvisioningState: added(Type.String({ readOnly: true })),
  platformVersion: added(Type.String({ readOnly: true })),
  managementApiUrl: added(Type.String({ readOnly: true })),
  gatewayUrl: added(Type.String({ readOnly: true })),
  hostnameConfigurations: added(
    Type.Array(
      Type.Object({
        type: Type.String(),
        hostName: Type.String(),
        negotiateClientCertificate: Type.Boolean(),
        defaultSslBinding: Type.Boolean(),
        certificateSource: Type.String(),
      }),
      { readOnly: true },
    ),
  ),
}

/**
 * The address of this service's gateway (decision 0116): a name below the server's own name. When the server is
 * reached by an IP address, it is below `localhost`.
 */
export function gatewayAddress(name: string, publicUrl: string): Readonly<Record<string, unknown>> {
  const host = URL.parse(publicUrl)?.hostname ?? 'localhost'
  const hostName = `${name.toLowerCase()}.api.${/^\[|\d$/.test(host) ? 'localhost' : host}`
  return {
    gatewayUrl: `https://${hostName}`,
    hostnameConfigurations: [
      {
        type: 'Proxy',
        hostName,
        negotiateClientCertificate: false,
        defaultSslBinding: true,
        certificateSource: 'BuiltIn',
      },
    ],
  }
}

/** What was written, and the answers where nothing was. Custom properties are many, and each stands for itself. */
export function withGateway(
  written: Readonly<Record<string, unknown>> = {},
  words: VendorWords,
): Readonly<Record<string, unknown>> {
  const usual = gatewayDefaults(words)
  const customProperties = {
    ...(usual['customProperties'] as object),
    ...(written['customProperties'] as object | undefined),
  }
  return { ...usual, ...written, customProperties }
}

/** The answers where nothing was written: old protocols are off, as everywhere in this server. */
function gatewayDefaults(words: VendorWords): Readonly<Record<string, unknown>> {
  const prefix = `${words.namespace}.Windows${words.brand}.ApiManagement.Gateway`
  return {
    virtualNetworkType: 'None',
    customProperties: Object.fromEntries(
      offProtocols.map((name) => [`${prefix}.${name}`, 'False']),
    ),
    apiVersionConstraint: {},
    publicNetworkAccess: 'Enabled',
    natGatewayState: 'Disabled',
    disableGateway: false,
    legacyPortalStatus: 'Disabled',
    developerPortalStatus: 'Disabled',
    platformVersion: 'undetermined',
    targetProvisioningState: '',
  }
}

const offProtocols = [
  'Security.Protocols.Tls10',
  'Security.Protocols.Tls11',
  'Security.Protocols.Ssl30',
  'Security.Ciphers.TripleDes168',
  'Security.Backend.Protocols.Tls10',
  'Security.Backend.Protocols.Tls11',
  'Security.Backend.Protocols.Ssl30',
  'Protocols.Server.Http2',
]
