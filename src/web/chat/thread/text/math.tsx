import { useMemo, type ReactNode } from 'react';
import { useLoaded } from './loaded.js';

const load = () => import('./formula.js');

/** A formula. Shows its source until the renderer is loaded, and if it is not TeX. */
export function MathFormula({
  tex,
  isDisplay,
}: {
  readonly tex: string;
  readonly isDisplay: boolean;
}): ReactNode {
  const formula = useLoaded(load);
  const markup = useMemo(() => {
    try {
      return formula?.renderFormula(tex, isDisplay);
    } catch {
      return undefined;
    }
  }, [formula, tex, isDisplay]);
  if (markup === undefined) return <code>{tex}</code>;
  const inner = { __html: markup };
  if (!isDisplay) return <span className="formula" dangerouslySetInnerHTML={inner} />;
  return (
    <span
      className="formula display"
      tabIndex={0}
      role="group"
      aria-label="Formula"
      dangerouslySetInnerHTML={inner}
    />
  );
}
