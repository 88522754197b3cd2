/** The accent color of the page on light and on dark backgrounds; absent: the page's own. */
export interface PageColors {
  readonly light?: AccentColor;
  readonly dark?: AccentColor;
}

/** A color, and the color of text on it. */
export interface AccentColor {
  readonly accent: string;
  readonly ink: string;
}

/** What the operator may set about the page. */
export interface PageSettings {
  /** Null: the service's name. */
  readonly title: string | null;
  /** A path, relative to the configuration file; null: the service's own logo. */
  readonly logo: string | null;
  readonly colors: PageColors;
  /** Prompts to begin a thread with; null: the page's own. */
  readonly prompts: readonly string[] | null;
}

/** The page's background on which text in the accent color has the least contrast, as in `tokens.css`. */
export const BACKGROUNDS = { light: '#f2efe9', dark: '#1d2124' } as const;
/** The contrast that WCAG 2 (AA) requires of text. */
export const MIN_CONTRAST = 4.5;
const INKS = ['#ffffff', '#14110c'] as const;

/** The section `page` of the file. */
export type FilePage =
  | {
      readonly title?: string | undefined;
      readonly logo?: string | undefined;
      readonly colors?:
        { readonly light?: string | undefined; readonly dark?: string | undefined } | undefined;
      readonly prompts?: readonly string[] | undefined;
    }
  | null
  | undefined;

/** Returns the settings of the page; without a file, the page's own. */
export function pageOf(section: FilePage): PageSettings {
  const { title = null, logo = null, colors = {}, prompts: given = null } = section ?? {};
  return {
    ...{ title, logo, prompts: given },
    colors: {
      ...(colors.light !== undefined && { light: accentOf(colors.light) }),
      ...(colors.dark !== undefined && { dark: accentOf(colors.dark) }),
    },
  };
}

function accentOf(accent: string): AccentColor {
  const [light, dark] = INKS;
  return { accent, ink: contrastOf(accent, light) >= contrastOf(accent, dark) ? light : dark };
}

/** Returns the contrast ratio of two colors, from 1 to 21 (WCAG 2). */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Returns the relative luminance of a color such as `#0f6b5c` (WCAG 2). */
function luminanceOf(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
