/**
 * An operation of an API as it is stored: one shape that holds what every version can say. Versions show parts of
 * it (`features.ts`); nothing here decides anything.
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
  /** Unset where it was only ever written without one; its name stands for it then. */
  readonly displayName?: string
  readonly description?: string
  readonly method: string
  readonly urlTemplate: string
  readonly policies?: string
  readonly templateParameters?: readonly Parameter[]
  readonly request?: OperationRequest
  readonly responses?: readonly OperationResponse[]
}
