import type { ErrorObject } from 'ajv';
import { unescapePointer } from '../../../core/model/json.js';
import type { Problem } from '../../../core/model/refusal.js';

const MAX_PROBLEMS = 20;
const MAX_LISTED = 200;

/** Converts Ajv's errors to at most 20 distinct problems. The messages never quote the validated value. */
export function describeErrors(errors: readonly ErrorObject[]): Problem[] {
  const problems = new Map<string, Problem>();
  for (const error of errors) {
    const problem = describeError(error);
    problems.set(`${problem.path}\n${problem.message}`, problem);
    if (problems.size >= MAX_PROBLEMS) break;
  }
  return [...problems.values()];
}

function describeError({ instancePath, keyword, params, message }: ErrorObject): Problem {
  const path = instancePath.split('/').slice(1).map(unescapePointer);
  const param = (name: string): unknown => Object.entries(params).find(([key]) => key === name)?.[1];
  const about = (name: string, text: string): Problem => ({
    path: [...path, String(param(name))].join('.'),
    message: text,
  });
  const itself = (text: string): Problem => ({ path: path.join('.'), message: text });

  switch (keyword) {
    case 'required':
      return about('missingProperty', 'is required');
    case 'dependentRequired':
    case 'dependencies':
      return about('missingProperty', `is required together with ${String(param('property'))}`);
    case 'additionalProperties':
      return about('additionalProperty', 'is not a known property');
    case 'unevaluatedProperties':
      return about('unevaluatedProperty', 'is not a known property');
    case 'type':
      return itself(`must be ${[param('type')].flat().map(typeName).join(' or ')}`);
    case 'enum':
      return itself(`must be one of ${listed(param('allowedValues'))}`);
    case 'const':
      return itself(`must be ${JSON.stringify(param('allowedValue')).slice(0, MAX_LISTED)}`);
    default:
      return itself(message ?? `does not satisfy "${keyword}"`);
  }
}

function typeName(type: unknown): string {
  const name = String(type);
  if (name === 'null') return name;
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;
}

function listed(values: unknown): string {
  const all = Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(', ') : '';
  return all.length <= MAX_LISTED ? all : `${all.slice(0, MAX_LISTED)}…`;
}
