import type { ReactNode } from 'react';
import { visibleLine } from '../../../../client/visible-text.js';

/** Frames words of somebody else, and says whose they are, so that they cannot pass for words of the service. */
export function Framed({ by, children }: { readonly by: string; readonly children: ReactNode }): ReactNode {
  return (
    <figure className="framed">
      <figcaption>{by}</figcaption>
      {children}
    </figure>
  );
}

/** Shows a line of somebody else. */
export function Quote({ by, text }: { readonly by: string; readonly text: string }): ReactNode {
  return (
    <Framed by={by}>
      <blockquote dir="auto">{visibleLine(text, 200)}</blockquote>
    </Framed>
  );
}
