import type { ReactNode } from 'react';
import { isObject } from '../../../../client/json.js';
import type { JsonObject, JsonValue } from '../../../../client/types.js';
import { visible, visibleLine } from '../visible.js';

/** Maximum number of values, and of levels, that the tree shows. */
const MOST = 150;
const DEEPEST = 8;

/** Counts the values that are still to be shown. */
interface Budget {
  left: number;
}

/** Shows typed data (EIP-712) as a tree: its domain, and its message. What does not fit is in the JSON below it. */
export function TypedData({ data }: { readonly data: JsonObject }): ReactNode {
  const budget: Budget = { left: MOST };
  const type = typeof data.primaryType === 'string' ? visibleLine(data.primaryType, 80) : 'of no type';
  const parts = [
    ['Signed for', data.domain],
    [`Message ${type}`, data.message],
  ] as const;
  const trees = parts.map(([name, value]) => (
    <section key={name}>
      <h4>{name}</h4>
      {tree(value ?? {}, budget, 1)}
    </section>
  ));
  return (
    <div className="typed-data" tabIndex={0} role="group" aria-label="Typed data">
      {trees}
      {budget.left <= 0 && (
        <p className="warning">The message is longer. Read all of it as JSON in the details.</p>
      )}
    </div>
  );
}

/** Shows a value, and counts what it shows. */
function tree(value: JsonValue, budget: Budget, level: number): ReactNode {
  if (!isObject(value) && !Array.isArray(value)) return <span className="value">{leafText(value)}</span>;
  if (level > DEEPEST) {
    budget.left = 0;
    return <span className="value">…</span>;
  }
  const entries: [string, JsonValue][] = Array.isArray(value)
    ? value.slice(0, MOST).map((item, index) => [String(index), item])
    : Object.entries(value);
  const items: ReactNode[] = [];
  for (const [name, item] of entries) {
    if (budget.left <= 0) break;
    budget.left--;
    items.push(
      <li key={name}>
        <span className="name">{visibleLine(name, 80)}</span> {tree(item, budget, level + 1)}
      </li>,
    );
  }
  return <ul>{items}</ul>;
}

function leafText(value: null | boolean | number | string): string {
  return typeof value === 'string' ? visible(value, 400) : String(value);
}
