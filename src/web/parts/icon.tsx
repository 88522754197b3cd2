import type { ReactNode } from 'react';

/** SVG paths in a 24 × 24 view box. */
const PATHS = {
  auto: 'M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18',
  light:
    'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4',
  dark: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5',
  menu: 'M4 7h16M4 12h16M4 17h16',
  panel: 'M4 5h16v14H4zM14 5v14',
  close: 'M6 6l12 12M18 6L6 18',
  send: 'M12 19V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  plus: 'M12 5v14M5 12h14',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  done: 'M5 13l4 4L19 7',
  rename: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  remove: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  tool: 'M14.5 6.5a4 4 0 0 1 5-2l-2.5 2.5 2 2 2.5-2.5a4 4 0 0 1-5.5 5L8 20l-4-4 8.5-8a4 4 0 0 1 2-1.5',
  down: 'M12 5v14M6 13l6 6 6-6',
  wallet: 'M4 7h15v12H4zM4 7l11-3v3M15 13h4',
  share: 'M12 15V4M8 8l4-4 4 4M5 12v8h14v-8',
  search: 'M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15.5 15.5L20 20',
  again: 'M20 11A8 8 0 1 0 18 17M20 5v6h-6',
  save: 'M12 4v11M7 10l5 5 5-5M5 20h14',
  chevron: 'M9 6l6 6-6 6',
} as const;

/** The name of an icon. */
export type IconName = keyof typeof PATHS;

/** A decorative icon; a label beside it, or on its button, explains it. */
export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
