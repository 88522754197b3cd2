/** `fetch` with the header by which the service leaves this page out of its report on the use of the APIs. */
export const pageFetch: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set('Diptych-Page', '1');
  return fetch(input, { ...init, headers });
};
