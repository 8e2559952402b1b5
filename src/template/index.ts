/** `armature-plane/template`: the template language alone. It reads no file and sends no request. */

export { templateLanguage } from './language.ts'
export { expandAll, expandNested, type NestedExpansion } from './nested.ts'
export type {
  ExpansionContext,
  Json,
  JsonObject,
  Need,
  NodeBody,
  Plan,
  PlanNode,
  PlanOutput,
  Position,
  Runtime,
  TemplateProblem,
} from './plan.ts'
export { TemplateRefusal } from './plan.ts'
export type {
  ParameterArgument,
  ParameterDeclaration,
  ParsedTemplate,
  Read,
  ReadTemplateText,
  TemplateLanguage,
  Unreadable,
} from './template.ts'
