import { useState, type ReactNode } from 'react';
import { Icon } from './icon.js';
import { readStored, store } from './storage.js';

const STORED = 'diptych.theme';
const CHOICES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof CHOICES)[number];
const NAMES = { auto: 'as the system', light: 'light', dark: 'dark' } as const;

/** Applies the theme that was chosen last; `auto`: the system's. */
export function applyTheme(theme = storedTheme()): void {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Cycles through the system's theme, light and dark. */
export function ThemeToggle(): ReactNode {
  const [theme, setTheme] = useState(storedTheme);
  const next = CHOICES[(CHOICES.indexOf(theme) + 1) % CHOICES.length] ?? 'auto';
  const label = `Colors: ${NAMES[theme]}. Change to ${NAMES[next]}`;
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      onClick={() => {
        store('browser', STORED, next);
        applyTheme(next);
        setTheme(next);
      }}
    >
      <Icon name={theme} />
    </button>
  );
}

function storedTheme(): Theme {
  const stored = readStored('browser', STORED);
  return CHOICES.find((choice) => choice === stored) ?? 'auto';
}
