import type { ReactNode } from 'react';
import type { WireEvent } from '../../client/types.js';
import { useObservable, type Observable } from '../parts/observable.js';
import { timeOf } from './request-list.js';
import type { Numbered } from './traffic.js';

/** The events as they arrive, the newest first. */
export function EventList(props: { readonly events: Observable<readonly Numbered<WireEvent>[]> }): ReactNode {
  const events = useObservable(props.events);
  if (events.length === 0) return <p className="hint">Events are listed here as they arrive.</p>;
  return (
    <ol className="log" aria-label="Events, the newest first">
      {events.toReversed().map(({ n, value }) => (
        <li key={n}>
          <p className="log-head">
            <strong>{typeOf(value)}</strong>
            {value.id !== undefined && <span className="path">id {value.id}</span>}
            <span className="when">{timeOf(value.at)}</span>
          </p>
          <code className="data">{JSON.stringify(value.data)}</code>
        </li>
      ))}
    </ol>
  );
}

function typeOf({ data }: WireEvent): string {
  return typeof data.type === 'string' ? data.type : 'event';
}
