import type { ReactNode } from 'react';
import type { Origin } from '../../../client/view/view.js';
import { Time } from './message-parts.js';

/** The time of a reply and, once its turn has ended, how long it took, its tokens and its model. */
export function TurnFacts(props: { readonly at: string; readonly origin: Origin | undefined }): ReactNode {
  const { at, origin } = props;
  const facts = origin === undefined ? [] : factsOf(origin);
  return (
    <p className="turn-facts">
      <Time at={at} />
      {facts.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
    </p>
  );
}

/** Returns what is known of a turn, in words. */
export function factsOf({ turn, spokenAt }: Origin): readonly string[] {
  const { createdAt, endedAt, inputTokens, outputTokens, rig } = turn;
  if (endedAt === null) return [];
  const begun = spokenAt === null ? [] : [`first word after ${seconds(createdAt, spokenAt)}`];
  const tokens = inputTokens + outputTokens;
  return [
    `${seconds(createdAt, endedAt)} in all`,
    ...begun,
    ...(tokens > 0 ? [`${String(inputTokens)} + ${String(outputTokens)} tokens`] : []),
    ...(rig === null ? [] : [rig]),
  ];
}

function seconds(from: string, to: string): string {
  const passed = Math.max(0, Date.parse(to) - Date.parse(from)) / 1000;
  return `${passed.toFixed(passed < 10 ? 1 : 0)} s`;
}
