import { useEffect, useState, type ReactNode } from 'react';
import { Icon } from '../../parts/icon.js';
import { readStored, store } from '../../parts/storage.js';

/** A part of the sidebar that opens and closes. The browser remembers it. */
export function Section(props: {
  /** Its name in the storage. */
  readonly name: string;
  readonly heading: string;
  /** What is set in it, in a few words. */
  readonly summary: string;
  /** Opens it: it contains something that the person has to do. */
  readonly isNeeded: boolean;
  readonly children: ReactNode;
}): ReactNode {
  const { name, heading, summary, isNeeded, children } = props;
  const stored = `diptych.section.${name}`;
  const [isOpen, setIsOpen] = useState(() => readStored('browser', stored) === 'open');
  useEffect(() => {
    if (isNeeded) setIsOpen(true);
  }, [isNeeded]);
  return (
    <section className="section">
      <h2>
        <button
          type="button"
          className="section-head"
          aria-expanded={isOpen}
          onClick={() => {
            store('browser', stored, isOpen ? '' : 'open');
            setIsOpen(!isOpen);
          }}
        >
          <Icon name="chevron" />
          {heading}
          <span className="section-summary">{summary}</span>
        </button>
      </h2>
      <div className="section-body" hidden={!isOpen}>
        {children}
      </div>
    </section>
  );
}
