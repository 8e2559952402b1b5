/** The policy document of an operation. Stored and shown; nothing interprets it. */

export const policyFormats = ['xml', 'rawxml'] as const

export interface OperationPolicy {
  readonly value: string
  readonly format: (typeof policyFormats)[number]
}
