import type { ReactNode } from 'react';

/** A table that scrolls horizontally on narrow screens, and shows a text when it is empty. */
export function Table({
  title,
  columns,
  empty,
  children,
}: {
  readonly title: string;
  readonly columns: readonly string[];
  /** The text shown in place of rows. */
  readonly empty: string;
  readonly children: readonly ReactNode[];
}): ReactNode {
  return (
    <section className="sheet" aria-label={title} tabIndex={-1}>
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

/** A text with a tooltip, which a tap or a click shows beneath it: there is no pointer to hover with on a phone. */
export function Tip({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <span className="tip" title={title} tabIndex={-1}>
      {children}
    </span>
  );
}

/** The name of a session, as logs show it, with its id as a tooltip. */
export function SessionName({ row }: { readonly row: { session: string; session_id: string } }): ReactNode {
  return (
    <Tip title={row.session_id}>
      <code>{row.session}</code>
    </Tip>
  );
}

/** The last 8 characters of an id, with the whole id as a tooltip. Ids that were made together begin alike. */
export function ShortId({ id }: { readonly id: string }): ReactNode {
  return (
    <Tip title={id}>
      <code>…{id.slice(-8)}</code>
    </Tip>
  );
}
