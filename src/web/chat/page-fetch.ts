/** How far the clock of the service is ahead of this browser's by the last response, in milliseconds. */
let serviceAhead = 0;

/** `fetch` with the header by which the service leaves this page out of its report on the use of the APIs. */
export const pageFetch: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set('Diptych-Page', '1');
  const response = await fetch(input, { ...init, headers });
  const serviceTime = Date.parse(response.headers.get('date') ?? '');
  if (!Number.isNaN(serviceTime)) serviceAhead = serviceTime - Date.now();
  return response;
};

/** Returns the time of the service to the second, because the clock of a browser may be wrong. */
export function serviceNow(): Date {
  return new Date(Date.now() + serviceAhead);
}
