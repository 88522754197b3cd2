import { useState, type ReactNode } from 'react';
import { useAction } from './action.js';
import { Problem } from './problem.js';

/** The properties of a new key. `days` null: it does not expire. */
export interface AskedKey {
  readonly apps: readonly string[];
  readonly label: string;
  readonly days: number | null;
}

/** The form for a new key. */
export function KeyForm({
  apps,
  create,
}: {
  readonly apps: readonly string[];
  readonly create: (asked: AskedKey) => Promise<void>;
}): ReactNode {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [label, setLabel] = useState('');
  const [days, setDays] = useState('');
  const { isBusy, problem, run } = useAction();
  const submit = async (): Promise<void> => {
    if (chosen.length === 0) throw new Error('Choose at least one App that the key opens');
    await create({ apps: chosen, label, days: days === '' ? null : Number(days) });
    setChosen([]);
    setLabel('');
    setDays('');
  };
  return (
    <form
      className="key-form"
      aria-label="New App key"
      onSubmit={(event) => {
        event.preventDefault();
        void run(submit);
      }}
    >
      <fieldset>
        <legend className="hint">Apps that it opens</legend>
        {apps.map((app) => (
          <label key={app} className="check">
            <input
              type="checkbox"
              checked={chosen.includes(app)}
              onChange={(event) => {
                setChosen(event.target.checked ? [...chosen, app] : chosen.filter((other) => other !== app));
              }}
            />
            {app}
          </label>
        ))}
      </fieldset>
      <div className="field">
        <label htmlFor="key-label">Label</label>
        <input
          id="key-label"
          maxLength={100}
          value={label}
          onChange={(event) => {
            setLabel(event.target.value);
          }}
        />
      </div>
      <div className="field">
        <label htmlFor="key-days">Expires after days (empty: never)</label>
        <input
          id="key-days"
          type="number"
          min={1}
          max={3650}
          value={days}
          onChange={(event) => {
            setDays(event.target.value);
          }}
        />
      </div>
      <button type="submit" className="button primary" aria-disabled={isBusy}>
        Make a key
      </button>
      <Problem text={problem} />
    </form>
  );
}
