import { useEffect, useRef, useState, type ReactNode } from 'react';
import { isBusy, type View } from '../conversation/view.js';

/** So much of an answer is read out. */
const READ_OUT = 1000;

/**
 * Tells a screen reader what happens, and no more often than a listener can follow: that an answer has begun, the
 * answer when it has ended, and what becomes of the connection.
 */
export function Announcer({ view }: { readonly view: View }): ReactNode {
  const [said, setSaid] = useState('');
  const busy = isBusy(view);
  const wasBusy = useRef(false);
  const wasLost = useRef(false);
  useEffect(() => {
    if (busy !== wasBusy.current) setSaid(busy ? 'The assistant is answering' : answerOf(view));
    wasBusy.current = busy;
  }, [busy, view]);
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
  return text.slice(0, READ_OUT);
}
