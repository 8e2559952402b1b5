/** The error for a namespace that is not installed. It names the setting for clients that use another vendor word. */

import { type ApiError, refuse } from '#kernel/error.ts'
import { isVendorWord } from '#kernel/vendor.ts'

/** `word` is the installation's own, before the dot. */
export function unknownNamespace(
  namespace: string,
  word: string,
  isInstalled: (namespace: string) => boolean,
): ApiError {
  const [, given = '', rest = ''] = /^([^.]+)\.(.+)$/.exec(namespace) ?? []
  const ours = `${word}.${rest}`
  const advice =
    isVendorWord(given) && given !== word && isInstalled(ours)
      ? `Here it is called '${ours}'. For clients that say '${given}', start a new installation with ARMATURE_VENDOR_NAMESPACE=${given}.`
      : 'With ARMATURE_GENERIC_RESOURCES=on its resources are stored as documents.'
  return refuse.InvalidResourceNamespace({ namespace, advice })
}
