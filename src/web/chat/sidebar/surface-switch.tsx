import type { ReactNode } from 'react';
import type { SurfaceName } from '../../../client/types.js';

/** Selects the surface that the page uses. */
export function SurfaceSwitch(props: {
  readonly surfaces: readonly SurfaceName[];
  readonly value: SurfaceName;
  readonly onChoose: (surface: SurfaceName) => void;
}): ReactNode {
  const { surfaces, value, onChoose } = props;
  return (
    <fieldset className="switch">
      <legend className="visually-hidden">Surface</legend>
      {surfaces.map((name) => (
        <label key={name}>
          <input
            type="radio"
            name="surface"
            value={name}
            checked={name === value}
            onChange={() => {
              onChoose(name);
            }}
          />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}
