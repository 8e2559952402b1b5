/**
 * The stored form of an API operation: one shape for what every version can express. Each version shows a part of
 * it (`features.ts`).
 */

export interface ParameterExample {
  readonly summary?: string
  readonly description?: string
  readonly externalValue?: string
  readonly value?: unknown
}

export type Examples = Readonly<Record<string, ParameterExample>>

export interface Parameter {
  readonly name: string
  readonly type: string
  readonly description?: string
  readonly defaultValue?: string
  readonly required?: boolean
  readonly values?: readonly string[]
  readonly schemaId?: string
  readonly typeName?: string
  readonly examples?: Examples
}

export interface Representation {
  readonly contentType: string
  readonly sample?: string
  readonly formParameters?: readonly Parameter[]
  readonly schemaId?: string
  readonly typeName?: string
  readonly examples?: Examples
}

export interface OperationRequest {
  readonly description?: string
  readonly headers?: readonly Parameter[]
  readonly queryParameters?: readonly Parameter[]
  readonly representations?: readonly Representation[]
}

export interface OperationResponse {
  readonly statusCode: number
  readonly description?: string
  readonly headers?: readonly Parameter[]
  readonly representations?: readonly Representation[]
}

export interface Operation {
  /** Unset when it was only written in versions without it; the name is shown then. */
  readonly displayName?: string
  readonly description?: string
  readonly method: string
  readonly urlTemplate: string
  readonly policies?: string
  readonly templateParameters?: readonly Parameter[]
  readonly request?: OperationRequest
  readonly responses?: readonly OperationResponse[]
}
