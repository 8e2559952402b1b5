/**
 * The plan of a deployment: the types between the template language and whoever carries a template out.
 * A plan says what would be written and in which order; it reads nothing and writes nothing itself.
 */

/** A JSON value. Objects have no prototype, so `__proto__` and `constructor` are names like any other. */
/** A bigint is an integer that no number holds exactly, while it is computed with: none leaves an evaluation. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

/** Where in the template's text something stands. Line and column count from 1; both are 0 for an object. */
export interface Position {
  readonly line: number
  readonly column: number
  /** `resources[0].properties.count`, as the author wrote the names. */
  readonly path: string
}

/** One reason why a template cannot be taken. All independent ones are reported at once. */
export interface TemplateProblem extends Position {
  readonly message: string
}

/** A value, and whether any secure parameter went into it: then it is sealed, and never logged or returned. */
export interface Tainted {
  readonly value: Json
  readonly secure: boolean
  /** The id of the resource, where it is an answer of one that nothing stands behind: what it lacks is invented. */
  readonly open?: string
}

/** What the expressions of a template may ask about where and by whom it is deployed. */
export interface ExpansionContext {
  readonly scope: 'resourceGroup' | 'subscription' | 'managementGroup' | 'tenant'
  readonly tenant: JsonObject
  /** Absent at management group and tenant scope; `subscription()` is then refused. */
  readonly subscription?: JsonObject
  /** Absent outside group deployments; `resourceGroup()` is then refused. */
  readonly resourceGroup?: JsonObject
  readonly managementGroup?: JsonObject
  readonly deploymentName: string
  /** The template stands inside another: its `$schema` need not name the scope that it goes to. */
  readonly isNested?: boolean
  /** Where the deployment's own record lives; part of `deployment()` outside group scope. */
  readonly location?: string
  /** Where the template was found (`uri`, `contentVersion`), when it was linked; part of `deployment()`. */
  readonly templateLink?: JsonObject
  readonly deployer: JsonObject
  /** The answer of `environment()`: endpoints of this installation. */
  readonly environment: JsonObject
  /** The moment `utcNow()` answers: one for the whole deployment, in milliseconds since 1970 UTC. */
  readonly now: number
  /** The answer of `newGuid()`. A deployment that goes on after a restart gives the same ones again. */
  uuid(): string
  /** Zones of a type in a location; empty when it has none. Called by `pickZones`. */
  zones(namespace: string, type: string, location: string): readonly string[]
  /** What `providers()` answers: `{namespace, resourceTypes: [{resourceType, locations, apiVersions}]}`. */
  provider?(namespace: string, type?: string): JsonObject | undefined
  /** What is read of a resource that nothing stands behind, and that its answer lacks. Absent: it is refused. */
  invented?(id: string, path: string): Json
  /** What `roleDefinitions()` answers for the name of a built-in role: `{id, roleDefinitionId}`. */
  roleDefinition?(name: string): JsonObject | undefined
}

/** Something a late expression asks of the world. `key` is the same for the same question. */
export type Need =
  | {
      readonly kind: 'reference'
      readonly key: string
      readonly id: string
      /** Absent when the resource is of this plan: its node's own version is meant. */
      readonly apiVersion?: string
      /** The node of this plan that must be finished first, when there is one. */
      readonly node?: string
    }
  | {
      readonly kind: 'list'
      readonly key: string
      readonly id: string
      /** `listKeys` and its like: the last segment of the POST. */
      readonly action: string
      readonly apiVersion: string
      readonly body?: Json
      readonly node?: string
    }

/** The answers to needs. Lookups only: fetching was done before. */
export interface Runtime {
  /** The whole resource (or the list call's answer) for a need's key; `undefined` when not fetched. */
  answer(key: string): Tainted | undefined
}

/** What is to be sent for one node, once its needs are answered. */
export interface NodeBody {
  /** The body of the PUT, without `type`, `apiVersion`, `name`, `dependsOn`, `condition`, `copy`, `scope`. */
  readonly body: JsonObject
  /** Paths in the body that hold secure values: seal and redact these. */
  readonly securePaths: readonly string[]
}

/** One resource instance: a copy's instance is a node of its own. */
export interface PlanNode {
  /** Unique in the plan and the same each time the same template and parameters are expanded. */
  readonly key: string
  readonly id: string
  /** With its namespace: `Vendor.ContainerInstance/containerGroups`. */
  readonly type: string
  readonly apiVersion: string
  readonly name: string
  readonly symbolicName?: string
  /** The loop and the instance's index in it. */
  readonly copy?: { readonly name: string; readonly index: number }
  /** Read, never written. */
  readonly existing: boolean
  /** Left alone where it is there already. */
  readonly onlyNew: boolean
  /** A nested or linked deployment: its own plan is made when its parameters are known. */
  readonly nested: boolean
  /** Keys of the nodes that must be finished first: explicit, implicit and serial-copy ones. */
  readonly dependsOn: readonly string[]
  readonly position: Position
  /** What must be fetched before `evaluate`. An answer may raise new needs: ask until it is empty. */
  needs(runtime: Runtime): readonly Need[]
  /** The body. Throws `TemplateRefusal` when an expression fails. */
  evaluate(runtime: Runtime): NodeBody
}

/** One output of the template. */
export interface PlanOutput {
  readonly name: string
  readonly type: string
  /** Of a secure type: never shown, whatever its value. */
  readonly secure: boolean
  needs(runtime: Runtime): readonly Need[]
  /** The value, or `undefined` when the output's condition is false. */
  evaluate(runtime: Runtime): Tainted | undefined
}

/** A template and its parameters, expanded: conditions that are false left nothing behind. */
export interface Plan {
  /** In an order in which every node stands after those it depends on. */
  readonly nodes: readonly PlanNode[]
  readonly outputs: readonly PlanOutput[]
  /** The bound parameters, for the deployment's record: values of secure ones are absent. */
  readonly parameters: Readonly<Record<string, { readonly type: string; readonly value?: Json }>>
  /** What the bodies and the values they are made of come to as JSON, about. */
  readonly characters: number
}

/** A template cannot be taken: every independent problem, each with its place. */
export class TemplateRefusal extends Error {
  readonly problems: readonly TemplateProblem[]

  constructor(problems: readonly TemplateProblem[]) {
    super(problems.map((problem) => `${problem.path}: ${problem.message}`).join('\n'))
    this.name = 'TemplateRefusal'
    this.problems = problems
  }
}
