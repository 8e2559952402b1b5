/** Stands for the peers where they are not installed, so that the rest of the bench is type-checked (`tsconfig.check.json`). */

declare module '@cedar-policy/cedar-wasm/nodejs' {
  export type EntityJson = object
  export function preparsePolicySet(
    name: string,
    policies: object,
  ): { readonly type: 'success' } | { readonly type: 'failure'; readonly errors: unknown }
  export function statefulIsAuthorized(
    request: object,
  ):
    | { readonly type: 'success'; readonly response: { readonly decision: string } }
    | { readonly type: 'failure'; readonly errors: unknown }
}
declare module 'casbin'
