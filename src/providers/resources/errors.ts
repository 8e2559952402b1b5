/** The refusals of this provider besides the common ones, and how the problems of a template become one refusal. */

import { type ApiError, defineErrors, type ErrorDetail } from '#kernel/error.ts'
import type { TemplateProblem } from '#template/plan.ts'

export const resourcesErrors = defineErrors({
  InvalidResourceGroupLocation: {
    status: 409,
    message:
      "The resource group '{name}' already exists in location '{existing}'; it cannot be created in location '{location}'.",
    advice: 'User: keep the location, or choose another group name.',
  },
  ExportTooLarge: {
    status: 400,
    message: 'A template of this group would have more than {limit}.',
    advice: 'User: name the resources to export.',
  },
  ExportFormatUnknown: {
    status: 400,
    message: "Templates are exported as JSON; the format '{format}' is not made here.",
    advice: 'User: leave `outputFormat` out, and translate the template afterwards.',
  },
  ExportOptionUnknown: {
    status: 400,
    message: "The export option '{option}' is unknown; there are {known}.",
    advice: 'User: name options with commas between them.',
  },
})

export const refuseResources: typeof resourcesErrors.refuse = resourcesErrors.refuse

export const deploymentErrors = defineErrors({
  InvalidTemplate: {
    status: 400,
    message: 'Deployment template validation failed: {reason}',
    advice: 'User: `additionalInfo` says where in the template.',
  },
  InvalidTemplateDeployment: {
    status: 400,
    message: 'The template is well formed, but {count} of its resources would be refused: {reason}',
    advice: 'User: `details` holds the refusal of each resource; nothing was written.',
  },
  InvalidContentLink: {
    status: 400,
    message: "The content link '{uri}' cannot be followed: {reason}.",
    advice:
      'User: give the template itself. Operator: ARMATURE_TEMPLATE_LINKS says what is followed.',
  },
  ParameterSecretNotFound: {
    status: 400,
    message:
      "The parameter '{name}' refers to a secret that is not there, or not enabled: '{secret}'.",
    advice: 'User: check the id of the vault, the name of the secret and its version.',
  },
  LinkedAuthorizationFailed: {
    status: 403,
    message:
      "The principal '{principalId}' may deploy, but not use what the request refers to: '{action}' is missing on '{scope}'.",
    advice: 'User: ask for a role that holds the action there.',
  },
  DeploymentOutputsTooLarge: {
    status: 400,
    message:
      "The outputs have more than {limit} characters in sum; '{name}' is the one that is too much.",
    advice: 'User: give less as outputs; the resources that were made stay.',
  },
  InvalidDeploymentScope: {
    status: 400,
    message:
      "Deployments live at a resource group, a subscription, a management group or the tenant, not at '{scope}'.",
    advice: 'User: deploy to one of these.',
  },
  InvalidDeploymentMode: {
    status: 400,
    message: "The mode 'Complete' is for resource groups only.",
    advice: 'User: deploy to a resource group, or take the mode Incremental.',
  },
  DeploymentSettingNotServed: {
    status: 400,
    message: "'properties.{name}' is not served here: {reason}.",
    advice: 'User: leave it out.',
  },
  DeploymentNotFound: {
    status: 404,
    message: "The deployment '{name}' could not be found.",
    advice: 'User: list the deployments of the scope.',
  },
  OnErrorDeploymentNotFound: {
    status: 400,
    message:
      "There is no earlier deployment of this scope to fall back to that succeeded, is not nested and, for 'LastSuccessful', is your own: '{name}'.",
    advice: 'User: leave `onErrorDeployment` out, or name an outermost deployment that succeeded.',
  },
  OnErrorDeploymentForbidden: {
    status: 403,
    message:
      "The deployment '{name}' was deployed by another principal: only that one falls back to it.",
    advice: 'User: leave `onErrorDeployment` out, or name a deployment of your own.',
  },
  InvalidDeploymentLocation: {
    status: 409,
    message:
      "The deployment '{name}' already exists in location '{existing}'; it cannot be in '{location}'.",
    advice: 'User: keep the location, or take another name.',
  },
  NestedDeploymentMode: {
    status: 400,
    message: "A nested deployment cannot have the mode 'Complete'.",
    advice: 'User: nested deployments are Incremental; give the outermost one the mode Complete.',
  },
  NestedDeploymentDepth: {
    status: 400,
    message: 'Deployments nest at most {limit} levels deep.',
    advice: 'User: check whether the template deploys itself.',
  },
  NestedDeploymentQuota: {
    status: 409,
    message: 'One deployment begins at most {limit} nested deployments, at all levels together.',
    advice: 'User: check whether the template deploys itself, or split it.',
  },
  DeploymentDeletesTooMany: {
    status: 409,
    message:
      "The deployment '{name}' has deleted {limit} resources that its template does not name, and there are more.",
    advice:
      'User: see to what the details name as not deleted, and deploy it again to delete the rest.',
  },
  NestedResourcesUnknown: {
    status: 409,
    message:
      "Nothing was deleted by the complete mode of '{name}': what its nested deployments made is no longer on record.",
    advice:
      'User: give nested deployments names of their own, and deploy once more while no other deployment uses them.',
  },
  NestedResourcesExceeded: {
    status: 400,
    message:
      "A deployment may have at most {limit} resources with all that is nested in it: '{name}' has {resources}, and its share is {share}.",
    advice: 'User: deploy what is nested by itself, or make it smaller.',
  },
  ResourceNotReady: {
    status: 409,
    message:
      "The resource '{id}' was made, and was not ready in the time that 'waitUntil' gives it.{reason}",
    advice: 'User: wait for longer, or look at what the resource lacks.',
  },
  DeploymentReplaced: {
    status: 409,
    message:
      "The deployment '{id}' was deleted, or deployed anew by another, while another deployment relied on it.",
    advice: 'User: give deployments names of their own.',
  },
  DeploymentActive: {
    status: 409,
    message: "The deployment '{name}' is active; wait until it has ended, or cancel it.",
    advice: 'User: `npx armature deployment watch` shows how far it is.',
  },
  DeploymentNotActive: {
    status: 409,
    message: "The deployment '{name}' has ended ('{state}') and cannot be canceled.",
    advice: 'User: nothing is left to cancel.',
  },
  DeploymentQuotaExceeded: {
    status: 409,
    message: 'At most {limit} deployments are kept at one scope.',
    advice: 'User: delete old ones.',
  },
  DeploymentStackNotFound: {
    status: 404,
    message: "The deployment stack '{name}' was not found at '{scope}'.",
    advice: 'User: check the name and the scope.',
  },
  InvalidDeploymentStackScope: {
    status: 400,
    message: "A deployment stack is at '{scope}' and cannot deploy to '{target}': {reason}.",
    advice:
      'User: stacks are at a resource group, a subscription or a management group, and deploy there or below.',
  },
  DeploymentStackInNonTerminalState: {
    status: 409,
    message: "The deployment stack '{name}' is in the state '{state}'; wait until it has ended.",
    advice: 'User: the stack shows how far it is.',
  },
  DeploymentStackTooLarge: {
    status: 409,
    message:
      "The deployment stack '{name}' manages {managed} resources, and none with more than {limit} is deployed again.",
    advice:
      'User: deployments that failed added theirs. Delete the stack, with or without what it manages, and make it anew.',
  },
  DenyAssignmentQuotaExceeded: {
    status: 409,
    message:
      'At most {limit} deny assignments are kept in one subscription, and as many outside of all.',
    advice: 'User: let fewer stacks deny something, or stacks of fewer resources.',
  },
  DeploymentStackQuotaExceeded: {
    status: 409,
    message: 'At most {limit} deployment stacks are kept at one scope.',
    advice: 'User: delete old ones.',
  },
})

