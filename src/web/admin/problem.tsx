import type { ReactNode } from 'react';
import type { Polled } from './polled.js';
import { dateTime } from './words.js';

/** Shows why something failed. It is rendered without a problem too, so that screen readers announce a new one. */
export function Problem({ text }: { readonly text: string | undefined }): ReactNode {
  return <div role="alert">{text !== undefined && <p className="problem">{text}</p>}</div>;
}

/** Shows why the last attempt to read data failed, and how old the data is that is still visible. */
export function PollProblem({ of: { error, at } }: { readonly of: Polled<unknown> }): ReactNode {
  if (error === undefined) return <Problem text={undefined} />;
  const age = at === undefined ? '' : ` The page shows the state of ${dateTime(at)}.`;
  return <Problem text={`${error.message}.${age}`} />;
}
