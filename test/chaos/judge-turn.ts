import type { Plan, PlannedCall } from './script.js';
import type { StoredRecord } from './shapes.js';

/** What came of a turn, by its records. */
export interface Verdict {
  readonly outcome: 'complete' | 'interrupted' | 'failed' | 'none';
  /** What is wrong with the answer: it is not the script's, or not a beginning of it. */
  readonly problems: readonly string[];
  /** Tools that failed although they were called as they should be. */
  readonly failures: readonly string[];
}

const NO_RESULT = new Set<unknown>(['interrupted', 'outcome unknown']);

/** @param records what stands between a question and the next one, in order */
export function judgeTurn(plan: Plan, records: readonly StoredRecord[]): Verdict {
  const problems: string[] = [];
  const failures: string[] = [];
  const answers = records.filter(({ role }) => role === 'assistant');
  const faults = records.filter(({ role }) => role === 'system');
  if (faults.length > 1) problems.push(`${String(faults.length)} system records`);
  if (faults.length > 0 && records.at(-1)?.role !== 'system')
    problems.push('a system record is not the last');
  if (answers.length > plan.length)
    problems.push(`${String(answers.length)} steps instead of ${String(plan.length)}`);
  let isCut = answers.length < plan.length;
  for (const [index, answer] of answers.entries()) {
    const step = plan[index];
    if (step === undefined) continue;
    const isLast = index === answers.length - 1;
    const { content, tool_calls: calls, tool_results: results } = answer;
    if (calls !== null) {
      if (content !== step.text) problems.push(`step ${String(index)} says ${JSON.stringify(content)}`);
      problems.push(...compareCalls(step.calls, calls));
      const { missing, wrong, failed, unknown } = compareResults(step.calls, results ?? []);
      problems.push(...wrong);
      failures.push(...failed);
      if (missing.length > 0) problems.push(`no result of ${missing.join(' ')}`);
      if (unknown && !isLast)
        problems.push(`step ${String(index)} has no real results, but the turn went on`);
      if (unknown) isCut = true;
      continue;
    }
    if (!isLast) problems.push(`step ${String(index)} has no calls, but the turn went on`);
    if (content === '' || !step.text.startsWith(content)) {
      problems.push(
        `step ${String(index)} says ${JSON.stringify(content)} instead of ${JSON.stringify(step.text)}`,
      );
    }
    if (content !== step.text || step.calls.length > 0) isCut = true;
  }
  if (faults.length > 0) return { outcome: 'failed', problems, failures };
  if (!isCut) return { outcome: 'complete', problems, failures };
  return { outcome: answers.length === 0 ? 'none' : 'interrupted', problems, failures };
}

function compareCalls(
  planned: readonly PlannedCall[],
  made: NonNullable<StoredRecord['tool_calls']>,
): readonly string[] {
  const shown = JSON.stringify(made.map(({ call_id, name, args }) => [call_id, name, args]));
  const wanted = JSON.stringify(planned.map(({ id, name, args }) => [id, name, args]));
  return shown === wanted ? [] : [`calls ${shown} instead of ${wanted}`];
}

function compareResults(
  planned: readonly PlannedCall[],
  results: NonNullable<StoredRecord['tool_results']>,
): { missing: readonly string[]; wrong: readonly string[]; failed: readonly string[]; unknown: boolean } {
  const missing: string[] = [];
  const wrong: string[] = [];
  const failed: string[] = [];
  let unknown = false;
  if (results.length > planned.length) wrong.push(`${String(results.length)} results`);
  for (const { id, result } of planned) {
    const found = results.filter(({ call_id }) => call_id === id);
    const [only] = found;
    if (found.length > 1) wrong.push(`${String(found.length)} results of ${id}`);
    if (only === undefined) missing.push(id);
    else if (NO_RESULT.has(only.result)) unknown = true;
    else if (typeof only.result === 'string') failed.push(`${id}: ${only.result}`);
    else if (result !== undefined && !JSON.stringify(only.result).includes(`"result":"${result}"`)) {
      wrong.push(`the result of ${id} is ${JSON.stringify(only.result)}, not ${result}`);
    }
  }
  return { missing, wrong, failed, unknown };
}