export const refuseDeployment: typeof deploymentErrors.refuse = deploymentErrors.refuse

const violationsShownMax = 50

export function refuseTemplate(problems: readonly TemplateProblem[]): ApiError {
  const first = problems[0]
  const reason = first === undefined ? 'unknown' : textOf(first)
  const shown = problems.slice(0, violationsShownMax)
  return refuseDeployment.InvalidTemplate(
    { reason: problems.length > 1 ? `${reason} (and ${problems.length - 1} more)` : reason },
    {
      ...(first === undefined ? {} : { target: first.path }),
      details: shown.map((problem) => ({
        code: 'InvalidTemplate',
        message: textOf(problem),
        target: problem.path,
      })),
      additionalInfo: shown.map(({ line, column, path }) => ({
        type: 'TemplateViolation',
        info: { lineNumber: line, linePosition: column, path },
      })),
    },
  )
}

export function refusePreflight(details: readonly ErrorDetail[]): ApiError {
  const reason = details[0]?.message ?? ''
  return refuseDeployment.InvalidTemplateDeployment({ count: details.length, reason }, { details })
}

function textOf({ line, column, path, message }: TemplateProblem): string {
  const where = line > 0 ? ` (line ${line}, column ${column})` : ''
  return `${path === '' ? 'template' : path}${where}: ${message}`
}
