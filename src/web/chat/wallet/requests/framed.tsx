import type { ReactNode } from 'react';
import { visibleLine } from '../../../../client/visible-text.js';

/** Frames untrusted text and names its source, so that it cannot pass for text of the service. */
export function Framed({ by, children }: { readonly by: string; readonly children: ReactNode }): ReactNode {
  return (
    <figure className="framed">
      <figcaption>{by}</figcaption>
      {children}
    </figure>
  );
}

/** Frames one line of untrusted text. */
export function Quote({ by, text }: { readonly by: string; readonly text: string }): ReactNode {
  return (
    <Framed by={by}>
      <blockquote dir="auto">{visibleLine(text, 200)}</blockquote>
    </Framed>
  );
}
