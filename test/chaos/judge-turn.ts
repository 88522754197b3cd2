import type { PlannedCall, Script } from './script.js';
import type { StoredRecord } from './shapes.js';

/** How a turn ended, by its records. */
export interface Verdict {
  readonly outcome: 'complete' | 'interrupted' | 'failed' | 'none';
  /** What is wrong with the answer: it is not the script's, or not a beginning of it. */
  readonly problems: readonly string[];
  /** Records with text of two attempts. */
  readonly mixed: readonly string[];
  /** Tools that failed although they were called as they should be. */
  readonly failures: readonly string[];
}

const NO_RESULT = new Set<unknown>(['interrupted', 'outcome unknown']);
/** What a tool's result may take: contracts return more. */
const MAX_RESULT = 300_000;

/** @param records what stands between a question and the next one, in order */
export function judgeTurn(script: Script, marker: string, records: readonly StoredRecord[]): Verdict {
  const problems: string[] = [];
  const mixed: string[] = [];
  const failures: string[] = [];
  const answers = records.filter(({ role }) => role === 'assistant');
  const faults = records.filter(({ role }) => role === 'system');
  const steps = script.steps(marker);
  if (faults.length > 1) problems.push(`${String(faults.length)} system records`);
  if (faults.length > 0 && records.at(-1)?.role !== 'system')
    problems.push('a system record is not the last');
  if (answers.length > steps) problems.push(`${String(answers.length)} steps instead of ${String(steps)}`);
  let isCut = answers.length < steps;
  for (const [index, { content, tool_calls: calls, tool_results: results }] of answers.entries()) {
    const isLast = index === answers.length - 1;
    const about = `step ${String(index)}`;
    const reading = script.read(content);
    mixed.push(...reading.mixed);
    problems.push(...reading.wrong);
    const [segment] = reading.segments;
    if (segment !== undefined && (segment.marker !== marker || segment.step !== index)) {
      problems.push(`${about} has the text of ${segment.marker} step ${String(segment.step)}`);
    }
    const attempt = segment?.attempt ?? attemptOf(calls);
    const planned = attempt === undefined ? undefined : script.step(marker, index, attempt);
    const isWhole = content === planned?.text;
    if (calls !== null) {
      if (!isWhole && mixed.length === 0)
        problems.push(`${about} has calls, but not all of its text: ${content}`);
      problems.push(...compareCalls(planned?.calls ?? [], calls));
      const { missing, wrong, failed, unknown } = compareResults(planned?.calls ?? [], results ?? []);
      problems.push(...wrong);
      failures.push(...failed);
      if (missing.length > 0) problems.push(`no result of ${missing.join(' ')}`);
      if (unknown && !isLast) problems.push(`${about} has no real results, but the turn went on`);
      if (unknown) isCut = true;
      continue;
    }
    if (!isLast) problems.push(`${about} has no calls, but the turn went on`);
    if (content === '') problems.push(`${about} is empty`);
    if (!isWhole || planned.calls.length > 0) isCut = true;
  }
  const rest = { problems, mixed, failures };
  if (faults.length > 0) return { outcome: 'failed', ...rest };
  if (!isCut) return { outcome: 'complete', ...rest };
  return { outcome: answers.length === 0 ? 'none' : 'interrupted', ...rest };
}

/** The attempt of a step without text, by the ids of its calls. */
function attemptOf(calls: StoredRecord['tool_calls']): number | undefined {
  const found = /_try(\d+)$/.exec(calls?.[0]?.call_id ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
}

function compareCalls(
  planned: readonly PlannedCall[],
  made: NonNullable<StoredRecord['tool_calls']>,
): readonly string[] {
  const isOpen = new Set(planned.flatMap(({ id, args }) => (args === null ? [id] : [])));
  const shown = JSON.stringify(
    made.map(({ call_id, name, args }) => [call_id, name, isOpen.has(call_id) ? null : args]),
  );
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
  for (const { id, expected } of planned) {
    const found = results.filter(({ call_id }) => call_id === id);
    const [only] = found;
    if (found.length > 1) wrong.push(`${String(found.length)} results of ${id}`);
    if (only === undefined) {
      missing.push(id);
      continue;
    }
    const text = JSON.stringify(only.result);
    if (text.length > MAX_RESULT) wrong.push(`the result of ${id} has ${String(text.length)} characters`);
    if (NO_RESULT.has(only.result)) unknown = true;
    else if (expected === 'any') continue;
    else if (expected === 'fails') {
      if (typeof only.result !== 'string') wrong.push(`${id} did not fail: ${text}`);
    } else if (typeof only.result === 'string') failed.push(`${id}: ${only.result}`);
    else if (expected !== 'works' && !text.includes(`"result":"${expected.value}"`)) {
      wrong.push(`the result of ${id} is ${text}, not ${expected.value}`);
    }
  }
  return { missing, wrong, failed, unknown };
}
