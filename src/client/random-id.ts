/** Creates a random UUID, also on pages without TLS, where `crypto.randomUUID` does not exist. */
export function randomId(): string {
  const source: { randomUUID?: () => string } = crypto;
  if (typeof source.randomUUID === 'function') return crypto.randomUUID();
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (place) => {
    const [random = 0] = crypto.getRandomValues(new Uint8Array(1));
    return (place === 'x' ? random & 0xf : (random & 0x3) | 0x8).toString(16);
  });
}
