/** Common place names that are not in the time zone database. */
const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    utc: 'UTC',
    gmt: 'UTC',
    'greenwich mean time': 'UTC',
    'the uk': 'Europe/London',
    uk: 'Europe/London',
    england: 'Europe/London',
    japan: 'Asia/Tokyo',
    china: 'Asia/Shanghai',
    beijing: 'Asia/Shanghai',
    india: 'Asia/Kolkata',
    mumbai: 'Asia/Kolkata',
    delhi: 'Asia/Kolkata',
    bangalore: 'Asia/Kolkata',
    kolkata: 'Asia/Kolkata',
    germany: 'Europe/Berlin',
    munich: 'Europe/Berlin',
    hamburg: 'Europe/Berlin',
    frankfurt: 'Europe/Berlin',
    france: 'Europe/Paris',
    spain: 'Europe/Madrid',
    italy: 'Europe/Rome',
    kyiv: 'Europe/Kyiv',
    kiev: 'Europe/Kyiv',
    geneva: 'Europe/Zurich',
    nyc: 'America/New_York',
    boston: 'America/New_York',
    miami: 'America/New_York',
    washington: 'America/New_York',
    'san francisco': 'America/Los_Angeles',
    seattle: 'America/Los_Angeles',
    california: 'America/Los_Angeles',
    la: 'America/Los_Angeles',
    texas: 'America/Chicago',
    austin: 'America/Chicago',
    korea: 'Asia/Seoul',
    'south korea': 'Asia/Seoul',
    'abu dhabi': 'Asia/Dubai',
    'tel aviv': 'Asia/Jerusalem',
    'rio de janeiro': 'America/Sao_Paulo',
    canberra: 'Australia/Sydney',
    'cape town': 'Africa/Johannesburg',
  }),
);
const IANA = /\b[A-Z][A-Za-z]+\/[A-Za-z][A-Za-z_/+-]*\d*/g;
const PLACES =
  /\b(?:in|at|for)\s+(?<places>[\p{L}][\p{L} ,.'-]*?)(?=\s*(?:[?!;:.\d]|$|\b(?:right|now|please|today|currently)\b|(?:,\s*)?\b(?:and|then)\s+(?:what|how|tell|calculate|compute|count|remember|show|give|price|call)\b))/giu;
const MAX_PLACES = 8;

/**
 * The time zones in a question about the time, by IANA name or by place ("in Tokyo and New York"). A single unknown
 * place is returned unchanged, so that the tool can report it.
 */
export function zonesIn(text: string): string[] {
  const named = text.match(IANA) ?? [];
  if (named.length > 0) return unique(named);
  const places = [...text.matchAll(PLACES)].flatMap(({ groups }) =>
    (groups?.places ?? '').split(/,|\band\b/i),
  );
  const spoken = places
    .map((place) => place.trim().replace(/^the city of /i, ''))
    .filter((place) => place !== '');
  const known = spoken.map(zoneOf).filter((zone) => zone !== undefined);
  const before = /\b(?<place>\p{Lu}[\p{L}]+(?: \p{Lu}[\p{L}]+)?) time\b/u.exec(text)?.groups?.place;
  const zone = before === undefined ? undefined : zoneOf(before);
  if (known.length > 0 || zone !== undefined)
    return unique([...known, ...(zone === undefined ? [] : [zone])]);
  if (/\b(?:utc|gmt)\b/i.test(text)) return ['UTC'];
  return spoken.slice(0, 1).filter((place) => /^\p{Lu}/u.test(place));
}

function zoneOf(place: string): string | undefined {
  const name = place.toLowerCase().trim();
  const ending = `/${name.replaceAll(' ', '_')}`;
  return (
    ALIASES.get(name) ??
    Intl.supportedValuesOf('timeZone').find((zone) => zone.toLowerCase().endsWith(ending))
  );
}

function unique(zones: readonly string[]): string[] {
  return [...new Set(zones)].slice(0, MAX_PLACES);
}
