import type { ReactNode } from 'react';

/** A table that scrolls by itself where the screen is narrow, and says so when it has no rows. */
export function Table({
  title,
  columns,
  empty,
  children,
}: {
  readonly title: string;
  readonly columns: readonly string[];
  /** Shown in place of rows. */
  readonly empty: string;
  readonly children: readonly ReactNode[];
}): ReactNode {
  return (
    <section className="sheet" aria-label={title}>
      <h2>{title}</h2>
      {children.length === 0 ? (
        <p className="hint">{empty}</p>
      ) : (
        <div className="scroll" tabIndex={0} role="group" aria-label={`${title}, table`}>
          <table>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{children}</tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** The first part of an id: enough to tell ids apart; the whole one on demand. */
export function ShortId({ id }: { readonly id: string }): ReactNode {
  return <code title={id}>{id.slice(0, 8)}</code>;
}
