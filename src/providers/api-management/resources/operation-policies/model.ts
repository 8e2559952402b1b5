/** The policy document of an operation. It is stored and shown; nothing interprets it. */

export const policyFormats = ['xml', 'rawxml'] as const

export interface OperationPolicy {
  readonly value: string
  readonly format: (typeof policyFormats)[number]
}
