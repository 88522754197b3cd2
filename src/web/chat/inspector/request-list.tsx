import type { ReactNode } from 'react';
import type { Exchange } from '../../../client/types.js';
import { CopyButton } from '../../parts/copy-button.js';
import { useObservable, type Observable } from '../../parts/observable.js';
import { visibleText } from '../../parts/visible-json.js';
import { curlLine } from './curl.js';
import type { Numbered } from '../conversation/traffic.js';

/** The recent requests, newest first, each as a curl command. */
export function RequestList(props: {
  readonly exchanges: Observable<readonly Numbered<Exchange>[]>;
}): ReactNode {
  const exchanges = useObservable(props.exchanges);
  if (exchanges.length === 0) return <p className="hint">Requests are listed here as they are made.</p>;
  return (
    <ol className="log" aria-label="Requests, the newest first">
      {exchanges.toReversed().map(({ n, value }) => (
        <Request key={n} exchange={value} />
      ))}
    </ol>
  );
}

function Request({ exchange }: { readonly exchange: Exchange }): ReactNode {
  const { method, url, status, startedAt, milliseconds } = exchange;
  const line = curlLine(exchange, location.href);
  const { pathname } = new URL(url, location.href);
  const outcome = status === null ? 'no answer' : String(status);
  return (
    <li>
      <p className="log-head">
        <span className="status" data-ok={status !== null && status < 400}>
          {outcome}
        </span>
        <strong>{method}</strong> <span className="path">{pathname}</span>
        <span className="when">
          {timeOf(startedAt)} · {Math.round(milliseconds)} ms
        </span>
      </p>
      <div className="line">
        <code>{visibleText(line)}</code>
        <CopyButton text={line} label="Copy the curl line" />
      </div>
    </li>
  );
}

/** Formats the time of day with seconds. */
export function timeOf(date: Date): string {
  return date.toTimeString().slice(0, 8);
}
