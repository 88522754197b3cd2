import { useEffect, useRef, useState, type ReactNode } from 'react';
import { isBusy, type View } from '../../../client/view/view.js';

/** Maximum length of the text that is read out, in characters. */
const READ_OUT = 1000;

/**
 * Announces to screen readers that a reply has begun, its text once it has ended, and changes of the connection. It does
 * not announce every update, which would be too frequent to follow.
 */
export function Announcer(props: {
  readonly view: View;
  /** True while the service has deferred the message: no reply has begun. */
  readonly isDeferred: boolean;
}): ReactNode {
  const { view, isDeferred } = props;
  const [said, setSaid] = useState('');
  const busy = isBusy(view);
  const fate = view.messages.at(-1)?.fate;
  /** Whether a reply was running at the last announcement; null: there was none yet. */
  const wasBusy = useRef<boolean | null>(null);
  const wasLost = useRef(false);
  useEffect(() => {
    if (isDeferred) setSaid('');
    else if (busy) setSaid('The assistant is answering');
    else if (wasBusy.current === true) setSaid(answerOf(view));
    // The fate of a reply may become known after its end.
    else if (wasBusy.current === false && fate === 'interrupted') setSaid('Interrupted');
    if (busy || wasBusy.current !== null) wasBusy.current = busy;
  }, [busy, isDeferred, fate]);
  useEffect(() => {
    if (view.connection === 'lost') setSaid('The connection is lost; reconnecting');
    else if (wasLost.current && view.connection === 'open') setSaid('Connected again');
    wasLost.current = view.connection === 'lost';
  }, [view.connection]);
  return (
    <p className="visually-hidden" role="status" aria-live="polite">
      {said}
    </p>
  );
}

function answerOf({ messages }: View): string {
  const last = messages.at(-1);
  if (last === undefined || last.role === 'user') return 'Interrupted';
  const text = last.blocks.map((block) => (block.kind === 'text' ? block.text : '')).join(' ');
  return `${last.fate === 'interrupted' ? 'Interrupted. ' : ''}${text.slice(0, READ_OUT)}`;
}
