/**
 * The plan of a deployment: the types between the template language and the code that deploys. A plan says what is
 * to be written and in which order; it reads and writes nothing itself.
 */

/**
 * A JSON value. Objects have no prototype, so `__proto__` and `constructor` are ordinary names. A bigint is an integer
 * of 64 bits that no number holds exactly.
 */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

/**
 * A position in the template's text. Line and column count from 1; both are 0 when the template was given as an
 * object.
 */
export interface Position {
  readonly line: number
  readonly column: number
  /** `resources[0].properties.count`, with the names as written. */
  readonly path: string
}

/** One reason why a template is refused. All independent reasons are reported at once. */
export interface TemplateProblem extends Position {
  readonly message: string
}

/** A value, and whether a secure parameter was used for it. Then it is sealed, and never logged or returned. */
export interface Tainted {
  readonly value: Json
  readonly secure: boolean
  /** Set when the value is the answer of a generic resource: its id. Properties it lacks are invented. */
  readonly open?: string
}

/** What a template's expressions may read about the deployment: its scope, its caller, its time. */
export interface ExpansionContext {
  readonly scope: 'resourceGroup' | 'subscription' | 'managementGroup' | 'tenant'
  readonly tenant: JsonObject
  /** Absent at management group and tenant scope; `subscription()` is refused there. */
  readonly subscription?: JsonObject
  /** Absent outside group deployments; `resourceGroup()` is refused there. */
  readonly resourceGroup?: JsonObject
  readonly managementGroup?: JsonObject
  readonly deploymentName: string
  /** The template is nested: its `$schema` need not match its scope. */
  readonly isNested?: boolean
  /** The location of the deployment's own record; part of `deployment()` outside group scope. */
  readonly location?: string
  /** The link of a linked template (`uri`, `contentVersion`); part of `deployment()`. */
  readonly templateLink?: JsonObject
  readonly deployer: JsonObject
  /** The answer of `environment()`: the endpoints of this installation. */
  readonly environment: JsonObject
  /** The answer of `utcNow()`: one moment for the whole deployment, in milliseconds since 1970 UTC. */
  readonly now: number
  /** The answer of `newGuid()`. A deployment that continues after a restart returns the same ones again. */
  uuid(): string
  /** The zones of a type in a location; empty when it has none. Called by `pickZones`. */
  zones(namespace: string, type: string, location: string): readonly string[]
  /** The answer of `providers()`: `{namespace, resourceTypes: [{resourceType, locations, apiVersions}]}`. */
  provider?(namespace: string, type?: string): JsonObject | undefined
  /** Invents a property that the answer of a generic resource lacks. When absent, reading it is refused. */
  invented?(id: string, path: string): Json
  /** The answer of `roleDefinitions()` for the name of a built-in role: `{id, roleDefinitionId}`. */
  roleDefinition?(name: string): JsonObject | undefined
}

/** An answer that a late expression needs from outside. The same question has the same `key`. */
export type Need =
  | {
      readonly kind: 'reference'
      readonly key: string
      readonly id: string
      /** Absent for a resource of this plan: its node's own version is used. */
      readonly apiVersion?: string
      /** The node of this plan that must finish first, if there is one. */
      readonly node?: string
      /** A resource that is not there is null. */
      readonly orNull?: true
    }
  | {
      readonly kind: 'list'
      readonly key: string
      readonly id: string
      /** `listKeys` and the like: the last segment of the POST. */
      readonly action: string
      readonly apiVersion: string
      readonly body?: Json
      readonly node?: string
    }

/** The answers to needs. They were fetched before; this only looks them up. */
export interface Runtime {
  /** The whole resource (or the list call's answer) for a need's key; `undefined` when not fetched. */
  answer(key: string): Tainted | undefined
}

/** The body of one node, once its needs are answered. */
export interface NodeBody {
  /** The body of the PUT, without `type`, `apiVersion`, `name`, `dependsOn`, `condition`, `copy`, `scope`. */
  readonly body: JsonObject
  /** Paths in the body that hold secure values. These are sealed and redacted. */
  readonly securePaths: readonly string[]
}

/** One resource instance: each iteration of a loop is a node of its own. */
export interface PlanNode {
  /** Unique in the plan, and the same whenever the same template and parameters are expanded. */
  readonly key: string
  readonly id: string
  /** With its namespace: `Vendor.ContainerInstance/containerGroups`. */
  readonly type: string
  readonly apiVersion: string
  readonly name: string
  readonly symbolicName?: string
  /** The loop and the instance's index in it. */
  readonly copy?: { readonly name: string; readonly index: number }
  /** The resource is read and never written. */
  readonly existing: boolean
  /** The resource is not changed if it exists. */
  readonly onlyNew: boolean
  /** The resource is sent again, so many times at most, when it is refused with one of these codes (in lower case). */
  readonly retryOn?: { readonly codes: readonly string[]; readonly count: number }
  /** The resource is done when it is ready. It fails when it is not after so many seconds. */
  readonly waitSeconds?: number
  /** A nested or linked deployment. Its own plan is made when its parameters are known. */
  readonly nested: boolean
  /** The link of a linked deployment whose body needs answers, when the link itself needs none. */
  readonly knownLink?: JsonObject
  /** Keys of the nodes that must finish first: explicit, implicit and serial-loop dependencies. */
  readonly dependsOn: readonly string[]
  readonly position: Position
  /** What must be fetched before `evaluate`. An answer may raise new needs, so repeat until it is empty. */
  needs(runtime: Runtime): readonly Need[]
  /** The body. Throws `TemplateRefusal` when an expression fails. */
  evaluate(runtime: Runtime): NodeBody
  /** Whether the resource is ready, as it is read now. Present with `waitSeconds`. */
  readonly readiness?: LateValue
}

/** A value that only a running resource can give. */
interface LateValue {
  needs(runtime: Runtime): readonly Need[]
  /** Throws `TemplateRefusal` when an expression fails. */
  evaluate(runtime: Runtime): Tainted | undefined
}

/** One output of the template. */
export interface PlanOutput {
  readonly name: string
  readonly type: string
  /** The output has a secure type and is never shown, whatever its value. */
  readonly secure: boolean
  needs(runtime: Runtime): readonly Need[]
  /** The value; `undefined` when the output's condition is false. */
  evaluate(runtime: Runtime): Tainted | undefined
}

/** An expanded template. Resources whose conditions are false are not in it. */
export interface Plan {
  /** Ordered so that every node comes after its dependencies. */
  readonly nodes: readonly PlanNode[]
  readonly outputs: readonly PlanOutput[]
  /** The bound parameters for the deployment's record, without the values of secure ones. */
  readonly parameters: Readonly<Record<string, { readonly type: string; readonly value?: Json }>>
  /** The approximate size of the bodies and the values they are made of, as JSON. */
  readonly characters: number
}

/** A template is refused: every independent problem, each with its position. */
export class TemplateRefusal extends Error {
  readonly problems: readonly TemplateProblem[]

  constructor(problems: readonly TemplateProblem[]) {
    super(problems.map((problem) => `${problem.path}: ${problem.message}`).join('\n'))
    this.name = 'TemplateRefusal'
    this.problems = problems
  }
}
