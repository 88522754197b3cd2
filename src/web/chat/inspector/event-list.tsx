import type { ReactNode } from 'react';
import { textOf } from '../../../client/json.js';
import type { WireEvent } from '../../../client/types.js';
import { visibleLine } from '../../../client/visible-text.js';
import { useObservable, type Observable } from '../../parts/observable.js';
import { visibleJson } from '../../parts/visible-json.js';
import { timeOf } from './request-list.js';
import type { Numbered } from '../conversation/traffic.js';

/** A sequence of text events, or one event of another kind. */
interface Run {
  readonly n: number;
  readonly last: WireEvent;
  readonly count: number;
  /** The joined text. */
  readonly content: string;
}

/** The received events, newest first. Consecutive pieces of text form one entry. */
export function EventList(props: { readonly events: Observable<readonly Numbered<WireEvent>[]> }): ReactNode {
  const events = useObservable(props.events);
  if (events.length === 0) return <p className="hint">Events are listed here as they arrive.</p>;
  return (
    <ol className="log" aria-label="Events, the newest first">
      {runsOf(events)
        .toReversed()
        .map(({ n, last, count, content }) => (
          <li key={n}>
            <p className="log-head">
              <strong>{visibleLine(typeOf(last))}</strong>
              {count > 1 && <span>× {count}</span>}
              {last.id !== undefined && <span className="path">id {last.id}</span>}
              <span className="when">{timeOf(last.at)}</span>
            </p>
            <code className="data">{visibleJson(count > 1 ? { ...last.data, content } : last.data, 0)}</code>
          </li>
        ))}
    </ol>
  );
}

function runsOf(events: readonly Numbered<WireEvent>[]): readonly Run[] {
  const runs: Run[] = [];
  for (const { n, value } of events) {
    const content = textOf(value.data, 'content');
    const before = runs.at(-1);
    const goesOn = before !== undefined && isText(value) && isSameText(before.last, value);
    if (goesOn)
      runs[runs.length - 1] = {
        ...before,
        last: value,
        count: before.count + 1,
        content: before.content + content,
      };
    else runs.push({ n, last: value, count: 1, content });
  }
  return runs;
}

function isSameText(one: WireEvent, other: WireEvent): boolean {
  return one.path === other.path && typeOf(one) === typeOf(other) && one.data.turn_id === other.data.turn_id;
}

function isText(event: WireEvent): boolean {
  return ['text', 'text_delta'].includes(typeOf(event));
}

function typeOf({ data }: WireEvent): string {
  return textOf(data, 'type') || 'event';
}
