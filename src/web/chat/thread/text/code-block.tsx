import { useMemo, type ReactNode } from 'react';
import { CopyButton } from '../../../parts/copy-button.js';
import { useLoaded } from './loaded.js';

/** Longer code is not highlighted: it would take too long while it streams. */
const MAX_HIGHLIGHTED = 20_000;

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

/** A block of code, highlighted once the highlighter is loaded. */
export function CodeBlock({
  language,
  code,
}: {
  readonly language: string;
  readonly code: string;
}): ReactNode {
  const highlighter = useLoaded(load);
  const markup = useMemo(
    () => (code.length > MAX_HIGHLIGHTED ? undefined : highlighter?.highlighted(code, language)),
    [highlighter, code, language],
  );
  return (
    <pre tabIndex={0}>
      {markup === undefined ? <code>{code}</code> : <code dangerouslySetInnerHTML={{ __html: markup }} />}
    </pre>
  );
}
