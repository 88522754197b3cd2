import { useDeferredValue, useMemo, type ReactNode } from 'react';
import { CopyButton } from '../../../parts/copy-button.js';
import { canHighlight } from './highlight-limit.js';
import { useLoaded } from './loaded.js';

const load = () => import('./languages.js');

/** The language of a block of code, and a button that copies it. */
export function CodeHeader({
  language,
  code,
}: {
  /** Empty: unknown. */
  readonly language: string;
  readonly code: string;
}): ReactNode {
  return (
    <div className="code-header">
      <span>{language}</span>
      <CopyButton text={code} label="Copy code" />
    </div>
  );
}

/** A block of code, highlighted once the highlighter is loaded, and after what is more urgent. */
export function CodeBlock({
  language,
  code,
}: {
  readonly language: string;
  readonly code: string;
}): ReactNode {
  const highlighter = useLoaded(load);
  const shown = useDeferredValue(code, '');
  const markup = useMemo(
    () => (canHighlight(shown) ? highlighter?.highlighted(shown, language) : undefined),
    [highlighter, shown, language],
  );
  return (
    <pre tabIndex={0}>
      {markup === undefined ? <code>{code}</code> : <code dangerouslySetInnerHTML={{ __html: markup }} />}
    </pre>
  );
}
